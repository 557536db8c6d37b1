/*
 * stream.h over Open MPI's point-to-point layer.
 *
 * The tags are those of Open MPI's own blocking collectives: a communicator runs one of
 * them at a time, and every message of ours is received before we return, so the
 * components below can use them too.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "mca_stream.h"

static int tag_of(const mca_stream_t *stream)
{
    return NULL == stream->tags || 0 == *stream->tags ? stream->tag
                                                      : *stream->tags - stream->number;
}

static arc_status_t stream_send(arc_stream_t *base, unsigned peer, const void *buffer, size_t bytes,
                                arc_stream_request_t *request)
{
    mca_stream_t *stream = (mca_stream_t *) base;
    ompi_request_t *started = NULL;

    if (OMPI_SUCCESS != MCA_PML_CALL(isend(buffer, bytes, stream->type, (int) peer, tag_of(stream),
                                           MCA_PML_BASE_SEND_STANDARD, stream->comm, &started))) {
        return ARC_ERR_TRANSPORT;
    }
    request->handle = started;
    return ARC_OK;
}

static arc_status_t stream_receive(arc_stream_t *base, unsigned peer, void *buffer,
                                   size_t capacity_bytes, arc_stream_request_t *request)
{
    mca_stream_t *stream = (mca_stream_t *) base;
    ompi_request_t *started = NULL;

    if (OMPI_SUCCESS != MCA_PML_CALL(irecv(buffer, capacity_bytes, stream->type, (int) peer,
                                           tag_of(stream), stream->comm, &started))) {
        return ARC_ERR_TRANSPORT;
    }
    request->handle = started;
    return ARC_OK;
}

static arc_status_t stream_test(arc_stream_t *base, arc_stream_request_t *request)
{
    ompi_request_t *started = request->handle;

    if (!REQUEST_COMPLETE(started)) {
        return ARC_IN_PROGRESS;
    }
    /* Completed by whoever drove the progress, perhaps another thread: see what it wrote. */
    opal_atomic_rmb();
    request->bytes = started->req_status._ucount / ((mca_stream_t *) base)->unit_bytes;
    const int error = started->req_status.MPI_ERROR;
    request->handle = NULL;
    (void) ompi_request_free(&started);
    return OMPI_SUCCESS == error ? ARC_OK : ARC_ERR_TRANSPORT;
}

static void stream_abort(arc_stream_t *base, arc_stream_request_t *request)
{
    ompi_request_t *started = request->handle;
    (void) base;

    if (NULL != started) {
        /* A receive that nothing has matched ends here; a send cannot be taken back. */
        (void) ompi_request_cancel(started);
        (void) ompi_request_free(&started);
        request->handle = NULL;
    }
}

void mca_stream_init(mca_stream_t *stream, struct ompi_communicator_t *comm, int tag)
{
    static const arc_stream_ops_t ops = {
        .send = stream_send,
        .receive = stream_receive,
        .test = stream_test,
        .abort = stream_abort,
    };
    *stream = (mca_stream_t){.base = {.ops = &ops,
                                      .rank = (unsigned) ompi_comm_rank(comm),
                                      .ranks = (unsigned) ompi_comm_size(comm)},
                             .comm = comm,
                             .tag = tag,
                             .type = &ompi_mpi_byte.dt,
                             .unit_bytes = 1};
}
