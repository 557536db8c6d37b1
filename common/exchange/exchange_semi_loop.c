/*
 * Semi loop: partial sums come to the owner from both sides, each by half a ring,
 * and the total leaves to both sides.
 *
 * The tree has two chains, the nodes alternate between them.  6 ranks, seen from
 * the owner o; the numbers are nodes:
 *
 *   reduce-scatter   5 --> 3 --> 1 --> 0 <-- 2 <-- 4
 *   rank             o-3   o-2   o-1   o     o+1   o+2
 *
 *   allgather        4 <-- 2 <-- 0 --> 1 --> 3 --> 5
 *   rank             o-2   o-1   o     o+1   o+2   o+3
 *
 * The owner adds the sum from the right (node 2), then that from the left (node 1).
 *
 *   cost      2 ceil((N - 1)/2) latencies, about half of the full loop, for the same
 *             bytes per rank
 *   error     G = N^2/4 + N for even N, (N^2 - 1)/4 + N for odd N: chains of half the
 *             length
 *   deadlock  none, see exchange_pipeline.h; node u is closed by node u + 2, so two nodes
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

static unsigned parent(unsigned ranks, unsigned node)
{
    (void) ranks;
    return node > 2 ? node - 2 : 0;
}

static unsigned children(unsigned ranks, unsigned node)
{
    return (node + 2 < ranks) + (0 == node && ranks > 1);
}

static unsigned child(unsigned ranks, unsigned node, unsigned index)
{
    (void) ranks;
    return 0 == node ? 1 + index : node + 2;
}

/* 0, 1, -1, 2, -2, ... */
static unsigned offset(unsigned ranks, unsigned node)
{
    if (0 == node) {
        return 0;
    }
    return 1 == node % 2 ? (node + 1) / 2 : ranks - node / 2;
}

const exchange_tree_t exchange_semi_loop = {
    .parent = parent,
    .children = children,
    .child = child,
    .offset = offset,
};
