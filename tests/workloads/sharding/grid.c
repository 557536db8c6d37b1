/*
 * Blocks of matrices on a mesh of ranks.
 *
 * A collective passes blocks of one group of ranks on in the order of the ranks, packed one after
 * the other; which part of the matrix a rank's block is goes by the order of the step's axes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "grid.h"

#include <cblas.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

void shard_grid_init(shard_grid_t *grid, const shard_mesh_t *mesh)
{
    int ranks[SHARD_MAX_AXES];
    const int periods[SHARD_MAX_AXES] = {1, 1, 1};

    for (unsigned axis = 0; axis < mesh->axes; ++axis) {
        ranks[axis] = (int) mesh->ranks[axis];
    }
    grid->mesh = mesh;
    MPI_Cart_create(MPI_COMM_WORLD, (int) mesh->axes, ranks, periods, 0, &grid->all);
    for (unsigned set = 0; set < SHARD_SETS_OF_AXES; ++set) {
        int remain[SHARD_MAX_AXES];
        for (unsigned axis = 0; axis < SHARD_MAX_AXES; ++axis) {
            remain[axis] = 0 != (set & 1U << axis);
        }
        grid->group[set] = MPI_COMM_NULL;
        if (set < 1U << mesh->axes) {
            MPI_Cart_sub(grid->all, remain, &grid->group[set]);
        }
    }
}

void shard_grid_fini(shard_grid_t *grid)
{
    for (unsigned set = 0; set < 1U << grid->mesh->axes; ++set) {
        MPI_Comm_free(&grid->group[set]);
    }
    MPI_Comm_free(&grid->all);
}

MPI_Comm shard_grid_group(const shard_grid_t *grid, const shard_axes_t *axes)
{
    unsigned set = 0;

    for (unsigned i = 0; i < axes->count; ++i) {
        set |= 1U << axes->axis[i];
    }
    return grid->group[set];
}

unsigned shard_grid_part(const shard_grid_t *grid, const shard_axes_t *axes)
{
    int rank = 0;

    MPI_Comm_rank(shard_grid_group(grid, axes), &rank);
    return shard_part_of_rank(grid->mesh, axes, (unsigned) rank);
}

shard_block_t shard_block_new(size_t rows, size_t columns)
{
    shard_block_t block = {rows, columns, malloc(rows * columns * sizeof(float))};

    if (NULL == block.value) {
        fprintf(stderr, "sharding: no memory for %zu x %zu floats; take smaller matrices\n", rows,
                columns);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return block;
}

void shard_block_free(shard_block_t *block)
{
    free(block->value);
    block->value = NULL;
}

void shard_block_fill(shard_block_t *block, shard_matrix_t matrix, size_t row, size_t column)
{
    enum { VALUES = 9 };

    for (size_t i = 0; i < block->rows; ++i) {
        for (size_t j = 0; j < block->columns; ++j) {
            /* Knuth's multiplicative hash, twice; its high bits are the good ones. */
            uint32_t hash = (uint32_t) (row + i) * 2654435761U + (uint32_t) matrix;
            hash = (hash ^ hash >> 15 ^ (uint32_t) (column + j)) * 2654435761U;
            block->value[i * block->columns + j] = (float) ((hash >> 16) % VALUES) - VALUES / 2;
        }
    }
}

shard_block_t shard_grid_block(const shard_grid_t *grid, const shard_problem_t *problem,
                               shard_matrix_t matrix, const shard_layout_t *layout)
{
    size_t extent[2];
    size_t begin[2];

    for (unsigned side = 0; side < 2; ++side) {
        extent[side] = shard_local_extent(&problem->mesh, &problem->shape, matrix, layout, side);
        begin[side] = extent[side] * shard_grid_part(grid, &layout->cut[side]);
    }
    shard_block_t block = shard_block_new(extent[0], extent[1]);
    shard_block_fill(&block, matrix, begin[0], begin[1]);
    return block;
}

/* ---- parts of a block ---- */

typedef enum direction { FROM_BLOCK, INTO_BLOCK } direction_t;

/* Copy part `part` of `parts` of the rows or columns between a block and packed memory. */
static void copy_part(shard_block_t *block, unsigned side, unsigned part, unsigned parts,
                      float *packed, direction_t direction)
{
    const size_t rows = 0 == side ? block->rows / parts : block->rows;
    const size_t columns = 1 == side ? block->columns / parts : block->columns;
    float *first = block->value + (0 == side ? part * rows * columns : part * columns);

    for (size_t row = 0; row < rows; ++row) {
        float *in_block = first + row * block->columns;
        float *in_packed = packed + row * columns;
        memcpy(INTO_BLOCK == direction ? in_block : in_packed,
               INTO_BLOCK == direction ? in_packed : in_block, columns * sizeof(float));
    }
}

