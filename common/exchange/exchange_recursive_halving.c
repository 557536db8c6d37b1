/*
 * Recursive halving and doubling: partial sums travel distances of N/2, N/4, ... 1,
 * totals 1, 2, ... N/2; any N.
 *
 * The tree is binomial: the parent of a vertex lacks its highest bit.  8 ranks,
 * vertices as distances from the owner o, who is 0:
 *
 *   4 --> 0    5 --> 1    6 --> 2    7 --> 3      over 4 ranks, half of the vector
 *   2 --> 0    3 --> 1                            over 2 ranks, a quarter
 *   1 --> 0                                       over 1 rank, an eighth
 *
 * and the total the other way.  A rank is every vertex, of another shard each; seen
 * from it, it first sends the sums of N/2 shards over N/2 ranks and receives N/2,
 * then N/4, and so on: recursive halving, then doubling, on the circle of ranks
 * instead of on the bits of the rank.  So ranks need not be a power of two, no
 * neighbours are folded in first, and no byte is sent more than in a ring.  Other
 * N than powers of two just lack the vertices from N on.
 *
 *   cost      2 ceil(log2 N) latencies, the same bytes per rank as a ring
 *   error     G = (N/2) log2 N + N for powers of two; in general the sum of the bits
 *             that are set in 1 .. N - 1, plus N
 *   deadlock  none, see exchange_pipeline.h; up to N/2 vertices are open
 *   memory    so a rank keeps N/2 sums and totals: half of the vector, like every
 *             recursive halving, but of one window of segments only
 *   use       many ranks and vectors that are not long: few latencies, few peers
 *
 * Source: recursive halving and doubling (Rabenseifner's allreduce); on a circle
 * as in the allgather of Bruck and others.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "exchange_tree.h"

static unsigned parent(unsigned ranks, unsigned vertex)
{
    unsigned highest = 1;

    (void) ranks;
    while (highest <= vertex / 2) {
        highest *= 2;
    }
    return vertex - highest;
}

/*
 * The parents of the vertices whose highest bit is b are 0, 1, ..., all open before the first of
 * these vertices.  There are b of them, of the last b perhaps fewer than of the one before.
 */
static unsigned open(unsigned ranks, unsigned per_node)
{
    (void) per_node;
    const unsigned highest = ranks > 1 ? ranks - 1 - parent(ranks, ranks - 1) : 1;
    const unsigned last = ranks - highest;

    return last > highest / 2 ? last : highest / 2;
}

const exchange_tree_t exchange_recursive_halving = {
    .parent = parent,
    .offset = exchange_tree_in_order,
    .open = open,
};
