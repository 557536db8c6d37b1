/*
 * Ranks in a mesh, the blocks of matrices that they hold, and the steps of strategies on these.
 *
 * A block is a part of a matrix, row by row.  Groups of ranks are sub-communicators of a Cartesian
 * one: those that differ in some axes only, in the order of the mesh.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SHARDING_GRID_H
#define ARC_SHARDING_GRID_H

#include <mpi.h>

#include "strategy.h"

enum { SHARD_SETS_OF_AXES = 1 << SHARD_MAX_AXES };

typedef struct shard_grid {
    const shard_mesh_t *mesh;
    MPI_Comm all;
    MPI_Comm group[SHARD_SETS_OF_AXES]; /* bit a: the ranks along axis a are in it */
} shard_grid_t;

typedef struct shard_block {
    size_t rows;
    size_t columns;
    float *value;
} shard_block_t;

/* MPI_COMM_WORLD has as many ranks as the mesh. */
void shard_grid_init(shard_grid_t *grid, const shard_mesh_t *mesh);
void shard_grid_fini(shard_grid_t *grid);

MPI_Comm shard_grid_group(const shard_grid_t *grid, const shard_axes_t *axes);

/* Which part of a dimension that is cut over `axes` this rank holds. */
unsigned shard_grid_part(const shard_grid_t *grid, const shard_axes_t *axes);

/* Memory for a block; ends the job where there is none. */
shard_block_t shard_block_new(size_t rows, size_t columns);
void shard_block_free(shard_block_t *block);

/* What this rank holds of a matrix of the problem, with the numbers of shard_block_fill. */
shard_block_t shard_grid_block(const shard_grid_t *grid, const shard_problem_t *problem,
                               shard_matrix_t matrix, const shard_layout_t *layout);

/*
 * Whole numbers from -4 to 4 that depend on the matrix and the place in it; the block begins at
 * this row and column.  Sums of up to 2^20 products are exact in a float, in whatever order they
 * are made.
 */
void shard_block_fill(shard_block_t *block, shard_matrix_t matrix, size_t row, size_t column);

/* One step: the block is replaced by what this rank holds afterwards. */
void shard_block_step(const shard_grid_t *grid, const shard_step_t *step, shard_block_t *block);

/* left right, by the BLAS */
shard_block_t shard_block_multiply(const shard_block_t *left, const shard_block_t *right);

#endif
