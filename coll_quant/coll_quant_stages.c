/*
 * MPI_Reduce_scatter_block and MPI_Allgather of coll_quant: the stages of its
 * allreduce, on one block for each rank.
 *
 * Reduce_scatter_block: MPI requires the count, the type and the operation to be the
 * same on all ranks, as for an allreduce.
 *
 * Allgather: it requires no such thing.  A rank may send MPI_FLOAT and another one a
 * column of its matrix, as a derived type; what is the same on all ranks is the
 * signature, the basic types that are sent.  So the receive type decides by its
 * signature: all floats, all doubles, or all 16-bit floats, however they lie in memory; nor does it
 * matter what the send type is.  Where a rank's numbers are not one after the other they pass
 * through memory of this call:
 *
 *   send --pack--> own block --> algorithm --> N blocks --unpack--> receive
 *
 * In place an allgather is passed down.  All ranks receive what a block is decoded to, its owner
 * too.  A program that gathers out of place keeps what it sends; in place its own block is its only
 * copy, as of parameters that each rank updates a share of, and an update that is smaller than the
 * error would be lost in every step.  MPI wants MPI_IN_PLACE on all ranks or on none.
 *
 * Which ranks need that memory no other rank knows, and to ask would cost every call a round trip.
 * So it is allocated before the first byte of the call is sent, and a rank that has none returns an
 * error and never sends on this communicator again: the others wait for it, up to their time
 * limit, as for a rank that does not come, and no later call can be taken for this one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant.h"
#include "mca_below.h"
#include "mca_half.h"
#include "mca_request.h"
#include "sizes.h"

static size_t bytes_of_type(struct ompi_datatype_t *type)
{
    size_t bytes = 0;

    (void) ompi_datatype_type_size(type, &bytes);
    return bytes;
}

/* What numbers are here. */
typedef struct numbers {
    const quant_element_t *element; /* NULL: they stay exact */
    const quant_storage_t *storage; /* of 16-bit floats; otherwise NULL */
    struct ompi_datatype_t *type;   /* of the program */
} numbers_t;

static numbers_t numbers_of(const quant_module_t *module, struct ompi_datatype_t *type)
{
    const bool is_half = mca_half_is_named(module->uint16, type);

    return (numbers_t){
        .element = coll_quant_element(module, is_half ? &ompi_mpi_float.dt : type),
        .storage = is_half ? &module->storage : NULL,
        .type = type,
    };
}

/* What they count as, of `count` numbers for each rank. */
static size_t bytes_of_all(const quant_module_t *module, const numbers_t *numbers, size_t count)
{
    return NULL == numbers->element
               ? 0
               : (size_t) ompi_comm_size(module->base.comm) * count * numbers->element->bytes;
}

static int run_stage(quant_module_t *module, exchange_collective_t collective,
                     const numbers_t *numbers, const void *send, void *receive, size_t count)
{
    quant_operation_t operation = {.send = send,
                                   .recv = receive,
                                   .element = numbers->element,
                                   .storage = numbers->storage,
                                   .count = count,
                                   .collective = collective};

    if (EXCHANGE_REDUCE_SCATTER == collective) {
        operation.residual = coll_quant_residual(module, &operation);
    } else if (module->config.feedback) {
        coll_quant_residual_warn_of_stage(module, collective);
    }
    return NULL != numbers->storage
               ? coll_quant_run_halves(module, &operation)
               : coll_quant_run_call(module, &operation,
                                     coll_quant_is_verified_next(module, collective));
}

/* Passed down: 16-bit floats as floats, which are added there. */
static int reduce_scatter_below(quant_module_t *module, arc_reason_t reason, const void *send,
                                void *receive, int count, struct ompi_datatype_t *type,
                                struct ompi_op_t *op)
{
    arc_module_t *base = &module->base;

    if (module->base.nested || !mca_half_is(module->uint16, op, type)) {
        return arc_module_pass_reduce_scatter_block(base, reason, send, receive, count, type, op);
    }
    arc_module_count_pass(base, ARC_SLOT_reduce_scatter_block, reason, count, &ompi_mpi_float.dt,
                          op);
    return mca_half_reduce_scatter_block(base, module->uint16, send, receive, count,
                                         arc_below_reduce_scatter_block);
}

int coll_quant_reduce_scatter_block(const void *send, void *receive, int count,
                                    struct ompi_datatype_t *type, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    quant_module_t *module =
        (quant_module_t *) arc_module_own(base, OBJ_CLASS(quant_module_t), comm);
    arc_reason_t verdict = ARC_REASON_NESTED;
    numbers_t numbers = {NULL, NULL, type};

    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    arc_module_settle(&module->base);
    if (!module->base.nested) {
        coll_quant_agree_if_due(module, (size_t) ompi_comm_size(comm) * (size_t) count *
                                            bytes_of_type(type));
        numbers = numbers_of(module, type);
        verdict = mca_bridge_is_sum(op, NULL == numbers.storage ? type : &ompi_mpi_float.dt);
        const int status =
            coll_quant_check_call(module, EXCHANGE_REDUCE_SCATTER, numbers.element,
                                  bytes_of_all(module, &numbers, (size_t) count), &verdict);
        if (MPI_SUCCESS != status) {
            return status;
        }
    }
    if (ARC_REASON_NONE != verdict) {
        return coll_quant_learn(
            module, reduce_scatter_below(module, verdict, send, receive, count, type, op));
    }
    return coll_quant_learn(module, run_stage(module, EXCHANGE_REDUCE_SCATTER, &numbers,
                                              MPI_IN_PLACE == send ? receive : send, receive,
                                              (size_t) count));
}

