/*
 * Semi loop: partial sums come to the owner from both sides, each by half a ring,
 * and the total leaves to both sides.
 *
 * The tree has two chains, the vertices alternate between them.  6 ranks, seen from
 * the owner o; the numbers are vertices:
 *
 *   reduce-scatter   5 --> 3 --> 1 --> 0 <-- 2 <-- 4
 *   rank             o-3   o-2   o-1   o     o+1   o+2
 *
 *   allgather        4 <-- 2 <-- 0 --> 1 --> 3 --> 5
 *   rank             o-2   o-1   o     o+1   o+2   o+3
 *
 * The owner adds the sum from the right (vertex 2), then that from the left (vertex 1).
 *
 *   cost      2 ceil((N - 1)/2) latencies, about half of the full loop, for the same
 *             bytes per rank
 *   error     G = N^2/4 + N for even N, (N^2 - 1)/4 + N for odd N: chains of half the
 *             length
 *   deadlock  none, see exchange_pipeline.h; vertex u is closed by vertex u + 2, so two vertices
 *             are open, for any N
 *   use       instead of the full loop wherever a rank has one port for all its
 *             neighbours, as on a switch: less latency and less error
 *
 * Source: the semi loop of "EQuARX".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "exchange_tree.h"

static unsigned parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex > 2 ? vertex - 2 : 0;
}

static unsigned open(unsigned ranks, unsigned per_node)
{
    (void) per_node;
    return ranks > 3 ? 2 : ranks > 1;
}

/* 0, 1, -1, 2, -2, ... */
static unsigned offset(unsigned ranks, unsigned vertex)
{
    if (0 == vertex) {
        return 0;
    }
    return 1 == vertex % 2 ? (vertex + 1) / 2 : ranks - vertex / 2;
}

const exchange_tree_t exchange_semi_loop = {
    .parent = parent,
    .offset = offset,
    .open = open,
};
