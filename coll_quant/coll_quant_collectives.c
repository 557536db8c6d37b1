/*
 * What differs between the collectives: how long vectors are, and what the component
 * below is called for.  For `count` elements, N ranks:
 *
 *                           send     receive    the result
 *     allreduce             count    count      the same on all ranks
 *     reduce_scatter_block  N count  count      each rank has its share
 *     allgather             count    N count    the same on all ranks
 *
 * Trials and verification are the same code for all of them.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_quant.h"
#include "mca_below.h"

typedef int (*below_fn_t)(arc_module_t *base, const quant_operation_t *operation, void *receive);

static int allreduce_below(arc_module_t *base, const quant_operation_t *operation, void *receive)
{
    return arc_below_allreduce(operation->send, receive, (int) operation->count,
                               coll_quant_datatype(operation->element), &ompi_mpi_op_sum.op,
                               base->comm, &base->super);
}

static int reduce_scatter_below(arc_module_t *base, const quant_operation_t *operation,
                                void *receive)
{
    return arc_below_reduce_scatter_block(operation->send, receive, (int) operation->count,
                                          coll_quant_datatype(operation->element),
                                          &ompi_mpi_op_sum.op, base->comm, &base->super);
}

static int allgather_below(arc_module_t *base, const quant_operation_t *operation, void *receive)
{
    struct ompi_datatype_t *type = coll_quant_datatype(operation->element);

    return arc_below_allgather(operation->send, (int) operation->count, type, receive,
                               (int) operation->count, type, base->comm, &base->super);
}

typedef struct collective {
    arc_slot_t slot;
    bool sends_blocks; /* one for each rank */
    bool receives_blocks;
    below_fn_t below;
} collective_t;

static const collective_t collectives[EXCHANGE_COLLECTIVES] = {
    [EXCHANGE_ALLREDUCE] = {ARC_SLOT_allreduce, false, false, allreduce_below},
    [EXCHANGE_REDUCE_SCATTER] = {ARC_SLOT_reduce_scatter_block, true, false, reduce_scatter_below},
    [EXCHANGE_ALLGATHER] = {ARC_SLOT_allgather, false, true, allgather_below},
};

arc_slot_t coll_quant_slot(exchange_collective_t collective)
{
    return collectives[collective].slot;
}

unsigned coll_quant_slots(const quant_module_t *module)
{
    /* Where nobody wants sums of another kind, nonblocking calls need not pass through here. */
    const bool asked = module->active || ARC_TYPE_UINT16 != module->uint16;
    unsigned slots = arc_slot_bit(ARC_SLOT_allreduce);

    for (exchange_collective_t collective = EXCHANGE_ALLREDUCE; collective <= EXCHANGE_ALLGATHER;
         ++collective) {
        if (quant_settings_want_collective(&module->settings, collective)) {
            slots |= (asked ? arc_slot_forms : arc_slot_bit)(collectives[collective].slot);
        }
    }
    return slots;
}

static size_t blocks_if(const quant_module_t *module, bool has_blocks)
{
    return has_blocks ? (size_t) ompi_comm_size(module->base.comm) : 1;
}

size_t coll_quant_blocks_sent(const quant_module_t *module, exchange_collective_t collective)
{
    return blocks_if(module, collectives[collective].sends_blocks);
}

size_t coll_quant_blocks_received(const quant_module_t *module, exchange_collective_t collective)
{
    return blocks_if(module, collectives[collective].receives_blocks);
}

size_t coll_quant_blocks(const quant_module_t *module, exchange_collective_t collective)
{
    return blocks_if(module, collectives[collective].sends_blocks ||
                                 collectives[collective].receives_blocks);
}

bool coll_quant_shares(exchange_collective_t collective)
{
    return collectives[collective].sends_blocks && !collectives[collective].receives_blocks;
}

int coll_quant_below(quant_module_t *module, const quant_operation_t *operation, void *receive,
                     const char *details)
{
    arc_module_t *base = &module->base;

    /* The component below may call what is in the slots: us. */
    base->nested = true;
    const int status = collectives[operation->collective].below(base, operation, receive);
    base->nested = false;
    return MPI_SUCCESS == status
               ? MPI_SUCCESS
               : arc_module_break_call(base, coll_quant_slot(operation->collective),
                                       ARC_ERR_TRANSPORT, details);
}
