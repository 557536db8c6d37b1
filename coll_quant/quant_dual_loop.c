/*
 * Dual loop: two full loops in opposite directions, half of the vector each.
 *
 *   first half    rank r receives from r - 1 and sends to r + 1
 *   second half   rank r receives from r + 1 and sends to r - 1
 *
 *          ---> 0 ---> 1 ---> 2 ---> 3 --->
 *          <--- 0 <--- 1 <--- 2 <--- 3 <---
 *
 * Every half is cut into N shards; the tree of a shard is the chain of
 * quant_full_loop.c, and the messages of the two directions take turns.
 *
 *   cost      2 (N - 1) latencies; half as many bytes as the full loop for every
 *             direction of a link, so twice as fast where the directions are separate
 *             wires and one of them is the bottleneck
 *   error     that of the full loop, G = N (N - 1)/2 + N
 *   deadlock  none, see quant_pipeline.h; two nodes are open, one per direction
 *   use       rings of links that have both directions for themselves
 *
 * Two counter-rotating rings are how "EQuARX" uses both directions of a torus.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "quant_algos.h"

const quant_tree_t quant_dual_loop = {
    .parent = quant_tree_chain,
    .offset = quant_tree_in_order,
    .directions = 2,
};
