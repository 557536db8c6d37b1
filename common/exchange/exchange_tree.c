/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "exchange_tree.h"

unsigned exchange_tree_in_order(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex;
}

unsigned exchange_tree_one_open(unsigned nodes, unsigned per_node)
{
    return nodes * per_node > 1;
}

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

/* How far vertex `node` is from the root. */
static unsigned walk_up(const exchange_tree_t *tree, unsigned nodes, unsigned node)
{
    unsigned steps = 0;

    for (; 0 != node; node = tree->parent(nodes, node)) {
        ++steps;
    }
    return steps;
}

double exchange_tree_reduce_growth(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    /* Without this memory a chain takes N^2/2 steps instead of N. */
    unsigned *depth_of = calloc(shape->nodes, sizeof *depth_of);
    double depths = 0;

    for (unsigned node = 1; node < shape->nodes; ++node) {
        if (NULL == depth_of) {
            depths += walk_up(tree, shape->nodes, node);
        } else {
            depth_of[node] = 1 + depth_of[tree->parent(shape->nodes, node)];
            depths += depth_of[node];
        }
    }
    free(depth_of);
    return depths * shape->per_node;
}
