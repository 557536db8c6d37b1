/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_tree.h"

unsigned quant_tree_in_order(unsigned ranks, unsigned node)
{
    (void) ranks;
    return node;
}

unsigned quant_tree_chain(unsigned ranks, unsigned node)
{
    (void) ranks;
    return node - 1;
}

quant_pair_t quant_tree_pair(const quant_shape_t *shape, unsigned node)
{
    const unsigned p = shape->per_machine;

    if (0 == node) {
        return (quant_pair_t){.machine = 0, .place = 0};
    }
    const unsigned machine = 1 + (node - 1) / p;
    const unsigned in_turn = (node - 1) % p;
    if (machine == shape->machines) {
        /* The leaves of the last machine have no next one before them. */
        return (quant_pair_t){.machine = machine - 1, .place = in_turn + 1};
    }
    return (quant_pair_t){.machine = 0 == in_turn ? machine : machine - 1, .place = in_turn};
}

/* The number of (machine, 0). */
static unsigned head(const quant_shape_t *shape, unsigned machine)
{
    return 0 == machine ? 0 : 1 + (machine - 1) * shape->per_machine;
}

quant_pair_t quant_tree_offset(const quant_tree_t *tree, const quant_shape_t *shape, unsigned node)
{
    const quant_pair_t pair = quant_tree_pair(shape, node);

    return (quant_pair_t){.machine = tree->offset(shape->machines, pair.machine),
                          .place = pair.place};
}

unsigned quant_tree_parent(const quant_tree_t *tree, const quant_shape_t *shape, unsigned node)
{
    const quant_pair_t pair = quant_tree_pair(shape, node);

    return head(shape,
                0 != pair.place ? pair.machine : tree->parent(shape->machines, pair.machine));
}

unsigned quant_tree_first_child(const quant_tree_t *tree, const quant_shape_t *shape, unsigned node)
{
    for (unsigned child = node + 1; child < quant_shape_ranks(shape); ++child) {
        if (node == quant_tree_parent(tree, shape, child)) {
            return child;
        }
    }
    return node;
}

unsigned quant_tree_last_child(const quant_tree_t *tree, const quant_shape_t *shape, unsigned node)
{
    for (unsigned child = quant_shape_ranks(shape) - 1; child > node; --child) {
        if (node == quant_tree_parent(tree, shape, child)) {
            return child;
        }
    }
    return node;
}

unsigned quant_tree_children(const quant_tree_t *tree, const quant_shape_t *shape, unsigned node)
{
    unsigned children = 0;

    for (unsigned child = node + 1; child < quant_shape_ranks(shape); ++child) {
        children += node == quant_tree_parent(tree, shape, child);
    }
    return children;
}

unsigned quant_tree_open_max(const quant_tree_t *tree, const quant_shape_t *shape)
{
    unsigned open = 0;
    unsigned most = 0;

    for (unsigned node = 0; node < quant_shape_ranks(shape); ++node) {
        if (node > 0) {
            unsigned parent = quant_tree_parent(tree, shape, node);
            open -= node == quant_tree_last_child(tree, shape, parent);
        }
        open += node != quant_tree_last_child(tree, shape, node);
        most = open > most ? open : most;
    }
    return most;
}

double quant_tree_reduce_growth(const quant_tree_t *tree, const quant_shape_t *shape)
{
    double depths = 0;

    for (unsigned machine = 1; machine < shape->machines; ++machine) {
        for (unsigned above = machine; 0 != above; above = tree->parent(shape->machines, above)) {
            depths += 1;
        }
    }
    return depths * shape->per_machine;
}
