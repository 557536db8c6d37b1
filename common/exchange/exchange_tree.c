/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "exchange_tree.h"

unsigned exchange_tree_in_order(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex;
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

/* The number of a leaf (node, place), place > 0. */
static unsigned number_of_leaf(const exchange_shape_t *shape, exchange_pair_t pair)
{
    /* Behind the head of the next node; behind those of the last but one, if there is none. */
    return pair.node + 1 < shape->nodes ? number_of_head(shape, pair.node + 1) + pair.place
                                        : pair.node * shape->per_node + pair.place;
}

unsigned exchange_tree_children(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                unsigned vertex)
{
    const exchange_pair_t pair = exchange_tree_pair(shape, vertex);

    return 0 != pair.place ? 0 : tree->children(shape->nodes, pair.node) + shape->per_node - 1;
}

unsigned exchange_tree_first_child(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                   unsigned vertex)
{
    exchange_pair_t pair = exchange_tree_pair(shape, vertex);
    unsigned first = vertex;

    if (0 != pair.place) {
        return vertex;
    }
    if (0 != tree->children(shape->nodes, pair.node)) {
        first = number_of_head(shape, tree->child(shape->nodes, pair.node, 0));
    }
    pair.place = 1;
    const bool has_leaf = shape->per_node > 1;
    return has_leaf && (first == vertex || number_of_leaf(shape, pair) < first)
               ? number_of_leaf(shape, pair)
               : first;
}

unsigned exchange_tree_last_child(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                  unsigned vertex)
{
    exchange_pair_t pair = exchange_tree_pair(shape, vertex);
    const unsigned children = 0 == pair.place ? tree->children(shape->nodes, pair.node) : 0;
    unsigned last = vertex;

    if (0 != pair.place) {
        return vertex;
    }
    if (0 != children) {
        last = number_of_head(shape, tree->child(shape->nodes, pair.node, children - 1));
    }
    pair.place = shape->per_node - 1;
    return 0 != pair.place && number_of_leaf(shape, pair) > last ? number_of_leaf(shape, pair)
                                                                 : last;
}

static unsigned open_max_of(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    unsigned open = 0;
    unsigned most = 0;

    for (unsigned vertex = 0; vertex < exchange_shape_ranks(shape); ++vertex) {
        if (vertex > 0) {
            unsigned parent = exchange_tree_parent(tree, shape, vertex);
            open -= vertex == exchange_tree_last_child(tree, shape, parent);
        }
        open += vertex != exchange_tree_last_child(tree, shape, vertex);
        most = open > most ? open : most;
    }
    return most;
}

unsigned exchange_tree_open_max(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    const unsigned sums = open_max_of(tree, shape);
    const unsigned totals =
        NULL == tree->gather ? sums : open_max_of(exchange_tree_of_totals(tree), shape);

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
