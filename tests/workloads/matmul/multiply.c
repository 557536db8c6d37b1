/*
 * Direct execution: for each product the tiles of the next ones are on their way, what is there is
 * multiplied, and sums for tiles of C are accumulated while the next product is computed.
 *
 * Where C stays, a product adds to the tile in place: no other process writes it.  Where A or B
 * stays several processes may add to a tile, so that every sum goes by accumulate, to an own tile,
 * too.
 *
 * Source: Brock and Golin, "Slicing Is All You Need", section 4.2.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "multiply.h"

static float *new_buffer(size_t elements)
{
    return malloc((elements > 0 ? elements : 1) * sizeof(float));
}

static size_t max_size(size_t first, size_t second)
{
    return first > second ? first : second;
}

/* Buffers for the largest of what is to be held in them. */
static bool make_buffers(multiplier_t *multiplier)
{
    size_t elements[MATRICES] = {0};
    bool done = true;

    for (size_t i = 0; i < multiplier->products.count; i++) {
        const product_t *product = &multiplier->products.list[i];
        for (int matrix = 0; matrix < MATRIX_C; matrix++) {
            if (product->operand[matrix].fetch) {
                elements[matrix] =
                    max_size(elements[matrix], box_elements(product->operand[matrix].part));
            }
        }
        elements[MATRIX_C] =
            max_size(elements[MATRIX_C], box_elements(product_slice(product, MATRIX_C)));
    }
    for (int matrix = 0; matrix < MATRIX_C; matrix++) {
        for (int slot = 0; slot < SLOTS; slot++) {
            multiplier->fetched[matrix][slot] = new_buffer(elements[matrix]);
            done = done && multiplier->fetched[matrix][slot] != NULL;
        }
    }
    for (int i = 0; i < 2; i++) {
        multiplier->sums[i] =
            new_buffer(MATRIX_C == multiplier->stationary ? 0 : elements[MATRIX_C]);
        done = done && multiplier->sums[i] != NULL;
    }
    return done;
}

bool multiplier_init(multiplier_t *multiplier, matrix_t *matrix, const problem_t *problem,
                     int stationary)
{
    memset(multiplier, 0, sizeof *multiplier);
    multiplier->matrix = matrix;
    multiplier->stationary = stationary;
    for (int slot = 0; slot < SLOTS; slot++) {
        multiplier->fetching[MATRIX_A][slot] = MPI_REQUEST_NULL;
        multiplier->fetching[MATRIX_B][slot] = MPI_REQUEST_NULL;
    }
    multiplier->sending[0] = multiplier->sending[1] = MPI_REQUEST_NULL;
    return products_init(&multiplier->products, problem, stationary,
                         (size_t) matrix->world->rank) &&
           make_buffers(multiplier);
}

void multiplier_fini(multiplier_t *multiplier)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        free(multiplier->fetched[MATRIX_A][slot]);
        free(multiplier->fetched[MATRIX_B][slot]);
    }
    free(multiplier->sums[0]);
    free(multiplier->sums[1]);
    products_fini(&multiplier->products);
}

static void start_fetches(multiplier_t *multiplier, const product_t *product)
{
    for (int matrix = 0; matrix < MATRIX_C; matrix++) {
        const operand_t *operand = &product->operand[matrix];
        if (operand->fetch) {
            matrix_get_tile(&multiplier->matrix[matrix], product->tile[matrix], operand->part,
                            multiplier->fetched[matrix][operand->slot],
                            &multiplier->fetching[matrix][operand->slot]);
        }
    }
}

/* The tile, or the part of it that was fetched, once it is there. */
static view_t wait_for_operand(multiplier_t *multiplier, const product_t *product, int matrix)
{
    const operand_t *operand = &product->operand[matrix];

    if (operand->local) {
        return matrix_tile(&multiplier->matrix[matrix], product->tile[matrix]);
    }
    MPI_Wait(&multiplier->fetching[matrix][operand->slot], MPI_STATUS_IGNORE);
    return (view_t){.data = multiplier->fetched[matrix][operand->slot],
                    .row = operand->part.side[ROW].begin,
                    .column = operand->part.side[COLUMN].begin,
                    .leading = range_length(operand->part.side[COLUMN])};
}

static void multiply_slices(const product_t *product, const view_t *view, float beta)
{
    const range_t *dim = product->dim;

    cblas_sgemm(
        CblasRowMajor, CblasNoTrans, CblasNoTrans, (int) range_length(dim[DIM_M]),
        (int) range_length(dim[DIM_N]), (int) range_length(dim[DIM_K]), 1,
        view_at(view[MATRIX_A], dim[DIM_M].begin, dim[DIM_K].begin), (int) view[MATRIX_A].leading,
        view_at(view[MATRIX_B], dim[DIM_K].begin, dim[DIM_N].begin), (int) view[MATRIX_B].leading,
        beta, view_at(view[MATRIX_C], dim[DIM_M].begin, dim[DIM_N].begin),
        (int) view[MATRIX_C].leading);
}

/* One product, with the sums in `buffer` unless C stays. */
static void execute(multiplier_t *multiplier, const product_t *product, int buffer)
{
    const box_t slice = product_slice(product, MATRIX_C);
    view_t view[MATRICES];

    for (int matrix = 0; matrix < MATRIX_C; matrix++) {
        view[matrix] = wait_for_operand(multiplier, product, matrix);
    }
    if (MATRIX_C == multiplier->stationary) {
        view[MATRIX_C] = matrix_tile(&multiplier->matrix[MATRIX_C], product->tile[MATRIX_C]);
        multiply_slices(product, view, 1);
        return;
    }
    view[MATRIX_C] = (view_t){.data = multiplier->sums[buffer],
                              .row = slice.side[ROW].begin,
                              .column = slice.side[COLUMN].begin,
                              .leading = range_length(slice.side[COLUMN])};
    MPI_Wait(&multiplier->sending[buffer], MPI_STATUS_IGNORE);
    multiply_slices(product, view, product->first ? 0 : 1);
    if (product->last) {
        matrix_accumulate_tile(&multiplier->matrix[MATRIX_C], product->tile[MATRIX_C], slice,
                               multiplier->sums[buffer], &multiplier->sending[buffer]);
    }
}

double multiplier_run(multiplier_t *multiplier)
{
    const products_t *products = &multiplier->products;
    matrix_t *c = &multiplier->matrix[MATRIX_C];
    size_t fetched = 0;
    int buffer = 0;

    memset(c->local, 0, c->local_count * sizeof(float));
    matrix_synchronize(c); /* no sum comes before the zero */
    for (size_t i = 0; i < products->count; i++) {
        for (; fetched <= i + PREFETCH && fetched < products->count; fetched++) {
            start_fetches(multiplier, &products->list[fetched]);
        }
        execute(multiplier, &products->list[i], buffer);
        buffer ^= products->list[i].last ? 1 : 0;
    }
    MPI_Waitall(2, multiplier->sending, MPI_STATUSES_IGNORE);
    matrix_flush(c);
    matrix_synchronize(c); /* all sums are there */
    const double begin = MPI_Wtime();
    matrix_reduce_replicas(c);
    return MPI_Wtime() - begin;
}
