/*
 * A few bytes from a rank to each of its partners, and from each of them, all at the same time:
 * there is no order that could be wrong.
 *
 *   cost   alpha + P n beta for P partners
 *
 * Partners are each other's.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_CARDS_H
#define ARC_CARDS_H

#include "steps.h"
#include "wait.h"

typedef struct arc_cards {
    unsigned partners;
    const unsigned *rank_of; /* [partners] */
    size_t card_bytes;
    const void *sent; /* [partners] cards */
    void *received;   /* [partners] cards */
    arc_link_t *link; /* [partners], for the messages */
} arc_cards_t;

/*
 * Trade all cards, and give up if a partner's does not come within the time limit.  After
 * ARC_ERR_TIMEOUT *missing is a rank that is awaited.  After any error the stream is dead, and
 * messages that are under way may still use the cards.
 */
arc_status_t arc_cards_trade(const arc_cards_t *cards, arc_stream_t *stream, const arc_wait_t *wait,
                             unsigned *missing) ARC_MUST_CHECK;

#endif
