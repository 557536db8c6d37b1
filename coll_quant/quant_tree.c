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

unsigned quant_tree_first_child(const quant_tree_t *tree, unsigned ranks, unsigned node)
{
    for (unsigned child = node + 1; child < ranks; ++child) {
        if (node == tree->parent(ranks, child)) {
            return child;
        }
    }
    return node;
}

unsigned quant_tree_last_child(const quant_tree_t *tree, unsigned ranks, unsigned node)
{
    for (unsigned child = ranks - 1; child > node; --child) {
        if (node == tree->parent(ranks, child)) {
            return child;
        }
    }
    return node;
}

unsigned quant_tree_children(const quant_tree_t *tree, unsigned ranks, unsigned node)
{
    unsigned children = 0;

    for (unsigned child = node + 1; child < ranks; ++child) {
        children += node == tree->parent(ranks, child);
    }
    return children;
}

unsigned quant_tree_open_max(const quant_tree_t *tree, unsigned ranks)
{
    unsigned open = 0;
    unsigned most = 0;

    for (unsigned node = 0; node < ranks; ++node) {
        if (node > 0) {
            unsigned parent = tree->parent(ranks, node);
            open -= node == quant_tree_last_child(tree, ranks, parent);
        }
        open += node != quant_tree_last_child(tree, ranks, node);
        most = open > most ? open : most;
    }
    return most * tree->directions;
}

double quant_tree_reduce_growth(const quant_tree_t *tree, unsigned ranks)
{
    double depths = 0;

    for (unsigned node = 1; node < ranks; ++node) {
        for (unsigned above = node; 0 != above; above = tree->parent(ranks, above)) {
            depths += 1;
        }
    }
    return depths;
}
