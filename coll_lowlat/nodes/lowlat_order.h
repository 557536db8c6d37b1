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

#include "half.h"

enum {
    LOWLAT_ORDER_NODES = 128, /* at most */
    LOWLAT_ORDER_OWN = 255,   /* in place of a place: the own part */
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

/* ---- a turn ---- */

/*
 * What an owner adds when the part of a further node has come: the part to a sum
 * on the other branch of its vertex, if that is there, this sum to the next one, and so on.
 *
 *   places     the partial sums that wait, place_bytes apart
 *   the sum    goes to a place of its own, or after the last turn, which makes the total, anywhere
 *
 * 16-bit floats may be added `widened`: parts and totals have 16 bits, and partial sums are floats.
 * Parts of nodes of a rank each lose nothing when they travel so, and a total is rounded once.  So
 * its bits are those of a sum of floats, for half of the bytes.  The sum of several ranks is a
 * partial one, which would be rounded to travel; so this is not for nodes of several ranks.
 */

/* How 16-bit floats are widened, added as floats, and rounded. */
typedef struct lowlat_widened {
    arc_half_t half;
    arc_reduce_fn_t add;
} lowlat_widened_t;

typedef struct lowlat_turn {
    const lowlat_order_t *order;
    unsigned number; /* of the turn */
    size_t count;    /* elements of each part */
    const void *came;
    const void *own;
    unsigned char *places; /* aligned to cache lines; NULL: none is in use */
    size_t place_bytes;
    const arc_reducer_t *reducer;
    const lowlat_widened_t *widened; /* or NULL: `reducer` adds */
} lowlat_turn_t;

/* In the last turn the total goes to `total`, no part; before, NULL: to the order's place. */
void lowlat_turn_add(const lowlat_turn_t *turn, void *total);

#endif
