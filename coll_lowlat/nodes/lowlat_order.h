/*
 * In which order an owner adds the parts of all nodes, one after the other as they come, so that it
 * makes the sum that recursive doubling makes: one tree over the nodes, whoever the owner is.
 *
 * The tree is that of lowlat_pairing.h, neighbours first; for 6 nodes:
 *
 *              +              Parts come in the order of the nodes behind the owner: to node 1
 *          +       +          those of 2, 3, 4, 5, 0.  The part of 2 is kept until that of 3
 *        +   +    4 5         comes, and 2+3 until that of 0 comes and makes 0+1, and so on.
 *       0 1 2 3
 *
 * A part that came is added to what is on the other branch of its vertex, if that is complete, the
 * sum to what is on the other branch of the vertex above, and so on; what is left waits in a place
 * for partial sums.  No more than 2 log2 N places are in use at a time.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_ORDER_H
#define LOWLAT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LOWLAT_ORDER_NODES = 128, /* at most */
    LOWLAT_ORDER_OWN = 255,  /* in place of a place: the own part */
};

/* Add what is in a place to the sum so far; the place is free then. */
typedef struct lowlat_merge {
    uint8_t with;
    bool with_is_left; /* the left operand is what was in the place */
} lowlat_merge_t;

/* Turn t: the part of the node t + 1 behind the owner comes. */
typedef struct lowlat_order {
    unsigned places;                   /* for partial sums */
    uint8_t first[LOWLAT_ORDER_NODES]; /* merges [first[t], first[t + 1]) are those of turn t */
    lowlat_merge_t merge[LOWLAT_ORDER_NODES - 1];
    /*
     * The place that takes the sum of turn t, or the part alone: no merge of the turn but the first
     * one reads what was there before.  Not of the last turn, which makes the total.
     */
    uint8_t kept[LOWLAT_ORDER_NODES - 1];
} lowlat_order_t;

/* For 2 .. LOWLAT_ORDER_NODES nodes. */
void lowlat_order_init(lowlat_order_t *order, unsigned owner, unsigned nodes);

/* The places that the owner has who needs most. */
unsigned lowlat_order_places(unsigned nodes);

#endif
