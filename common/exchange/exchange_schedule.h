/*
 * A tree as seen by one rank: whom it sends what, and from whom it receives what,
 * in which round.
 *
 * Rounds 0 .. R - 1, R = 2 (N - 1); the first half reduces, the second gathers.  In
 * every round each rank sends one message and receives one, which the pipeline may send together:
 *
 *   round             vertex that sends (reduce) or receives (gather)
 *   0    .. N - 2     N - 1, N - 2, ... 1
 *   N - 1 .. 2N - 3   1, 2, ... N - 1
 *
 * Rank r owns shard r + 1 (modulo N) of the N shards of the vector.
 *
 * A reduce-scatter by itself is the first half of the rounds, an allgather the second.
 *
 * What a rank sends in a round follows only from what it received in earlier
 * rounds, because parents have smaller numbers than their children.
 *
 * All messages of a round are those of one edge of the tree, each of another shard: if one of them
 * stays on a node (exchange_tree.h), all do.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EXCHANGE_SCHEDULE_H
#define EXCHANGE_SCHEDULE_H

#include <stdbool.h>

#include "exchange_tree.h"

enum { EXCHANGE_AFTER_NOTHING = -1 };

typedef struct exchange_round {
    unsigned send_peer;
    unsigned send_shard;
    int send_after; /* the round whose receive completes what is sent; EXCHANGE_AFTER_NOTHING */

    unsigned receive_peer;
    unsigned receive_shard;
    bool opens;        /* reduce: the first child; the own part goes in with it */
    bool totals;       /* reduce: the last child of the root; the sum is the total */
    unsigned forwards; /* of the total that this receive makes or brings: how often it is sent */
    bool inside;       /* both messages stay on their nodes; not without levels */
} exchange_round_t;

/* R; 0 for one rank. */
unsigned exchange_schedule_rounds(const exchange_shape_t *shape);

/* The node of a rank, and its place there. */
exchange_pair_t exchange_schedule_place(const exchange_shape_t *shape, unsigned rank);

/* Fill round[] with what the rank does in each round; the time grows with their number. */
void exchange_schedule_make(const exchange_tree_t *tree, const exchange_shape_t *shape,
                            unsigned rank, exchange_round_t *round);

/*
 * Doubling, where no rank owns anything: in each step the ranks whose places, in the order by node,
 * differ only in one digit exchange all that they have.  Places are written as numbers whose bases
 * are first the prime factors of the ranks of a node, then those of the nodes.
 */
typedef struct exchange_group {
    unsigned ranks;  /* a prime number; 0: there is no such step */
    unsigned stride; /* from the place of one member to that of the next */
    bool inside;     /* all members are on one node */
} exchange_group_t;

exchange_group_t exchange_schedule_group(const exchange_shape_t *shape, unsigned step);

#endif
