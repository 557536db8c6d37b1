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
                               coll_quant_datatype(operation->numbers), &ompi_mpi_op_sum.op,
                               base->comm, &base->super);
}

static int reduce_scatter_below(arc_module_t *base, const quant_operation_t *operation,
                                void *receive)
{
    return arc_below_reduce_scatter_block(operation->send, receive, (int) operation->count,
                                          coll_quant_datatype(operation->numbers),
                                          &ompi_mpi_op_sum.op, base->comm, &base->super);
}

static int allgather_below(arc_module_t *base, const quant_operation_t *operation, void *receive)
{
    struct ompi_datatype_t *type = coll_quant_datatype(operation->numbers);

    return arc_below_allgather(operation->send, (int) operation->count, type, receive,
                               (int) operation->count, type, base->comm, &base->super);
}

typedef struct part {
    arc_slot_t slot;
    bool sends_blocks; /* one for each rank */
    bool receives_blocks;
    below_fn_t below;
} part_t;

static const part_t parts[EXCHANGE_PARTS] = {
    [EXCHANGE_ALLREDUCE] = {ARC_SLOT_allreduce, false, false, allreduce_below},
    [EXCHANGE_REDUCE_SCATTER] = {ARC_SLOT_reduce_scatter_block, true, false, reduce_scatter_below},
    [EXCHANGE_ALLGATHER] = {ARC_SLOT_allgather, false, true, allgather_below},
};

arc_slot_t coll_quant_slot(exchange_part_t part)
{
    return parts[part].slot;
}

unsigned coll_quant_slots(const quant_settings_t *settings)
{
    unsigned slots = arc_slot_bit(ARC_SLOT_allreduce);

    for (exchange_part_t part = EXCHANGE_ALLREDUCE; part <= EXCHANGE_ALLGATHER; ++part) {
        if (quant_settings_serve(settings, part)) {
            slots |= arc_slot_bit(parts[part].slot);
        }
    }
    return slots;
}

static size_t blocks_if(const quant_module_t *module, bool has_blocks)
{
    return has_blocks ? (size_t) ompi_comm_size(module->base.comm) : 1;
}

size_t coll_quant_blocks_sent(const quant_module_t *module, exchange_part_t part)
{
    return blocks_if(module, parts[part].sends_blocks);
}

size_t coll_quant_blocks_received(const quant_module_t *module, exchange_part_t part)
{
    return blocks_if(module, parts[part].receives_blocks);
}

size_t coll_quant_blocks(const quant_module_t *module, exchange_part_t part)
{
    return blocks_if(module, parts[part].sends_blocks || parts[part].receives_blocks);
}

bool coll_quant_shares(exchange_part_t part)
{
    return parts[part].sends_blocks && !parts[part].receives_blocks;
}

int coll_quant_below(quant_module_t *module, const quant_operation_t *operation, void *receive,
                     const char *details)
{
    arc_module_t *base = &module->base;

    /* The component below may call what is in the slots: us. */
    base->nested = true;
    const int status = parts[operation->part].below(base, operation, receive);
    base->nested = false;
    return MPI_SUCCESS == status ? MPI_SUCCESS
                                 : arc_module_break_call(base, coll_quant_slot(operation->part),
                                                         ARC_ERR_TRANSPORT, details);
}
