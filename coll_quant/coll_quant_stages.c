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
 * signature: all floats, however they lie in memory; nor does it matter what the send
 * type is.  Where a rank's floats are not one after the other they pass through memory of this
 * call:
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
#include "sizes.h"

static int run_stage(quant_module_t *module, exchange_collective_t collective, const float *send,
                     float *receive, size_t count)
{
    quant_operation_t operation = {.send = send,
                                   .recv = receive,
                                   .element = &quant_floats,
                                   .count = count,
                                   .collective = collective};

    if (EXCHANGE_REDUCE_SCATTER == collective) {
        operation.residual = coll_quant_residual(module, &operation);
    } else if (module->config.feedback) {
        coll_quant_residual_warn_of_stage(module, collective);
    }
    return coll_quant_run_call(module, &operation, coll_quant_is_verified_next(module, collective));
}

/* Stages take floats only; NULL: other types, or the user wants floats exact. */
static const quant_element_t *floats_if(const quant_module_t *module, struct ompi_datatype_t *type)
{
    const quant_element_t *element = coll_quant_element(module, type);
    return &quant_floats == element ? element : NULL;
}

int coll_quant_reduce_scatter_block(const void *send, void *receive, int count,
                                    struct ompi_datatype_t *type, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    quant_module_t *module =
        (quant_module_t *) arc_module_own(base, OBJ_CLASS(quant_module_t), comm);
    const size_t bytes = (size_t) ompi_comm_size(comm) * (size_t) count * sizeof(float);
    arc_reason_t verdict = ARC_REASON_NESTED;

    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    if (!module->base.nested) {
        coll_quant_agree_if_due(module, bytes);
        verdict = mca_bridge_is_sum(op, type);
        const int status = coll_quant_check_call(module, EXCHANGE_REDUCE_SCATTER,
                                                 floats_if(module, type), bytes, &verdict);
        if (MPI_SUCCESS != status) {
            return status;
        }
    }
    if (ARC_REASON_NONE != verdict) {
        return coll_quant_learn(module,
                                arc_module_pass_reduce_scatter_block(&module->base, verdict, send,
                                                                     receive, count, type, op));
    }
    return coll_quant_learn(module, run_stage(module, EXCHANGE_REDUCE_SCATTER,
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
    size_t type_bytes = 0;

    (void) ompi_datatype_type_size(side->type, &type_bytes);
    return (size_t) side->count * type_bytes;
}

static void *block_at(const side_t *side, int block)
{
    ptrdiff_t extent_bytes = 0;

    (void) ompi_datatype_type_extent(side->type, &extent_bytes);
    return (char *) side->at + (ptrdiff_t) block * side->count * extent_bytes;
}

/* Where there is nothing to pack, nor to unpack. */
static int gather_unpacked(quant_module_t *module, const side_t *send, const side_t *receive,
                           size_t count)
{
    return run_stage(module, EXCHANGE_ALLGATHER, send->at, receive->at, count);
}

/* By way of memory: all blocks, in it the own one. */
static __attribute__((noinline)) int gather_packed(quant_module_t *module, const side_t *send,
                                                   const side_t *receive, size_t count)
{
    const int ranks = ompi_comm_size(module->base.comm);
    const int rank = ompi_comm_rank(module->base.comm);
    size_t bytes = 0;
    const bool fits = arc_checked_bytes((size_t) ranks, count * sizeof(float), 0, &bytes);
    float *blocks = fits ? malloc(bytes) : NULL;

    if (NULL == blocks) {
        (void) arc_module_break_call(&module->base, ARC_SLOT_allgather, ARC_ERR_NO_MEMORY,
                                     " to pack a derived type");
        return MPI_ERR_NO_MEM;
    }
    /* A rank that fails alone takes part nevertheless, with zeros; the call ends in its error. */
    int error =
        ompi_datatype_sndrcv(send->at, send->count, send->type, blocks + (size_t) rank * count,
                             (int32_t) count, &ompi_mpi_float.dt);
    if (OMPI_SUCCESS != error) {
        memset(blocks + (size_t) rank * count, 0, count * sizeof *blocks);
    }
    const int status =
        run_stage(module, EXCHANGE_ALLGATHER, blocks + (size_t) rank * count, blocks, count);
    for (int block = 0; MPI_SUCCESS == status && OMPI_SUCCESS == error && block < ranks; ++block) {
        error = ompi_datatype_sndrcv(blocks + (size_t) block * count, (int32_t) count,
                                     &ompi_mpi_float.dt, block_at(receive, block), receive->count,
                                     receive->type);
    }
    if (ARC_PHASE_BROKEN != module->base.phase) {
        free(blocks); /* otherwise a message may still be under way */
    }
    return MPI_SUCCESS == status ? error : status;
}

int coll_quant_allgather(const void *send, int send_count, struct ompi_datatype_t *send_type,
                         void *receive, int receive_count, struct ompi_datatype_t *receive_type,
                         struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    quant_module_t *module =
        (quant_module_t *) arc_module_own(base, OBJ_CLASS(quant_module_t), comm);
    const side_t out = {receive, receive_count, receive_type};
    const side_t in = {(void *) send, send_count, send_type};
    const size_t count = bytes_of(&out) / sizeof(float);
    arc_reason_t verdict = ARC_REASON_NESTED;

    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    if (!module->base.nested) {
        const size_t bytes = (size_t) ompi_comm_size(comm) * bytes_of(&out);
        coll_quant_agree_if_due(module, bytes);
        const quant_element_t *floats = floats_if(module, &ompi_mpi_float.dt);
        verdict = NULL == floats ? ARC_REASON_TYPE_OR_OP : mca_bridge_all_floats(receive_type);
        if (ARC_REASON_NONE == verdict && MPI_IN_PLACE == send) {
            verdict = ARC_REASON_IN_PLACE;
        }
        if (ARC_REASON_NONE == verdict && count > INT32_MAX) {
            verdict = ARC_REASON_TOO_LARGE; /* for Open MPI's packing */
        }
        const int status =
            coll_quant_check_call(module, EXCHANGE_ALLGATHER, floats, bytes, &verdict);
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
    const bool packed = !mca_bridge_is_float(receive_type) || !mca_bridge_is_float(send_type);
    return coll_quant_learn(module,
                            (packed ? gather_packed : gather_unpacked)(module, &in, &out, count));
}
