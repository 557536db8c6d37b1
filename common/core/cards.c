/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cards.h"

typedef struct trade {
    arc_steps_t steps; /* first; one step */
    const arc_cards_t *cards;
} trade_t;

static unsigned begin_trade(arc_steps_t *steps)
{
    const arc_cards_t *cards = ((const trade_t *) steps)->cards;

    for (unsigned i = 0; i < cards->partners && 0 == steps->step; ++i) {
        steps->link[i] = (arc_link_t){
            .peer = cards->rank_of[i],
            .sent = (const unsigned char *) cards->sent + i * cards->card_bytes,
            .sent_bytes = cards->card_bytes,
            .received = (unsigned char *) cards->received + i * cards->card_bytes,
            .received_bytes = cards->card_bytes,
        };
    }
    return 0 == steps->step ? cards->partners : 0;
}

static arc_status_t end_trade(arc_steps_t *steps)
{
    arc_status_t status = ARC_OK;

    for (unsigned i = 0; i < steps->links; ++i) {
        const arc_link_t *link = &steps->link[i];
        status = link->receive.bytes == link->received_bytes ? status : ARC_ERR_PROTOCOL;
    }
    return status;
}

arc_status_t arc_cards_trade(const arc_cards_t *cards, arc_stream_t *stream, const arc_wait_t *wait,
                             unsigned *missing)
{
    static const arc_steps_ops_t ops = {.begin = begin_trade, .end = end_trade};
    trade_t trade = {.cards = cards};
    arc_task_t *task = &trade.steps.task;

    arc_steps_start(&trade.steps, &ops, stream, cards->link);
    const arc_status_t status = arc_wait_run(wait, task);
    for (unsigned i = 0; ARC_ERR_TIMEOUT == status && i < cards->partners; ++i) {
        *missing = task->ops->waits_for(task, cards->rank_of[i]) ? cards->rank_of[i] : *missing;
    }
    if (ARC_ERR_TIMEOUT == status) {
        arc_task_abort(task);
    }
    return status;
}
