/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_break.h"
#include "mca_gather.h"
#include "mca_stream.h"
#include "sizes.h"
#include "wait.h"

/* Two messages of one step, one each way. */
typedef struct trade {
    unsigned to;
    unsigned from;
    const void *sent;
    void *received;
    size_t bytes;
} trade_t;

static arc_status_t finish(arc_stream_t *stream, arc_stream_request_t *request, int64_t timeout_ns)
{
    arc_patience_t patience;
    arc_patience_begin(&patience, timeout_ns);
    arc_status_t status = arc_stream_test(stream, request);

    while (ARC_IN_PROGRESS == status) {
        mca_compat_progress();
        status = arc_stream_test(stream, request);
        if (ARC_IN_PROGRESS == status && arc_patience_ends(&patience)) {
            status = ARC_ERR_TIMEOUT;
        }
    }
    return status;
}

static arc_status_t make_trade(arc_stream_t *stream, const trade_t *trade, int64_t timeout_ns,
                               unsigned *missing)
{
    arc_stream_request_t send = {.handle = NULL};
    arc_stream_request_t receive = {.handle = NULL};

    arc_status_t status =
        stream->ops->receive(stream, trade->from, trade->received, trade->bytes, &receive);
    if (ARC_OK == status) {
        status = stream->ops->send(stream, trade->to, trade->sent, trade->bytes, &send);
    }
    if (ARC_OK == status) {
        *missing = trade->from;
        status = finish(stream, &receive, timeout_ns);
    }
    if (ARC_OK == status && trade->bytes != receive.bytes) {
        status = ARC_ERR_PROTOCOL;
    }
    if (ARC_OK == status) {
        *missing = trade->to;
        status = finish(stream, &send, timeout_ns);
    }
    arc_stream_abort(stream, &receive);
    arc_stream_abort(stream, &send);
    return status;
}

/* Number `member` of the circle, which goes on from its begin, in the communicator. */
static unsigned rank_of(const mca_circle_t *circle, unsigned member)
{
    const unsigned number = member % circle->ranks;

    return NULL == circle->members ? number : circle->members[number];
}

arc_status_t mca_gather(arc_module_t *module, const mca_circle_t *circle, void *cards,
                        size_t card_bytes)
{
    const int64_t timeout_ns = *module->component->timeout * ARC_NS_PER_SECOND;
    const unsigned ranks = circle->ranks;
    unsigned char *place = cards;
    arc_status_t status = ARC_OK;
    unsigned missing = 0;
    mca_stream_t stream;

    mca_stream_init(&stream, module->comm, module->agreement_tag + MCA_COMPAT_TAG_GATHER);
    for (unsigned step = 1; step < ranks && ARC_OK == status; step *= 2) {
        const trade_t trade = {.to = rank_of(circle, circle->self + ranks - step),
                               .from = rank_of(circle, circle->self + step),
                               .sent = place,
                               .received = place + step * card_bytes,
                               .bytes = card_bytes * arc_min(step, ranks - step)};

        status = make_trade(&stream.base, &trade, timeout_ns, &missing);
    }
    if (ARC_OK != status) {
        (void) arc_module_break_without(module, ARC_SLOTS, status, " to agree", missing);
    }
    return status;
}
