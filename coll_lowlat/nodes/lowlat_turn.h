/*
 * What an owner adds when the part of a further node has come (lowlat_order.h): the part to a sum
 * on the other branch of its vertex, if that is there, this sum to the next one, and so on.
 *
 *   places     the partial sums that wait, place_bytes apart
 *   the sum    goes to a place of its own, or after the last turn, which makes the total, anywhere
 *
 * 16-bit floats may be added `widened`: parts and totals have 16 bits, and partial sums are floats.
 * Parts of nodes of a rank each lose nothing when they travel so, and a total is rounded once.  So
 * its bits are those of a sum of floats, for half of the bytes.  The sum of several ranks is a
 * partial one, which would be rounded to travel; so this is not for nodes of several ranks.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_TURN_H
#define LOWLAT_TURN_H

#include "half.h"
#include "lowlat_order.h"

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

/* Of any turn but the last one: the sum goes to the place that the order has for it. */
void lowlat_turn_keep(const lowlat_turn_t *turn);

/* Of the last turn: the total goes to `total`, which is no part. */
void lowlat_turn_end(const lowlat_turn_t *turn, void *total);

#endif
