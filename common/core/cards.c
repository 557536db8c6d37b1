/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cards.h"

/* Of a partner's requests. */
enum { SEND, RECEIVE, WAYS };

typedef struct trade {
    arc_task_t task; /* first */
    const arc_cards_t *cards;
    arc_stream_t *stream;
    unsigned done; /* partners whose card has come, and who have ours */
} trade_t;

static arc_status_t start_partner(const trade_t *trade, unsigned partner)
{
    const arc_cards_t *cards = trade->cards;
    arc_stream_t *stream = trade->stream;
    arc_stream_request_t *requests = cards->requests + (size_t) partner * WAYS;
    const size_t at = partner * cards->card_bytes;

    arc_status_t status = stream->ops->receive(stream, cards->rank_of[partner],
                                               (unsigned char *) cards->received + at,
                                               cards->card_bytes, &requests[RECEIVE]);
    if (ARC_OK == status) {
        status = stream->ops->send(stream, cards->rank_of[partner],
                                   (const unsigned char *) cards->sent + at, cards->card_bytes,
                                   &requests[SEND]);
    }
    return status;
}

static arc_status_t finish_partner(const trade_t *trade, unsigned partner)
{
    arc_stream_request_t *requests = trade->cards->requests + (size_t) partner * WAYS;

    arc_status_t status = arc_stream_test(trade->stream, &requests[RECEIVE]);
    if (ARC_OK == status && trade->cards->card_bytes != requests[RECEIVE].bytes) {
        status = ARC_ERR_PROTOCOL;
    }
    return ARC_OK == status ? arc_stream_test(trade->stream, &requests[SEND]) : status;
}

static arc_status_t trade_progress(arc_task_t *base)
{
    trade_t *trade = (trade_t *) base;

    for (; trade->done < trade->cards->partners; ++trade->done, ++trade->task.steps) {
        arc_status_t status = finish_partner(trade, trade->done);
        if (ARC_OK != status) {
            return status;
        }
    }
    return ARC_OK;
}

arc_status_t arc_cards_trade(const arc_cards_t *cards, arc_stream_t *stream, const arc_wait_t *wait,
                             unsigned *missing)
{
    static const arc_task_ops_t ops = {.progress = trade_progress};
    trade_t trade = {.task = {.ops = &ops}, .cards = cards, .stream = stream};
    arc_status_t status = ARC_OK;

    for (unsigned i = 0; i < cards->partners && ARC_OK == status; ++i) {
        status = start_partner(&trade, i);
    }
    if (ARC_OK == status) {
        status = arc_wait_run(wait, &trade.task);
    }
    if (ARC_ERR_TIMEOUT == status) {
        *missing = cards->rank_of[trade.done];
    }
    for (unsigned i = 0; ARC_OK != status && i < cards->partners * WAYS; ++i) {
        arc_stream_abort(stream, &cards->requests[i]);
    }
    return status;
}
