/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cost.h"

/* A transfer between `rank`, which asks for it, and the owner of a tile in the same replica. */
static void add_transfer(const layout_t *layout, size_t rank, tile_t tile, size_t elements,
                         cost_t *cost)
{
    if (layout_owner(layout, tile) != rank % layout_members(layout)) {
        cost->tile_bytes += (double) (elements * sizeof(float));
    }
}

static bool add_rank(const problem_t *problem, int stationary, size_t rank, cost_t *cost)
{
    products_t products;
    const bool have_products = products_init(&products, problem, stationary, rank);

    for (size_t i = 0; have_products && i < products.count; i++) {
        const product_t *product = &products.list[i];
        for (int matrix = 0; matrix < MATRIX_C; matrix++) {
            if (product->operand[matrix].fetch) {
                add_transfer(&problem->layout[matrix], rank, product->tile[matrix],
                             box_elements(product->operand[matrix].part), cost);
            }
        }
        if (stationary != MATRIX_C && product->last) {
            add_transfer(&problem->layout[MATRIX_C], rank, product->tile[MATRIX_C],
                         box_elements(product_slice(product, MATRIX_C)), cost);
        }
    }
    products_fini(&products);
    return have_products;
}

bool cost_predict(const problem_t *problem, int stationary, cost_t *cost)
{
    const layout_t *c = &problem->layout[MATRIX_C];
    cost_t predicted = {0};

    for (size_t rank = 0; rank < problem->ranks; rank++) {
        if (!add_rank(problem, stationary, rank, &predicted)) {
            return false;
        }
    }
    for (size_t member = 0; member < layout_members(c); member++) {
        predicted.reduce_bytes +=
            2 * (double) (c->replication - 1) * (double) (layout_stored(c, member) * sizeof(float));
    }
    *cost = predicted;
    return true;
}
