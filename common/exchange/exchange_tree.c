/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_tree.h"

unsigned exchange_tree_in_order(unsigned ranks, unsigned node)
{
    (void) ranks;
    return node;
}

exchange_pair_t exchange_tree_pair(const exchange_shape_t *shape, unsigned node)
{
    const unsigned p = shape->per_machine;

    if (0 == node) {
        return (exchange_pair_t){.machine = 0, .place = 0};
    }
    const unsigned machine = 1 + (node - 1) / p;
    const unsigned in_turn = (node - 1) % p;
    if (machine == shape->machines) {
        /* The leaves of the last machine have no next one before them. */
        return (exchange_pair_t){.machine = machine - 1, .place = in_turn + 1};
    }
    return (exchange_pair_t){.machine = 0 == in_turn ? machine : machine - 1, .place = in_turn};
}

/* The number of (machine, 0). */
static unsigned head(const exchange_shape_t *shape, unsigned machine)
{
    return 0 == machine ? 0 : 1 + (machine - 1) * shape->per_machine;
}

exchange_pair_t exchange_tree_offset(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                     unsigned node)
{
    const exchange_pair_t pair = exchange_tree_pair(shape, node);

    return (exchange_pair_t){.machine = tree->offset(shape->machines, pair.machine),
                             .place = pair.place};
}

unsigned exchange_tree_parent(const exchange_tree_t *tree, const exchange_shape_t *shape,
                              unsigned node)
{
    const exchange_pair_t pair = exchange_tree_pair(shape, node);

    return head(shape,
                0 != pair.place ? pair.machine : tree->parent(shape->machines, pair.machine));
}

/* The number of a leaf (machine, place), place > 0. */
static unsigned leaf(const exchange_shape_t *shape, exchange_pair_t pair)
{
    /* Behind the head of the next machine; behind those of the last but one, if there is none. */
    return pair.machine + 1 < shape->machines ? head(shape, pair.machine + 1) + pair.place
                                              : pair.machine * shape->per_machine + pair.place;
}

unsigned exchange_tree_children(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                unsigned node)
{
    const exchange_pair_t pair = exchange_tree_pair(shape, node);

    return 0 != pair.place ? 0
                           : tree->children(shape->machines, pair.machine) + shape->per_machine - 1;
}

unsigned exchange_tree_first_child(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                   unsigned node)
{
    exchange_pair_t pair = exchange_tree_pair(shape, node);
    unsigned first = node;

    if (0 != pair.place) {
        return node;
    }
    if (0 != tree->children(shape->machines, pair.machine)) {
        first = head(shape, tree->child(shape->machines, pair.machine, 0));
    }
    pair.place = 1;
    const bool has_leaf = shape->per_machine > 1;
    return has_leaf && (first == node || leaf(shape, pair) < first) ? leaf(shape, pair) : first;
}

unsigned exchange_tree_last_child(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                  unsigned node)
{
    exchange_pair_t pair = exchange_tree_pair(shape, node);
    const unsigned children = 0 == pair.place ? tree->children(shape->machines, pair.machine) : 0;
    unsigned last = node;

    if (0 != pair.place) {
        return node;
    }
    if (0 != children) {
        last = head(shape, tree->child(shape->machines, pair.machine, children - 1));
    }
    pair.place = shape->per_machine - 1;
    return 0 != pair.place && leaf(shape, pair) > last ? leaf(shape, pair) : last;
}

unsigned exchange_tree_open_max(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    unsigned open = 0;
    unsigned most = 0;

    for (unsigned node = 0; node < exchange_shape_ranks(shape); ++node) {
        if (node > 0) {
            unsigned parent = exchange_tree_parent(tree, shape, node);
            open -= node == exchange_tree_last_child(tree, shape, parent);
        }
        open += node != exchange_tree_last_child(tree, shape, node);
        most = open > most ? open : most;
    }
    return most;
}

double exchange_tree_reduce_growth(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    double depths = 0;

    for (unsigned machine = 1; machine < shape->machines; ++machine) {
        for (unsigned above = machine; 0 != above; above = tree->parent(shape->machines, above)) {
            depths += 1;
        }
    }
    return depths * shape->per_machine;
}
