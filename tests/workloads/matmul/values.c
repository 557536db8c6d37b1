/*
 * Fills matrices, and compares a product with that of a single process.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "values.h"

static float make_value(int which, size_t row, size_t column, int kind)
{
    /* splitmix64 */
    uint64_t bits = ((uint64_t) which << 60) + ((uint64_t) row << 30) + column;
    bits = (bits + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    return kind == VALUES_WHOLE ? (float) (bits % 9) - 4
                                : (float) (bits >> 40) / (float) (1 << 23) - 1;
}

static void fill_box(view_t view, box_t box, int which, int kind)
{
    for (size_t row = box.side[ROW].begin; row < box.side[ROW].end; row++) {
        for (size_t column = box.side[COLUMN].begin; column < box.side[COLUMN].end; column++) {
            *view_at(view, row, column) = make_value(which, row, column, kind);
        }
    }
}

void values_fill(matrix_t *matrix, int which, int kind)
{
    tile_t tile;

    for (bool more = layout_first_tile(&matrix->layout, matrix->member, &tile); more;
         more = layout_next_tile(&matrix->layout, &tile)) {
        fill_box(matrix_tile(matrix, tile), layout_tile_bounds(&matrix->layout, tile), which, kind);
    }
}

/* A whole matrix; NULL without memory. */
static float *make_whole(const layout_t *layout, int which, int kind)
{
    const size_t *shape = layout->shape;
    float *data = malloc(shape[ROW] * shape[COLUMN] * sizeof *data);

    if (data != NULL) {
        fill_box((view_t){.data = data, .leading = shape[COLUMN]},
                 (box_t){{{0, shape[ROW]}, {0, shape[COLUMN]}}}, which, kind);
    }
    return data;
}

/* NULL without memory. */
static float *multiply_alone(const problem_t *problem, int kind)
{
    const size_t *shape = problem->layout[MATRIX_A].shape;
    const size_t rows = shape[ROW];
    const size_t inner = shape[COLUMN];
    const size_t columns = problem->layout[MATRIX_B].shape[COLUMN];
    float *a = make_whole(&problem->layout[MATRIX_A], MATRIX_A, kind);
    float *b = make_whole(&problem->layout[MATRIX_B], MATRIX_B, kind);
    float *c = calloc(rows * columns, sizeof *c);

    if (a != NULL && b != NULL && c != NULL) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int) rows, (int) columns,
                    (int) inner, 1, a, (int) inner, b, (int) columns, 0, c, (int) columns);
    } else {
        free(c);
        c = NULL;
    }
    free(a);
    free(b);
    return c;
}

/* Squares of the differences, and of the elements, of this process' tiles. */
static void add_squares(const matrix_t *c, const float *whole, double *squares)
{
    const view_t expected = {.data = (float *) whole, .leading = c->layout.shape[COLUMN]};
    tile_t tile;

    for (bool more = layout_first_tile(&c->layout, c->member, &tile); more;
         more = layout_next_tile(&c->layout, &tile)) {
        const box_t box = layout_tile_bounds(&c->layout, tile);
        const view_t view = matrix_tile(c, tile);
        for (size_t row = box.side[ROW].begin; row < box.side[ROW].end; row++) {
            for (size_t column = box.side[COLUMN].begin; column < box.side[COLUMN].end; column++) {
                const double right = *view_at(expected, row, column);
                const double difference = *view_at(view, row, column) - right;
                squares[0] += difference * difference;
                squares[1] += right * right;
            }
        }
    }
}

double values_error(const matrix_t *c, const problem_t *problem, int kind)
{
    const size_t members = layout_members(&c->layout);
    const size_t replica = (size_t) c->world->rank / members;
    double worst = 0;
    float *whole = multiply_alone(problem, kind);
    int memory = whole != NULL;

    MPI_Allreduce(MPI_IN_PLACE, &memory, 1, MPI_INT, MPI_MIN, c->world->comm);
    for (size_t i = 0; memory && i < c->layout.replication; i++) {
        double squares[2] = {0, 0};
        if (i == replica) {
            add_squares(c, whole, squares);
        }
        MPI_Allreduce(MPI_IN_PLACE, squares, 2, MPI_DOUBLE, MPI_SUM, c->world->comm);
        const double error = sqrt(squares[1] > 0 ? squares[0] / squares[1] : squares[0]);
        /* A NaN is worse than anything. */
        worst = error <= worst ? worst : error;
    }
    free(whole);
    return memory ? worst : -1;
}
