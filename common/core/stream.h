/*
 * THE SEAM of messages: ordered messages between ranks, for coll_quant and for coll_lowlat
 * between nodes.
 *
 * Contract
 *   order      messages from one rank to another arrive in the order in which
 *              they were started; receives match in the order in which they
 *              were started.
 *   ownership  the buffer of a started send or receive belongs to the stream
 *              until test() reports its end.
 *   blocking   nothing blocks.  Progress is made by whoever drives the task.
 *   errors     after any error the stream is dead: abort() what is started and
 *              do not use it again.
 *
 * Three implementations: Open MPI's point-to-point layer (common/mca/mca_stream.c), puts
 * (put_stream.h), and a simulated network for tests (tests/sim/sim_stream.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_STREAM_H
#define ARC_STREAM_H

#include <stddef.h>

#include "status.h"

typedef struct arc_stream arc_stream_t;

/* One started send or receive.  Zero-initialised means: nothing started. */
typedef struct arc_stream_request {
    void *handle; /* the implementation's; NULL when idle */
    size_t bytes; /* after a completed receive: the length of the message */
} arc_stream_request_t;

typedef struct arc_stream_ops {
    /* Start to send `bytes` bytes to `peer`. */
    arc_status_t (*send)(arc_stream_t *stream, unsigned peer, const void *buffer, size_t bytes,
                         arc_stream_request_t *request) ARC_MUST_CHECK;

    /* Start to receive at most `capacity_bytes` bytes from `peer`; a longer message is an error. */
    arc_status_t (*receive)(arc_stream_t *stream, unsigned peer, void *buffer,
                            size_t capacity_bytes, arc_stream_request_t *request) ARC_MUST_CHECK;

    /* ARC_IN_PROGRESS, ARC_OK (the request is idle again, bytes is set), or an error. */
    arc_status_t (*test)(arc_stream_t *stream, arc_stream_request_t *request) ARC_MUST_CHECK;

    /* Give a started request up after an error; the request is idle afterwards. */
    void (*abort)(arc_stream_t *stream, arc_stream_request_t *request);
} arc_stream_ops_t;

/* Embedded as the first member of an implementation. */
struct arc_stream {
    const arc_stream_ops_t *ops;
    unsigned rank;  /* of this process */
    unsigned ranks; /* in the group */
};

/* abort() of a request that may be idle. */
static inline void arc_stream_abort(arc_stream_t *stream, arc_stream_request_t *request)
{
    if (NULL != request->handle) {
        stream->ops->abort(stream, request);
    }
}

#endif
