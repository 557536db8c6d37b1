/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_plain.h"

#include <stdint.h>
#include <stdlib.h>

#include "mca_bridge.h"

enum { PLAIN_TAG = 7 }; /* below the module's first; the component has those before */

/*
 * Memory of ours: a vector of the call, and the place where another one of its kind is received.
 * Messages that a time limit has ended may go on using it, so it is not freed then.
 */
typedef struct vectors {
    arc_module_t *module;
    struct ompi_datatype_t *type;
    size_t count;
    unsigned char *memory[2]; /* what was allocated */
    unsigned char *own;
    unsigned char *other;
} vectors_t;

/* ---- messages ---- */

/* One message, which is awaited. */
typedef struct message {
    arc_task_t task; /* first */
    ompi_request_t *request;
} message_t;

static arc_status_t progress(arc_task_t *task)
{
    ompi_request_t *request = ((message_t *) task)->request;

    if (!REQUEST_COMPLETE(request)) {
        return ARC_IN_PROGRESS;
    }
    opal_atomic_rmb();
    const int error = request->req_status.MPI_ERROR;
    (void) ompi_request_free(&request);
    return OMPI_SUCCESS == error ? ARC_OK : ARC_ERR_TRANSPORT;
}

static arc_status_t wait_for(const arc_module_t *module, ompi_request_t *request)
{
    static const arc_task_ops_t ops = {.progress = progress};
    const arc_wait_t wait = arc_module_wait(module);
    message_t message = {.task.ops = &ops, .request = request};
    const arc_status_t status = arc_wait_run(&wait, &message.task);

    if (ARC_ERR_TIMEOUT == status) {
        (void) ompi_request_cancel(request);
    }
    return status;
}

static arc_status_t send_to(const arc_module_t *module, int rank, const void *data, size_t count,
                            struct ompi_datatype_t *type)
{
    ompi_request_t *request = NULL;

    return OMPI_SUCCESS == MCA_PML_CALL(isend(data, count, type, rank, module->tags - PLAIN_TAG,
                                              MCA_PML_BASE_SEND_STANDARD, module->comm, &request))
               ? wait_for(module, request)
               : ARC_ERR_TRANSPORT;
}

static arc_status_t receive_from(const arc_module_t *module, int rank, void *data, size_t count,
                                 struct ompi_datatype_t *type)
{
    ompi_request_t *request = NULL;

    return OMPI_SUCCESS == MCA_PML_CALL(irecv(data, count, type, rank, module->tags - PLAIN_TAG,
                                              module->comm, &request))
               ? wait_for(module, request)
               : ARC_ERR_TRANSPORT;
}

/* ---- allreduce ---- */

/* Room for `needed` of them, 1 or 2; false: there is no memory. */
static bool make_vectors(vectors_t *vectors, arc_module_t *module, size_t count,
                         struct ompi_datatype_t *type, int needed)
{
    ptrdiff_t gap = 0;
    size_t bytes = 0;

    *vectors = (vectors_t){.module = module, .type = type, .count = count};
    const bool fits = mca_bridge_span(type, count, &gap, &bytes);
    for (int i = 0; i < needed; ++i) {
        vectors->memory[i] = fits ? malloc(bytes + 1) : NULL;
        if (NULL == vectors->memory[i]) {
            return false;
        }
    }
    vectors->own = vectors->memory[0] - gap;
    vectors->other = needed > 1 ? vectors->memory[1] - gap : NULL;
    return true;
}

/* After the end of a call that came to `status`. */
static void free_vectors(vectors_t *vectors, arc_status_t status)
{
    if (ARC_ERR_TIMEOUT != status) {
        free(vectors->memory[0]);
        free(vectors->memory[1]);
    }
}

/*
 * Rank r has the sum of the ranks r to r + distance - 1; from r + distance it gets that of those to
 * r + 2 distance - 1: their order is kept.
 */
static arc_status_t reduce_to_first(vectors_t *vectors, struct ompi_op_t *op, int *missing)
{
    const arc_module_t *module = vectors->module;
    const int rank = ompi_comm_rank(module->comm);
    const int ranks = ompi_comm_size(module->comm);
    arc_status_t status = ARC_OK;

    for (int distance = 1; distance < ranks && ARC_OK == status; distance *= 2) {
        if (0 != (rank & distance)) {
            *missing = rank - distance;
            return send_to(module, *missing, vectors->own, vectors->count, vectors->type);
        }
        if (rank + distance < ranks) {
            *missing = rank + distance;
            status = receive_from(module, *missing, vectors->other, vectors->count, vectors->type);
            if (ARC_OK == status) {
                ompi_op_reduce(op, vectors->own, vectors->other, vectors->count, vectors->type);
                unsigned char *sum = vectors->other;
                vectors->other = vectors->own;
                vectors->own = sum;
            }
        }
    }
    return status;
}

