/*
 * Hierarchical: exact on every node, coded only between nodes.
 *
 * N = n p ranks, p on each of n nodes.  Partial sums go, in fp32, to the rank of the node
 * that has the place of the owner, from there, coded, to the same place of other
 * nodes; totals come back coded and stay so.  The shard of an owner o, 3 nodes of 2 ranks,
 * as (nodes, places) before and behind the owner:
 *
 *   (2,1) --x--> (2,0) --Q(x+x)--> (1,0) --Q(D+x+x)--> o        reduce-scatter; also
 *                (1,1) --x-------> (1,0)                        (0,1) --x--> o
 *
 *   o --T--> (1,0) --T--> (2,0)                                 allgather
 *   o --T--> (0,1)   (1,0) --T--> (1,1)   (2,0) --T--> (2,1)
 *
 * The tree between nodes: the chain of exchange_full_loop.c for up to 4 of them, above the two
 * chains of exchange_semi_loop.c; for the same reasons as among ranks.
 *
 *   cost      the latencies of these for n nodes, and one of the node per stage.  Between
 *             nodes 2 (n - 1)/n of the vector per node, all ranks together, wherever the
 *             ranks are placed: a ring sends 2 (N - 1)/N from each node if ranks are
 *             placed in order, p times as much if they are dealt to the nodes in turn.
 *             On a node (p - 1)/p of the vector per rank in fp32 and as much coded
 *   error     G = p R(n) + N with R(n) of the chain, n (n - 1)/2, or the two chains, n^2/4 or
 *             (n^2 - 1)/4: what is exact costs no error, but a message between nodes has p
 *             contributions for every one of the tree
 *   deadlock  none, see exchange_pipeline.h.  Two vertices of the tree are open: (i, 0), which
 *             has sums from its own node and waits for those of node i + 1 or i + 2, and (i - 1, 0)
 *   use       several ranks on each of several nodes that are joined by one link each
 *
 * The idea is that of hierarchical allreduces in general: fewer bytes where they are dear.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "exchange_tree.h"

/* Up to so many nodes a chain. */
enum { CHAIN_NODES_MAX = 4 };

static const exchange_tree_t *tree_between(unsigned nodes)
{
    return nodes <= CHAIN_NODES_MAX ? &exchange_full_loop : &exchange_semi_loop;
}

static unsigned parent(unsigned nodes, unsigned vertex)
{
    return tree_between(nodes)->parent(nodes, vertex);
}

/* The head of a node, with sums from its own ranks, and the head that it waits for or hangs on. */
static unsigned open(unsigned nodes, unsigned per_node)
{
    return nodes > 1 && per_node > 1 ? 2 : tree_between(nodes)->open(nodes * per_node, 1);
}

static unsigned offset(unsigned nodes, unsigned vertex)
{
    return tree_between(nodes)->offset(nodes, vertex);
}

const exchange_tree_t exchange_hierarchical = {
    .parent = parent,
    .offset = offset,
    .open = open,
    .levels = true,
};
