/*
 * The cost model.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cost.h"

/* Seconds of one rank. */
typedef struct load {
    double compute;
    double fetched;
    double served;
} load_t;

static double max_double(double first, double second)
{
    return first > second ? first : second;
}

static double compute_seconds(const product_t *product, const machine_t *machine)
{
    double flop = 2;
    double bytes = 0;

    for (int dim = 0; dim < DIMS; dim++) {
        flop *= (double) range_length(product->dim[dim]);
    }
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        bytes += (double) (box_elements(product_slice(product, matrix)) * sizeof(float));
    }
    return max_double(flop / machine->flops, bytes / machine->memory);
}

/* A transfer between `rank`, which asks for it, and the owner of a tile in the same replica. */
static void add_transfer(load_t *loads, const layout_t *layout, size_t rank, tile_t tile,
                         size_t elements, const rate_t *rate, cost_t *cost)
{
    const size_t members = layout_members(layout);
    const size_t owner = rank / members * members + layout_owner(layout, tile);
    const double bytes = (double) (elements * sizeof(float));

    loads[rank].fetched += rate->latency + bytes / rate->bytes_per_second;
    if (owner != rank) {
        loads[owner].served += bytes / rate->bytes_per_second;
        cost->tile_bytes += bytes;
    }
}

static bool add_rank(load_t *loads, const problem_t *problem, int stationary, size_t rank,
                     const machine_t *machine, cost_t *cost)
{
    products_t products;
    const bool have_products = products_init(&products, problem, stationary, rank);

    for (size_t i = 0; have_products && i < products.count; i++) {
        const product_t *product = &products.list[i];
        loads[rank].compute += compute_seconds(product, machine);
        for (int matrix = 0; matrix < MATRIX_C; matrix++) {
            if (product->operand[matrix].fetch) {
                add_transfer(loads, &problem->layout[matrix], rank, product->tile[matrix],
                             box_elements(product->operand[matrix].part), &machine->get, cost);
            }
        }
        if (stationary != MATRIX_C && product->last) {
            add_transfer(loads, &problem->layout[MATRIX_C], rank, product->tile[MATRIX_C],
                         box_elements(product_slice(product, MATRIX_C)), &machine->accumulate,
                         cost);
        }
    }
    products_fini(&products);
    return have_products;
}

/* Of an allreduce of what a process has of C. */
static void add_reduce(const layout_t *layout, const machine_t *machine, cost_t *cost)
{
    const double share = 2 * (double) (layout->replication - 1) / (double) layout->replication;
    double largest = 0;

    if (layout->replication == 1) {
        return;
    }
    for (size_t member = 0; member < layout_members(layout); member++) {
        const double bytes = share * (double) (layout_stored(layout, member) * sizeof(float));
        cost->reduce_bytes += bytes * (double) layout->replication;
        largest = max_double(largest, bytes);
    }
    cost->reduce_seconds = machine->reduce.latency + largest / machine->reduce.bytes_per_second;
}

bool cost_predict(const problem_t *problem, int stationary, const machine_t *machine, cost_t *cost)
{
    load_t *loads = calloc(problem->ranks, sizeof *loads);
    cost_t predicted = {0};
    bool done = loads != NULL;

    for (size_t rank = 0; done && rank < problem->ranks; rank++) {
        done = add_rank(loads, problem, stationary, rank, machine, &predicted);
    }
    for (size_t rank = 0; done && rank < problem->ranks; rank++) {
        const double transfer = max_double(loads[rank].fetched, loads[rank].served);
        const double compute = loads[rank].compute;
        const double seconds =
            machine->overlaps ? max_double(compute, transfer) : compute + transfer;
        predicted.seconds = max_double(predicted.seconds, seconds);
    }
    free(loads);
    if (done) {
        add_reduce(&problem->layout[MATRIX_C], machine, &predicted);
        predicted.seconds += predicted.reduce_seconds;
        *cost = predicted;
    }
    return done;
}

bool cost_choose(const problem_t *problem, const machine_t *machine, int *stationary)
{
    double least = 0;
    int best = MATRIX_C;

    /* C first: of equal costs the one without accumulation. */
    for (int matrix = MATRIX_C; matrix >= MATRIX_A; matrix--) {
        cost_t cost;
        if (!cost_predict(problem, matrix, machine, &cost)) {
            return false;
        }
        if (matrix == MATRIX_C || cost.seconds < least) {
            least = cost.seconds;
            best = matrix;
        }
    }
    *stationary = best;
    return true;
}