/* All parts, in the order of the ranks of the group. */
static void copy_parts(const shard_grid_t *grid, const shard_axes_t *axes, shard_block_t *block,
                       unsigned side, float *packed, direction_t direction)
{
    const unsigned parts = shard_axes_ranks(grid->mesh, axes);
    const size_t elements = block->rows * block->columns / parts;

    for (unsigned rank = 0; rank < parts; ++rank) {
        copy_part(block, side, shard_part_of_rank(grid->mesh, axes, rank), parts,
                  packed + rank * elements, direction);
    }
}

/* Of the size of `block`, `grown` times as many rows or columns or as small a part of them. */
static shard_block_t make_room(const shard_block_t *block, unsigned side, unsigned grown,
                               unsigned shrunk)
{
    return 0 == side ? shard_block_new(block->rows * grown / shrunk, block->columns)
                     : shard_block_new(block->rows, block->columns * grown / shrunk);
}

static void replace(shard_block_t *block, shard_block_t *by)
{
    shard_block_free(block);
    *block = *by;
}

/* ---- steps ---- */

static int count_of(const shard_block_t *block)
{
    return (int) (block->rows * block->columns);
}

static void slice(const shard_grid_t *grid, const shard_step_t *step, shard_block_t *block)
{
    const unsigned parts = shard_axes_ranks(grid->mesh, &step->axes);
    shard_block_t kept = make_room(block, step->to, 1, parts);

    copy_part(block, step->to, shard_grid_part(grid, &step->axes), parts, kept.value, FROM_BLOCK);
    replace(block, &kept);
}

static void allgather(const shard_grid_t *grid, const shard_step_t *step, shard_block_t *block)
{
    const unsigned parts = shard_axes_ranks(grid->mesh, &step->axes);
    shard_block_t whole = make_room(block, step->from, parts, 1);
    shard_block_t packed = make_room(block, step->from, parts, 1);

    MPI_Allgather(block->value, count_of(block), MPI_FLOAT, packed.value, count_of(block),
                  MPI_FLOAT, shard_grid_group(grid, &step->axes));
    copy_parts(grid, &step->axes, &whole, step->from, packed.value, INTO_BLOCK);
    shard_block_free(&packed);
    replace(block, &whole);
}

static void reduce_scatter(const shard_grid_t *grid, const shard_step_t *step, shard_block_t *block)
{
    const unsigned parts = shard_axes_ranks(grid->mesh, &step->axes);
    shard_block_t packed = shard_block_new(block->rows, block->columns);
    shard_block_t sums = make_room(block, step->to, 1, parts);

    copy_parts(grid, &step->axes, block, step->to, packed.value, FROM_BLOCK);
    MPI_Reduce_scatter_block(packed.value, sums.value, count_of(&sums), MPI_FLOAT, MPI_SUM,
                             shard_grid_group(grid, &step->axes));
    shard_block_free(&packed);
    replace(block, &sums);
}

static void all_to_all(const shard_grid_t *grid, const shard_step_t *step, shard_block_t *block)
{
    const unsigned parts = shard_axes_ranks(grid->mesh, &step->axes);
    shard_block_t sent = shard_block_new(block->rows, block->columns);
    shard_block_t received = shard_block_new(block->rows, block->columns);
    shard_block_t part = make_room(block, step->to, 1, parts);
    shard_block_t result = make_room(&part, step->from, parts, 1);

    copy_parts(grid, &step->axes, block, step->to, sent.value, FROM_BLOCK);
    MPI_Alltoall(sent.value, count_of(&part), MPI_FLOAT, received.value, count_of(&part), MPI_FLOAT,
                 shard_grid_group(grid, &step->axes));
    copy_parts(grid, &step->axes, &result, step->from, received.value, INTO_BLOCK);
    shard_block_free(&part);
    shard_block_free(&received);
    shard_block_free(&sent);
    replace(block, &result);
}

void shard_block_step(const shard_grid_t *grid, const shard_step_t *step, shard_block_t *block)
{
    static void (*const run[SHARD_PRIMITIVES])(const shard_grid_t *, const shard_step_t *,
                                               shard_block_t *) = {
        [SHARD_ALLGATHER] = allgather,
        [SHARD_REDUCE_SCATTER] = reduce_scatter,
        [SHARD_ALL_TO_ALL] = all_to_all,
    };

    if (step->slice) {
        slice(grid, step, block);
    } else if (SHARD_ALLREDUCE == step->primitive) {
        MPI_Allreduce(MPI_IN_PLACE, block->value, count_of(block), MPI_FLOAT, MPI_SUM,
                      shard_grid_group(grid, &step->axes));
    } else {
        run[step->primitive](grid, step, block);
    }
}

shard_block_t shard_block_multiply(const shard_block_t *left, const shard_block_t *right)
{
    shard_block_t product = shard_block_new(left->rows, right->columns);

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int) left->rows, (int) right->columns,
                (int) left->columns, 1, left->value, (int) left->columns, right->value,
                (int) right->columns, 0, product.value, (int) right->columns);
    return product;
}
