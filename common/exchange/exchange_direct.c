/*
 * Direct: every part goes straight to the owner of its shard, and the owner sends
 * the total straight to everybody.
 *
 * The tree is a star.  Shard of owner o, 4 ranks:
 *
 *   rank o+1   Q(x) --\                                        /--> D(T)
 *   rank o+2   Q(x) ---+--> T := Q(x_o + D + D + D), D(T), T -+---> D(T)
 *   rank o+3   Q(x) --/                                        \--> D(T)
 *
 * The owner adds in the order o, o + 1, o + 2, ...  The traffic is spread: in round
 * t each rank sends to another one, r - t - 1 while reducing and r + t + 1 while
 * gathering, and receives from one.  An owner keeps one sum and one total for each
 * of the W segments of the window, however many ranks there are: parts are added
 * one after the other as they are received, and its slots bound how many are under
 * way.
 *
 *   cost      2 latencies, the same bytes per rank as a ring, N - 1 peers
 *   error     G = (N - 1) + N: each part is coded once, and the total.  Relative
 *             to the result it does not grow with N
 *   deadlock  none, see exchange_pipeline.h; only the root has children: one vertex is open
 *   use       networks in which every rank reaches every other one at full speed;
 *             as long as N - 1 messages of a shard each are not too short
 *
 * exchange_direct_loop is the same for partial sums, so the owner itself adds all parts; its totals
 * go round the full loop, where each rank receives from one other only.
 *
 * Source: the direct ("two-shot", "scatter-reduce-allgather") allreduce.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "exchange_tree.h"

static unsigned parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    (void) vertex;
    return 0;
}

const exchange_tree_t exchange_direct = {
    .parent = parent,
    .offset = exchange_tree_in_order,
    .open = exchange_tree_one_open,
};

const exchange_tree_t exchange_direct_loop = {
    .parent = parent,
    .offset = exchange_tree_in_order,
    .open = exchange_tree_one_open,
    .gather = &exchange_full_loop,
};
