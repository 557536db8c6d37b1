/*
 * What an algorithm is: a tree.
 *
 * Every shard of the vector has an owner, the root.  Partial sums climb the tree
 * to the root; the total descends the same tree.  The nodes are numbered so that
 * a parent comes before its children, node 0 is the root:
 *
 *        0                reduce-scatter: nodes N - 1, N - 2, ... 1 send, one after the
 *       / \               other, the sum of their subtree to their parent
 *      1   2
 *     /                   allgather: nodes 1, 2, ... N - 1 receive, one after the
 *    3                    other, the total from their parent
 *
 * `offset` places a node on the ring of ranks.  In the reduce-scatter node u of a
 * shard with owner o is rank o - offset(u), in the allgather rank o + offset(u),
 * modulo N; so both stages send in the same direction.  Each rank is every node
 * exactly once, of another shard each: all ranks do the same work, and with every
 * number u each rank sends one message and receives one.
 *
 * With 2 directions the second half of the vector runs the other way round, with
 * all offsets negated.
 *
 *   error      a shard is quantized once per edge, weighted with the subtree
 *              below; the sum is the sum of the depths of all nodes
 *   latencies  the height of the tree, per stage
 *   volume     (N - 1)/N of the vector per rank and stage, for every tree
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_TREE_H
#define QUANT_TREE_H

typedef struct quant_tree {
    /* Of node 1 .. ranks - 1; less than `node`. */
    unsigned (*parent)(unsigned ranks, unsigned node);

    /* Of node 0 .. ranks - 1: a permutation of 0 .. ranks - 1 with offset(0) = 0. */
    unsigned (*offset)(unsigned ranks, unsigned node);

    unsigned directions; /* 1 or 2 */
} quant_tree_t;

/* The offset of most trees: node u is u places from the root. */
unsigned quant_tree_in_order(unsigned ranks, unsigned node);

/* The parent of node u is node u - 1. */
unsigned quant_tree_chain(unsigned ranks, unsigned node);

/* The first and the last child of a node, `node` itself if it has none; how many it has. */
unsigned quant_tree_first_child(const quant_tree_t *tree, unsigned ranks, unsigned node);
unsigned quant_tree_last_child(const quant_tree_t *tree, unsigned ranks, unsigned node);
unsigned quant_tree_children(const quant_tree_t *tree, unsigned ranks, unsigned node);

/*
 * The largest number of nodes that are open at a time, that is, between themselves
 * and their last child in the order of the numbers: how many partial sums, or
 * totals, of different shards a rank has to keep, over all directions.
 */
unsigned quant_tree_open_max(const quant_tree_t *tree, unsigned ranks);

/* Quantizations of the reduce-scatter, each weighted with its number of contributions. */
double quant_tree_reduce_growth(const quant_tree_t *tree, unsigned ranks);

#endif
