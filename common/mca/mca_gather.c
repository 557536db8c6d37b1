/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_gather.h"
#include "mca_stream.h"
#include "sizes.h"

static arc_status_t finish(arc_stream_t *stream, arc_stream_request_t *request)
{
    arc_status_t status = arc_stream_test(stream, request);

    while (ARC_IN_PROGRESS == status) {
        mca_compat_progress();
        status = arc_stream_test(stream, request);
    }
    return status;
}

/* Send `bytes` to one rank and receive as many from another. */
static arc_status_t trade(arc_stream_t *stream, unsigned to, const void *sent, unsigned from,
                          void *received, size_t bytes)
{
    arc_stream_request_t send = {.handle = NULL};
    arc_stream_request_t receive = {.handle = NULL};

    arc_status_t status = stream->ops->receive(stream, from, received, bytes, &receive);
    if (ARC_OK == status) {
        status = stream->ops->send(stream, to, sent, bytes, &send);
    }
    if (ARC_OK == status) {
        status = finish(stream, &receive);
    }
    if (ARC_OK == status && bytes != receive.bytes) {
        status = ARC_ERR_PROTOCOL;
    }
    if (ARC_OK == status) {
        status = finish(stream, &send);
    }
    arc_stream_abort(stream, &receive);
    arc_stream_abort(stream, &send);
    return status;
}

arc_status_t mca_gather(arc_module_t *module, const arc_topology_t *topology, void *cards,
                        size_t card_bytes)
{
    const unsigned ranks = topology->local_ranks;
    const unsigned self = topology->local_rank;
    unsigned char *place = cards;
    arc_status_t status = ARC_OK;
    mca_stream_t stream;

    mca_stream_init(&stream, module->comm, MCA_COLL_BASE_TAG_ALLGATHER);
    for (unsigned step = 1; step < ranks && ARC_OK == status; step *= 2) {
        const size_t bytes = card_bytes * arc_min(step, ranks - step);
        const unsigned to = topology->members[(self + ranks - step) % ranks];
        const unsigned from = topology->members[(self + step) % ranks];

        status = trade(&stream.base, to, place, from, place + step * card_bytes, bytes);
    }
    return status;
}
