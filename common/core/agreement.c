/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "agreement.h"

/* A send that has not ended goes on alone; one that fails nobody will miss. */
static void send_alone(arc_stream_t *stream, unsigned peer, const uint64_t *words, size_t bytes)
{
    arc_stream_request_t request = {0};

    if (ARC_OK == stream->ops->send(stream, peer, words, bytes, &request) &&
        NULL != request.handle && ARC_IN_PROGRESS == stream->ops->test(stream, &request)) {
        stream->ops->abort(stream, &request);
    }
}

static unsigned begin_round(arc_steps_t *steps)
{
    /* Its vote is 0, and it says nothing else. */
    static const uint64_t no[1 + ARC_ROLL_VALUES] = {UINT64_MAX, 0, UINT64_MAX, UINT64_MAX,
                                                     UINT64_MAX};
    arc_agreement_t *agreement = (arc_agreement_t *) steps;
    arc_stream_t *stream = steps->stream;
    const uint64_t distance = UINT64_C(1) << steps->step;

    if (distance >= stream->ranks) {
        return 0;
    }
    const bool hears[] = {0 != (agreement->hears[0] & distance),
                          0 != (agreement->hears[1] & distance)};
    agreement->link[0] = (arc_link_t){
        .peer = arc_rank_after(stream->rank, stream->ranks, distance),
        .sent = agreement->known,
        .sent_bytes = hears[0] ? agreement->bytes : 0,
    };
    agreement->link[1] = (arc_link_t){
        .peer = arc_rank_before(stream->rank, stream->ranks, distance),
        .received = agreement->received,
        .received_bytes = hears[1] ? agreement->bytes : 0,
    };
    if (!hears[0] && 0 != (agreement->tells & distance)) {
        send_alone(stream, agreement->link[0].peer, no, sizeof no);
    }
    return 2;
}

/* In place of the next message to each of them, of this agreement or another. */
static void tell_the_others(arc_agreement_t *agreement)
{
    arc_stream_t *stream = agreement->steps.stream;

    agreement->notice = agreement->known[0];
    for (uint64_t distance = 1; distance < stream->ranks; distance *= 2) {
        /* Who cannot be told finds out by itself. */
        send_alone(stream, arc_rank_after(stream->rank, stream->ranks, distance),
                   &agreement->notice, sizeof agreement->notice);
    }
}

/* Does this rank know that somebody is missing? */
static bool is_told(const arc_agreement_t *agreement)
{
    return ARC_AGREEMENT_NOBODY != agreement->known[0];
}

/* Both messages of the round have ended: what do we know now? */
static arc_status_t merge(arc_steps_t *steps)
{
    arc_agreement_t *agreement = (arc_agreement_t *) steps;
    const bool hears = 0 != agreement->link[1].received_bytes;
    const size_t bytes = hears ? agreement->link[1].receive.bytes : 0;
    const size_t words = bytes / sizeof agreement->known[0];

    if (hears && agreement->bytes != bytes && 1 != words) {
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

void arc_agreement_start(arc_agreement_t *agreement, arc_stream_t *stream, const uint64_t *values,
                         unsigned count)
{
    static const arc_steps_ops_t ops = {.begin = begin_round, .end = merge};

    assert(stream->ranks > 1 && count > 0 && count <= ARC_AGREEMENT_VALUES);
    memset(agreement, 0, sizeof *agreement);
    arc_steps_start(&agreement->steps, &ops, stream, agreement->link);
    agreement->bytes = (1 + count) * sizeof *values;
    agreement->known[0] = ARC_AGREEMENT_NOBODY;
    memcpy(agreement->known + 1, values, count * sizeof *values);
    agreement->hears[0] = agreement->hears[1] = UINT64_MAX;
}

void arc_agreement_call_roll(arc_agreement_t *agreement, arc_stream_t *stream, uint64_t *values,
                             arc_roll_fn_t ask, void *context)
{
    uint64_t hears[2] = {0};
    uint64_t tells = 0;
    uint64_t distance = 1;

    for (; distance < stream->ranks; distance *= 2) {
        const unsigned after = arc_rank_after(stream->rank, stream->ranks, distance);
        const unsigned before = arc_rank_before(stream->rank, stream->ranks, distance);
        const arc_answer_t next = ask(context, after);
        const arc_answer_t last = before == after ? next : ask(context, before);
        hears[0] |= ARC_ANSWER_THERE == next ? distance : 0;
        hears[1] |= ARC_ANSWER_THERE == last ? distance : 0;
        tells |= ARC_ANSWER_NO != next ? distance : 0;
    }
    values[0] = distance - 1 == (hears[0] & hears[1]);
    arc_agreement_start(agreement, stream, values, ARC_ROLL_VALUES);
    memcpy(agreement->hears, hears, sizeof hears);
    agreement->tells = tells;
}

/*
 * The part of `timeout_ns` for which a rank waits longer: so many parts as there are rounds before
 * this one, of as many as there are rounds.
 */
static int64_t more_time_ns(const arc_agreement_t *agreement, int64_t timeout_ns)
{
    unsigned rounds = 1;

    while (UINT64_C(1) << rounds < agreement->steps.stream->ranks) {
        ++rounds;
    }
    return timeout_ns / rounds * agreement->steps.step;
}

void arc_agreement_give_up(arc_agreement_t *agreement)
{
    /* A send waits, too: Open MPI's first message over TCP, until its receiver answers. */
    agreement->known[0] = agreement->link[NULL != agreement->link[1].receive.handle].peer;
    tell_the_others(agreement);
    arc_task_abort(&agreement->steps.task);
}

arc_status_t arc_agreement_run(arc_agreement_t *agreement, uint64_t *values, const arc_wait_t *wait,
                               unsigned *missing)
{
    arc_wait_t longer = *wait;
    arc_status_t status = ARC_OK;
    unsigned step = 0;

    /* A round that ends in the longer time: the next one has a time limit of its own. */
    do {
        status = arc_wait_run(wait, &agreement->steps.task);
        step = agreement->steps.step;
        if (ARC_ERR_TIMEOUT == status && !is_told(agreement) && step > 0) {
            longer.timeout_ns = more_time_ns(agreement, wait->timeout_ns);
            status = arc_wait_run(&longer, &agreement->steps.task);
        }
    } while (ARC_ERR_TIMEOUT == status && !is_told(agreement) && step != agreement->steps.step);
    if (ARC_ERR_TIMEOUT == status && !is_told(agreement)) {
        arc_agreement_give_up(agreement);
    }
    if (ARC_OK == status) {
        memcpy(values, agreement->known + 1, agreement->bytes - sizeof *values);
    } else {
        *missing = (unsigned) agreement->known[0];
    }
    return status;
}
