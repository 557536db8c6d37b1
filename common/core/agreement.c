/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "agreement.h"

static unsigned awaited(const arc_agreement_t *agreement)
{
    const arc_stream_t *stream = agreement->stream;
    return (stream->rank + (stream->ranks - agreement->distance)) % stream->ranks;
}

/* To the rank that awaits a message of ours at this distance. */
static ARC_MUST_CHECK arc_status_t send_to(arc_agreement_t *agreement, unsigned distance,
                                           const uint64_t *message, size_t bytes,
                                           arc_stream_request_t *request)
{
    arc_stream_t *stream = agreement->stream;
    const uint64_t peer = ((uint64_t) stream->rank + distance) % stream->ranks;

    return stream->ops->send(stream, (unsigned) peer, message, bytes, request);
}

static void start_round(arc_agreement_t *agreement)
{
    arc_stream_t *stream = agreement->stream;

    /* The receive first: a message that is awaited already is not copied twice. */
    agreement->error = stream->ops->receive(stream, awaited(agreement), agreement->received,
                                            agreement->bytes, &agreement->receive);
    if (ARC_OK == agreement->error) {
        agreement->error = send_to(agreement, agreement->distance, agreement->known,
                                   agreement->bytes, &agreement->send);
    }
}

/* In place of the next message to each of them, of this agreement or another. */
static void tell_the_others(arc_agreement_t *agreement)
{
    const unsigned ranks = agreement->stream->ranks;

    agreement->notice = agreement->known[0];
    for (uint64_t distance = 1; distance < ranks; distance *= 2) {
        arc_stream_request_t request = {0};
        /* Who cannot be told finds out by itself.  A send that has not ended goes on alone. */
        if (ARC_OK == send_to(agreement, (unsigned) distance, &agreement->notice,
                              sizeof agreement->notice, &request) &&
            ARC_IN_PROGRESS == arc_stream_test(agreement->stream, &request)) {
            arc_stream_abort(agreement->stream, &request);
        }
    }
}

static void abort_round(arc_agreement_t *agreement)
{
    arc_stream_abort(agreement->stream, &agreement->send);
    arc_stream_abort(agreement->stream, &agreement->receive);
}

/* Does this rank know that somebody is missing? */
static bool is_told(const arc_agreement_t *agreement)
{
    return ARC_AGREEMENT_NOBODY != agreement->known[0];
}

/* Both messages of the round have ended: what do we know now? */
static ARC_MUST_CHECK arc_status_t merge(arc_agreement_t *agreement)
{
    const size_t words = agreement->receive.bytes / sizeof agreement->known[0];

    if (agreement->bytes != agreement->receive.bytes && 1 != words) {
        return ARC_ERR_PROTOCOL;
    }
    for (size_t i = 0; i < words; ++i) {
        if (agreement->received[i] < agreement->known[i]) {
            agreement->known[i] = agreement->received[i];
        }
    }
    if (is_told(agreement)) {
        tell_the_others(agreement);
        return ARC_ERR_TIMEOUT;
    }
    return ARC_OK;
}

static arc_status_t agreement_progress(arc_task_t *base)
{
    arc_agreement_t *agreement = (arc_agreement_t *) base;
    arc_status_t status = agreement->error;

    while (ARC_OK == status) {
        status = arc_stream_test(agreement->stream, &agreement->send);
        if (ARC_OK == status) {
            status = arc_stream_test(agreement->stream, &agreement->receive);
        }
        if (ARC_IN_PROGRESS == status) {
            return status;
        }
        if (ARC_OK == status) {
            status = merge(agreement);
        }
        if (ARC_OK == status) {
            base->steps += 1;
            if (agreement->distance >= agreement->stream->ranks - agreement->distance) {
                return ARC_OK;
            }
            agreement->distance *= 2;
            start_round(agreement);
            status = agreement->error;
        }
    }
    abort_round(agreement);
    return status;
}

static bool agreement_waits_for(const arc_task_t *base, unsigned rank)
{
    return awaited((const arc_agreement_t *) base) == rank;
}

void arc_agreement_start(arc_agreement_t *agreement, arc_stream_t *stream, const uint64_t *values,
                         unsigned count)
{
    static const arc_task_ops_t ops = {.progress = agreement_progress,
                                       .waits_for = agreement_waits_for};

    assert(stream->ranks > 1 && count > 0 && count <= ARC_AGREEMENT_VALUES);
    memset(agreement, 0, sizeof *agreement);
    agreement->task.ops = &ops;
    agreement->stream = stream;
    agreement->distance = 1;
    agreement->bytes = (1 + count) * sizeof *values;
    agreement->known[0] = ARC_AGREEMENT_NOBODY;
    memcpy(agreement->known + 1, values, count * sizeof *values);
    start_round(agreement);
}

/*
 * The part of `timeout_ns` for which a rank waits longer: so many parts as there are rounds before
 * this one, of as many as there are rounds.
 */
static int64_t more_time_ns(const arc_agreement_t *agreement, int64_t timeout_ns)
{
    int64_t before = 0;
    int64_t rounds = 0;

    for (uint64_t distance = 1; distance < agreement->stream->ranks; distance *= 2) {
        before += distance < agreement->distance;
        rounds += 1;
    }
    return timeout_ns / rounds * before;
}

void arc_agreement_give_up(arc_agreement_t *agreement)
{
    agreement->known[0] = awaited(agreement);
    tell_the_others(agreement);
    abort_round(agreement);
}

arc_status_t arc_agreement_run(arc_agreement_t *agreement, arc_stream_t *stream, uint64_t *values,
                               unsigned count, const arc_wait_t *wait, unsigned *missing)
{
    arc_wait_t longer = *wait;

    arc_agreement_start(agreement, stream, values, count);
    arc_status_t status = arc_wait_run(wait, &agreement->task);
    if (ARC_ERR_TIMEOUT == status && !is_told(agreement) && agreement->distance > 1) {
        longer.timeout_ns = more_time_ns(agreement, wait->timeout_ns);
        status = arc_wait_run(&longer, &agreement->task);
    }
    if (ARC_ERR_TIMEOUT == status && !is_told(agreement)) {
        arc_agreement_give_up(agreement);
    }
    if (ARC_OK == status) {
        memcpy(values, agreement->known + 1, count * sizeof *values);
    } else {
        *missing = (unsigned) agreement->known[0];
    }
    return status;
}
