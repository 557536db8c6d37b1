/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "exchange_tree.h"

exchange_pair_t exchange_tree_pair(const exchange_shape_t *shape, unsigned vertex)
{
    const unsigned p = shape->per_node;

    if (0 == vertex) {
        return (exchange_pair_t){.node = 0, .place = 0};
    }
    const unsigned node = 1 + (vertex - 1) / p;
    const unsigned in_turn = (vertex - 1) % p;
    if (node == shape->nodes) {
        /* The leaves of the last node have no next one before them. */
        return (exchange_pair_t){.node = node - 1, .place = in_turn + 1};
    }
    return (exchange_pair_t){.node = 0 == in_turn ? node : node - 1, .place = in_turn};
}

/* The number of (node, 0). */
static unsigned number_of_head(const exchange_shape_t *shape, unsigned node)
{
    return 0 == node ? 0 : 1 + (node - 1) * shape->per_node;
}

exchange_pair_t exchange_tree_offset(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                     unsigned vertex)
{
    const exchange_pair_t pair = exchange_tree_pair(shape, vertex);

    return (exchange_pair_t){.node = tree->offset(shape->nodes, pair.node), .place = pair.place};
}

unsigned exchange_tree_parent(const exchange_tree_t *tree, const exchange_shape_t *shape,
                              unsigned vertex)
{
    const exchange_pair_t pair = exchange_tree_pair(shape, vertex);

    return number_of_head(shape,
                          0 != pair.place ? pair.node : tree->parent(shape->nodes, pair.node));
}

unsigned exchange_tree_open_max(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    const unsigned sums = tree->open(shape->nodes, shape->per_node);
    const unsigned totals = exchange_tree_of_totals(tree)->open(shape->nodes, shape->per_node);

    return totals > sums ? totals : sums;
}

double exchange_tree_reduce_growth(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    unsigned *depth_of = calloc(shape->nodes, sizeof *depth_of);
    double depths = NULL == depth_of ? HUGE_VAL : 0;

    for (unsigned node = 1; NULL != depth_of && node < shape->nodes; ++node) {
        depth_of[node] = 1 + depth_of[tree->parent(shape->nodes, node)];
        depths += depth_of[node];
    }
    free(depth_of);
    return depths * shape->per_node;
}

/* ---- the trees ---- */

/* The offset of most trees: vertex u is u places from the root. */
static unsigned in_order(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex;
}

/* `open` of trees in which each vertex but the root is closed by the next one, or has no child. */
static unsigned one_open(unsigned nodes, unsigned per_node)
{
    return nodes * per_node > 1;
}

/*
 * The shapes, costs and errors of the trees are in docs/algorithms_quant.md, with pictures.  Here
 * is how many vertices are open at a time, on which the buffers rest (exchange_pipeline.h).
 */

/* Full loop, a chain, which is the ring of "EQuARX": vertex u is closed by vertex u + 1. */
static unsigned chain_parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex - 1;
}

const exchange_tree_t exchange_full_loop = {
    .parent = chain_parent,
    .offset = in_order,
    .open = one_open,
};

/* Semi loop of "EQuARX", two chains between which the vertices alternate: u is closed by u + 2. */
static unsigned chains_parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex > 2 ? vertex - 2 : 0;
}

static unsigned chains_open(unsigned ranks, unsigned per_node)
{
    (void) per_node;
    return ranks > 3 ? 2 : ranks > 1;
}

/* 0, 1, -1, 2, -2, ... */
static unsigned chains_offset(unsigned ranks, unsigned vertex)
{
    if (0 == vertex) {
        return 0;
    }
    return 1 == vertex % 2 ? (vertex + 1) / 2 : ranks - vertex / 2;
}

const exchange_tree_t exchange_semi_loop = {
    .parent = chains_parent,
    .offset = chains_offset,
    .open = chains_open,
};

/*
 * Direct ("two-shot"), a star: only the root has children.  exchange_direct_loop is the same for
 * partial sums, so that the owner itself adds all parts; its totals go round the full loop, where
 * each rank receives from one other only.
 */
static unsigned star_parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    (void) vertex;
    return 0;
}

const exchange_tree_t exchange_direct = {
    .parent = star_parent,
    .offset = in_order,
    .open = one_open,
};

const exchange_tree_t exchange_direct_loop = {
    .parent = star_parent,
    .offset = in_order,
    .open = one_open,
    .gather = &exchange_full_loop,
};

/*
 * Recursive halving and doubling, a binomial tree: the offset of a parent lacks the lowest bit.  So
 * half of the vector goes to the next rank and least of it to the farthest, over links that many
 * share in networks of several levels.  Source: Rabenseifner's allreduce; on a circle as in the
 * allgather of Bruck and others.
 *
 * Vertices are numbered by that bit, those of the highest first.
 */
static unsigned binomial_before(unsigned ranks, unsigned bit)
{
    return 1 + (ranks - 1) / (2 * bit);
}

static unsigned binomial_bit(unsigned ranks, unsigned vertex)
{
    unsigned bit = 1;

    while (vertex < binomial_before(ranks, bit)) {
        bit *= 2;
    }
    return bit;
}

static unsigned binomial_offset(unsigned ranks, unsigned vertex)
{
    if (0 == vertex) {
        return 0;
    }
    const unsigned bit = binomial_bit(ranks, vertex);
    return (2 * (vertex - binomial_before(ranks, bit)) + 1) * bit;
}

static unsigned binomial_parent(unsigned ranks, unsigned vertex)
{
    const unsigned offset = binomial_offset(ranks, vertex);
    const unsigned above = offset & (offset - 1);
    const unsigned bit = above & -above;

    return 0 == above ? 0 : binomial_before(ranks, bit) + above / (2 * bit);
}

/* All that have a next rank, before the vertices of bit 1. */
static unsigned binomial_open(unsigned ranks, unsigned per_node)
{
    (void) per_node;
    return ranks / 2;
}

const exchange_tree_t exchange_recursive_halving = {
    .parent = binomial_parent,
    .offset = binomial_offset,
    .open = binomial_open,
};

/*
 * Hierarchical: exact on every node, coded only between nodes, where the tree is that of a loop, or
 * on many nodes that of recursive halving, which sends few messages where ranks add up in shared
 * memory.  At most two vertices are open beside those that the tree between nodes has open, with
 * chains no others: the head of a node, which has sums of its own ranks, and the one that it waits
 * for or hangs on.
 */

/* Up to so many nodes a chain. */
enum { CHAIN_NODES_MAX = 4 };

static const exchange_tree_t *tree_between(unsigned nodes)
{
    return nodes <= CHAIN_NODES_MAX    ? &exchange_full_loop
           : exchange_packs_pay(nodes) ? &exchange_recursive_halving
                                       : &exchange_semi_loop;
}

static unsigned node_parent(unsigned nodes, unsigned vertex)
{
    return tree_between(nodes)->parent(nodes, vertex);
}

/* With loops only heads (above); with recursive halving one or two more than there are. */
static unsigned node_open(unsigned nodes, unsigned per_node)
{
    enum { HEADS = 2 };

    if (1 == nodes || 1 == per_node) {
        return tree_between(nodes)->open(nodes * per_node, 1);
    }
    return HEADS + (exchange_packs_pay(nodes) ? tree_between(nodes)->open(nodes, 1) : 0);
}

static unsigned node_offset(unsigned nodes, unsigned vertex)
{
    return tree_between(nodes)->offset(nodes, vertex);
}

const exchange_tree_t exchange_hierarchical = {
    .parent = node_parent,
    .offset = node_offset,
    .open = node_open,
    .levels = true,
};