static arc_status_t send_down(const vectors_t *vectors, int *missing)
{
    const arc_module_t *module = vectors->module;
    const int rank = ompi_comm_rank(module->comm);
    const int ranks = ompi_comm_size(module->comm);
    arc_status_t status = ARC_OK;
    int distance = 1;

    while (distance < ranks && 0 == (rank & distance)) {
        distance *= 2;
    }
    if (0 != rank) {
        *missing = rank - distance;
        status = receive_from(module, *missing, vectors->own, vectors->count, vectors->type);
    }
    for (distance /= 2; distance > 0 && ARC_OK == status; distance /= 2) {
        if (rank + distance < ranks) {
            *missing = rank + distance;
            status = send_to(module, *missing, vectors->own, vectors->count, vectors->type);
        }
    }
    return status;
}

/* A rank takes all of the sum, or its block of it. */
static arc_status_t sum_and_take(arc_module_t *module, const arc_call_t *call, int *missing)
{
    const bool shares = ARC_SLOT_reduce_scatter_block == call->collective;
    const size_t take = (size_t) call->count;
    const size_t count = shares ? take * (size_t) ompi_comm_size(module->comm) : take;
    const size_t from = shares ? take * (size_t) ompi_comm_rank(module->comm) : 0;
    ptrdiff_t extent = 0;
    vectors_t vectors;

    arc_status_t status =
        make_vectors(&vectors, module, count, call->type, 2) ? ARC_OK : ARC_ERR_NO_MEMORY;
    if (ARC_OK == status) {
        const void *summand = MPI_IN_PLACE == call->send ? call->receive : call->send;
        (void) ompi_datatype_type_extent(call->type, &extent);
        (void) ompi_datatype_copy_content_same_ddt(call->type, count, (char *) vectors.own,
                                                   (char *) (uintptr_t) summand);
        status = reduce_to_first(&vectors, call->op, missing);
    }
    if (ARC_OK == status) {
        status = send_down(&vectors, missing);
    }
    if (ARC_OK == status) {
        (void) ompi_datatype_copy_content_same_ddt(
            call->type, take, call->receive, (char *) vectors.own + (ptrdiff_t) from * extent);
    }
    free_vectors(&vectors, status);
    return status;
}

/* ---- allgather ---- */

/* All blocks to the first rank, and down from there. */
static arc_status_t collect(const vectors_t *vectors, const arc_call_t *call, ptrdiff_t block_bytes,
                            int *missing)
{
    const arc_module_t *module = vectors->module;
    const int rank = ompi_comm_rank(module->comm);
    char *blocks = (char *) vectors->own;
    arc_status_t status = ARC_OK;

    *missing = 0;
    if (0 != rank) {
        status = send_to(module, 0, blocks + rank * block_bytes, (size_t) call->count, call->type);
    }
    for (int other = 1; 0 == rank && other < ompi_comm_size(module->comm) && ARC_OK == status;
         ++other) {
        *missing = other;
        status = receive_from(module, other, blocks + other * block_bytes, (size_t) call->count,
                              call->type);
    }
    return ARC_OK == status ? send_down(vectors, missing) : status;
}

/* Put this rank's block where it belongs among `blocks`, which are those of the program or ours. */
static bool place_own(const arc_call_t *call, char *blocks, ptrdiff_t offset_bytes)
{
    if (MPI_IN_PLACE != call->send) {
        return OMPI_SUCCESS == ompi_datatype_sndrcv(call->send, call->send_count, call->send_type,
                                                    blocks + offset_bytes, call->count, call->type);
    }
    return call->receive == blocks ||
           OMPI_SUCCESS == ompi_datatype_copy_content_same_ddt(
                               call->type, (size_t) call->count, blocks + offset_bytes,
                               (char *) call->receive + offset_bytes);
}

static arc_status_t gather(arc_module_t *module, const arc_call_t *call, int *missing)
{
    const size_t all = (size_t) call->count * (size_t) ompi_comm_size(module->comm);
    /* Without a time limit no message outlives the call: they may use the program's memory. */
    const bool limited = *module->component->timeout > 0;
    vectors_t vectors = {.module = module, .type = call->type, .count = all, .own = call->receive};
    arc_status_t status = ARC_OK;
    ptrdiff_t extent = 0;

    if (limited && !make_vectors(&vectors, module, all, call->type, 1)) {
        status = ARC_ERR_NO_MEMORY;
    }
    char *blocks = (char *) vectors.own;
    (void) ompi_datatype_type_extent(call->type, &extent);
    const ptrdiff_t block_bytes = extent * (ptrdiff_t) call->count;
    if (ARC_OK == status && !place_own(call, blocks, ompi_comm_rank(module->comm) * block_bytes)) {
        status = ARC_ERR_PROTOCOL;
    }
    if (ARC_OK == status) {
        status = collect(&vectors, call, block_bytes, missing);
    }
    if (ARC_OK == status && limited) {
        (void) ompi_datatype_copy_content_same_ddt(call->type, all, call->receive, blocks);
    }
    free_vectors(&vectors, status);
    return status;
}

int mca_plain_call(arc_module_t *module, const arc_call_t *call)
{
    int missing = 0;

    if (ARC_PHASE_BROKEN == module->phase) {
        return arc_module_broken_error();
    }
    const arc_status_t status =
        (ARC_SLOT_allgather == call->collective ? gather : sum_and_take)(module, call, &missing);
    return ARC_OK == status ? MPI_SUCCESS
                            : arc_module_break_without(module, arc_call_slot(call), status, "",
                                                       (unsigned) missing);
}