/* One side of an allgather: `count` elements of `type` for each block. */
typedef struct side {
    void *at;
    int count;
    struct ompi_datatype_t *type;
} side_t;

static size_t bytes_of(const side_t *side)
{
    return (size_t) side->count * bytes_of_type(side->type);
}

static void *block_at(const side_t *side, int block)
{
    ptrdiff_t extent_bytes = 0;

    (void) ompi_datatype_type_extent(side->type, &extent_bytes);
    return (char *) side->at + (ptrdiff_t) block * side->count * extent_bytes;
}

/* Where there is nothing to pack, nor to unpack. */
static int gather_unpacked(quant_module_t *module, const numbers_t *numbers, const side_t *send,
                           const side_t *receive, size_t count)
{
    return run_stage(module, EXCHANGE_ALLGATHER, numbers, send->at, receive->at, count);
}

/* By way of memory: all blocks, in it the own one. */
static __attribute__((noinline)) int gather_packed(quant_module_t *module, const numbers_t *numbers,
                                                   const side_t *send, const side_t *receive,
                                                   size_t count)
{
    const int ranks = ompi_comm_size(module->base.comm);
    const int rank = ompi_comm_rank(module->base.comm);
    const size_t block_bytes = count * bytes_of_type(numbers->type);
    size_t bytes = 0;
    const bool fits = arc_checked_bytes((size_t) ranks, block_bytes, 0, &bytes);
    uint8_t *blocks = fits ? malloc(bytes) : NULL;
    uint8_t *own = blocks + (size_t) rank * block_bytes;

    if (NULL == blocks) {
        (void) arc_module_break_call(&module->base, ARC_SLOT_allgather, ARC_ERR_NO_MEMORY,
                                     " to pack a derived type");
        return MPI_ERR_NO_MEM;
    }
    /* A rank that fails alone takes part nevertheless, with zeros; the call ends in its error. */
    int error = ompi_datatype_sndrcv(send->at, send->count, send->type, own, (int32_t) count,
                                     numbers->type);
    if (OMPI_SUCCESS != error) {
        memset(own, 0, block_bytes);
    }
    const int status = run_stage(module, EXCHANGE_ALLGATHER, numbers, own, blocks, count);
    for (int block = 0; MPI_SUCCESS == status && OMPI_SUCCESS == error && block < ranks; ++block) {
        error = ompi_datatype_sndrcv(blocks + (size_t) block * block_bytes, (int32_t) count,
                                     numbers->type, block_at(receive, block), receive->count,
                                     receive->type);
    }
    arc_module_free(&module->base, blocks);
    return MPI_SUCCESS == status ? error : status;
}

/* `basic` itself, or another name of the same format. */
static bool is_plain(const struct ompi_datatype_t *type, const struct ompi_datatype_t *basic)
{
    return ompi_datatype_is_predefined(type) && type->super.id == basic->super.id;
}

int coll_quant_allgather(const void *send, int send_count, struct ompi_datatype_t *send_type,
                         void *receive, int receive_count, struct ompi_datatype_t *receive_type,
                         struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    quant_module_t *module =
        (quant_module_t *) arc_module_own(base, OBJ_CLASS(quant_module_t), comm);
    const side_t out = {receive, receive_count, receive_type};
    const side_t in = {(void *) send, send_count, send_type};
    struct ompi_datatype_t *type = mca_bridge_all_of(receive_type);
    const size_t count = NULL == type ? 0 : bytes_of(&out) / bytes_of_type(type);
    arc_reason_t verdict = ARC_REASON_NESTED;
    numbers_t numbers = {NULL, NULL, NULL};

    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    arc_module_settle(&module->base);
    if (!module->base.nested) {
        coll_quant_agree_if_due(module, (size_t) ompi_comm_size(comm) * bytes_of(&out));
        if (NULL != type) {
            numbers = numbers_of(module, type);
        }
        verdict = NULL == numbers.element ? ARC_REASON_TYPE_OR_OP : ARC_REASON_NONE;
        if (ARC_REASON_NONE == verdict && MPI_IN_PLACE == send) {
            verdict = ARC_REASON_IN_PLACE;
        }
        if (ARC_REASON_NONE == verdict && count > INT32_MAX) {
            verdict = ARC_REASON_TOO_LARGE; /* for Open MPI's packing */
        }
        const int status = coll_quant_check_call(module, EXCHANGE_ALLGATHER, numbers.element,
                                                 bytes_of_all(module, &numbers, count), &verdict);
        if (MPI_SUCCESS != status) {
            return status;
        }
    }
    if (ARC_REASON_NONE != verdict) {
        return coll_quant_learn(module, arc_module_pass_allgather(&module->base, verdict, send,
                                                                  send_count, send_type, receive,
                                                                  receive_count, receive_type));
    }
    if (bytes_of(&in) != bytes_of(&out)) {
        /* MPI does not allow it.  Ranks that do send must not take our next call for this one. */
        ++module->sequence;
        return MPI_ERR_COUNT;
    }
    const bool packed = !is_plain(receive_type, numbers.type) || !is_plain(send_type, numbers.type);
    return coll_quant_learn(
        module, (packed ? gather_packed : gather_unpacked)(module, &numbers, &in, &out, count));
}
