/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_plain.h"

#include <stdlib.h>

#include "fiber.h"
#include "mca_bridge.h"
#include "mca_stream.h"
#include "steps.h"

enum { PLAIN_TAG = 7 }; /* below the module's first; the component has those before */

/*
 * A vector of the call, and the place where another one of its kind is received, in memory of ours.
 * Messages that a time limit has ended may go on using it, so it is not freed then.
 */
typedef struct vectors {
    arc_module_t *module;
    mca_stream_t stream; /* of elements */
    size_t count;
    void *memory;
    unsigned char *own;
    unsigned char *other;
    unsigned missing; /* who was awaited at the time limit */
} vectors_t;

static arc_status_t trade(vectors_t *vectors, arc_link_t link)
{
    const arc_wait_t wait = arc_module_wait(vectors->module);

    return arc_steps_trade(&vectors->stream.base, &link, 1, &wait, &vectors->missing);
}

static arc_status_t send_to(vectors_t *vectors, int rank, const void *data, size_t count)
{
    return trade(vectors, (arc_link_t){.peer = (unsigned) rank, .sent = data, .sent_bytes = count});
}

static arc_status_t receive_from(vectors_t *vectors, int rank, void *data, size_t count)
{
    return trade(vectors,
                 (arc_link_t){.peer = (unsigned) rank, .received = data, .received_bytes = count});
}

/* ---- allreduce ---- */

/* Room for `needed` of them, 1 or 2; false: there is no memory. */
static bool make_vectors(vectors_t *vectors, size_t count, unsigned needed)
{
    unsigned char *typed[2] = {NULL};

    vectors->count = count;
    const bool made =
        mca_bridge_allocate(vectors->stream.type, count, needed, &vectors->memory, typed);
    vectors->own = typed[0];
    vectors->other = typed[1];
    return made;
}

/* A reduction of a left vector into the right one. */
typedef struct reduction {
    vectors_t *vectors;
    struct ompi_op_t *op;
} reduction_t;

/* The operation may be a function of the program: not on the stack of a fiber. */
static bool reduce(void *context)
{
    const reduction_t *reduction = context;
    vectors_t *vectors = reduction->vectors;

    ompi_op_reduce(reduction->op, vectors->own, vectors->other, vectors->count,
                   vectors->stream.type);
    return true;
}

/*
 * Rank r has the sum of the ranks r to r + distance - 1; from r + distance it gets that of those to
 * r + 2 distance - 1: their order is kept.
 */
static arc_status_t reduce_to_first(vectors_t *vectors, struct ompi_op_t *op)
{
    const int rank = (int) vectors->stream.base.rank;
    const int ranks = (int) vectors->stream.base.ranks;
    reduction_t reduction = {vectors, op};
    arc_status_t status = ARC_OK;

    for (int distance = 1; distance < ranks && ARC_OK == status; distance *= 2) {
        if (0 != (rank & distance)) {
            return send_to(vectors, rank - distance, vectors->own, vectors->count);
        }
        if (rank + distance < ranks) {
            status = receive_from(vectors, rank + distance, vectors->other, vectors->count);
            if (ARC_OK == status) {
                arc_fiber_await(reduce, &reduction);
                unsigned char *sum = vectors->other;
                vectors->other = vectors->own;
                vectors->own = sum;
            }
        }
    }
    return status;
}

static arc_status_t send_down(vectors_t *vectors)
{
    const int rank = (int) vectors->stream.base.rank;
    const int ranks = (int) vectors->stream.base.ranks;
    arc_status_t status = ARC_OK;
    int distance = 1;

    while (distance < ranks && 0 == (rank & distance)) {
        distance *= 2;
    }
    if (0 != rank) {
        status = receive_from(vectors, rank - distance, vectors->own, vectors->count);
    }
    for (distance /= 2; distance > 0 && ARC_OK == status; distance /= 2) {
        if (rank + distance < ranks) {
            status = send_to(vectors, rank + distance, vectors->own, vectors->count);
        }
    }
    return status;
}

