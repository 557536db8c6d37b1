/*
 * Full loop: one ring.  Rank r receives from r - 1 and sends to r + 1.
 *
 * The tree is a chain.  Shard 0 of 4 ranks, whose owner is rank 3; Q encodes, D
 * decodes, T are the bytes of the total:
 *
 *   rank 0   Q(x0) ->                                     D(T), T ->
 *   rank 1         -> Q(D + x1) ->                               -> D(T), T ->
 *   rank 2                      -> Q(D + x2) ->                            -> D(T)
 *   rank 3                                   -> T := Q(D + x3), D(T), T ->
 *            |------------- reduce-scatter ------------|-------- allgather ------|
 *
 *   cost      2 (N - 1) latencies, all traffic between neighbours
 *   error     G = N (N - 1)/2 + N: the partial sum of k ranks is coded for
 *             every k from 1 to N - 1, and then the total
 *   deadlock  none, see exchange_pipeline.h; one vertex is open at a time (exchange_tree.h),
 *             since vertex u is closed by vertex u + 1
 *   use       where neighbours have links of their own; not for many ranks
 *
 * It is the ring allreduce, the full loop of "EQuARX".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "exchange_tree.h"

static unsigned parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex - 1;
}

const exchange_tree_t exchange_full_loop = {
    .parent = parent,
    .offset = exchange_tree_in_order,
    .open = exchange_tree_one_open,
};