/* A rank takes all of the sum, or its block of it. */
static arc_status_t sum_and_take(vectors_t *vectors, const arc_call_t *call)
{
    const bool shares = ARC_SLOT_reduce_scatter_block == call->collective;
    const size_t take = (size_t) call->count;
    const size_t count = shares ? take * vectors->stream.base.ranks : take;
    const size_t from = shares ? take * vectors->stream.base.rank : 0;
    ptrdiff_t extent = 0;

    arc_status_t status = make_vectors(vectors, count, 2) ? ARC_OK : ARC_ERR_NO_MEMORY;
    if (ARC_OK == status) {
        const void *summand = MPI_IN_PLACE == call->send ? call->receive : call->send;
        (void) ompi_datatype_type_extent(call->type, &extent);
        (void) ompi_datatype_copy_content_same_ddt(call->type, count, (char *) vectors->own,
                                                   (char *) (uintptr_t) summand);
        status = reduce_to_first(vectors, call->op);
    }
    if (ARC_OK == status) {
        status = send_down(vectors);
    }
    if (ARC_OK == status) {
        (void) ompi_datatype_copy_content_same_ddt(
            call->type, take, call->receive, (char *) vectors->own + (ptrdiff_t) from * extent);
    }
    return status;
}

/* ---- allgather ---- */

/* All blocks to the first rank, and down from there. */
static arc_status_t collect(vectors_t *vectors, size_t block, ptrdiff_t block_bytes)
{
    const int rank = (int) vectors->stream.base.rank;
    const int ranks = (int) vectors->stream.base.ranks;
    char *blocks = (char *) vectors->own;
    arc_status_t status = ARC_OK;

    if (0 != rank) {
        status = send_to(vectors, 0, blocks + rank * block_bytes, block);
    }
    for (int other = 1; 0 == rank && other < ranks && ARC_OK == status; ++other) {
        status = receive_from(vectors, other, blocks + other * block_bytes, block);
    }
    return ARC_OK == status ? send_down(vectors) : status;
}

/* In memory of ours, as a sum: messages that a time limit has ended may go on using it. */
static arc_status_t gather(vectors_t *vectors, const arc_call_t *call)
{
    const size_t all = (size_t) call->count * vectors->stream.base.ranks;
    const bool in_place = MPI_IN_PLACE == call->send;
    ptrdiff_t extent = 0;

    if (!make_vectors(vectors, all, 1)) {
        return ARC_ERR_NO_MEMORY;
    }
    (void) ompi_datatype_type_extent(call->type, &extent);
    const ptrdiff_t block_bytes = extent * (ptrdiff_t) call->count;
    const ptrdiff_t own_at = (ptrdiff_t) vectors->stream.base.rank * block_bytes;
    const char *own = in_place ? (char *) call->receive + own_at : call->send;
    if (OMPI_SUCCESS != ompi_datatype_sndrcv(own, in_place ? call->count : call->send_count,
                                             in_place ? call->type : call->send_type,
                                             (char *) vectors->own + own_at, call->count,
                                             call->type)) {
        return ARC_ERR_PROTOCOL;
    }
    const arc_status_t status = collect(vectors, (size_t) call->count, block_bytes);
    if (ARC_OK == status) {
        (void) ompi_datatype_copy_content_same_ddt(call->type, all, call->receive,
                                                   (char *) vectors->own);
    }
    return status;
}

int mca_plain_call(arc_module_t *module, const arc_call_t *call)
{
    vectors_t vectors = {.module = module};

    if (ARC_PHASE_BROKEN == module->phase) {
        return arc_module_broken_error();
    }
    mca_stream_init(&vectors.stream, module->comm, module->tags - PLAIN_TAG);
    vectors.stream.type = call->type;
    (void) ompi_datatype_type_size(call->type, &vectors.stream.unit_bytes);
    if (0 == vectors.stream.unit_bytes) {
        return MPI_SUCCESS; /* of nothing */
    }
    const arc_status_t status =
        (ARC_SLOT_allgather == call->collective ? gather : sum_and_take)(&vectors, call);
    if (ARC_ERR_TIMEOUT != status) {
        free(vectors.memory);
    }
    return ARC_OK == status
               ? MPI_SUCCESS
               : arc_module_break_without(module, arc_call_slot(call), status, "", vectors.missing);
}
