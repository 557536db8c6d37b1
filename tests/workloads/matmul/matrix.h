/*
 * A distributed matrix of floats, whose tiles every rank reads and adds to by one-sided MPI.
 *
 * All ranks keep their tiles in one window of MPI_Win_allocate that is locked for all (passive
 * target) from matrix_new() to matrix_free(), so that matrix_get_tile() and
 * matrix_accumulate_tile() need nobody's help.  Both take the process' own replica.  A slice of a
 * tile that is as wide as the tile is contiguous; others are described to MPI as rows at a
 * distance.
 *
 * Source: Brock and Golin, "Slicing Is All You Need", section 3, table 1.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_MATRIX_H
#define ARC_WORKLOADS_MATMUL_MATRIX_H

#include <mpi.h>

#include "layout.h"

/* All ranks, and for each replication factor the ranks that keep the same tiles: made when first
 * needed, and kept, as a program would. */
typedef struct world {
    MPI_Comm comm;
    int rank;
    int ranks;
    MPI_Comm *replicas; /* [ranks + 1] */
} world_t;

/* Elements of a matrix in memory. */
typedef struct view {
    float *data; /* the element at (row, column) of the matrix */
    size_t row;
    size_t column;
    size_t leading; /* elements from one row to the next */
} view_t;

typedef struct matrix {
    layout_t layout;
    world_t *world;
    size_t member;
    MPI_Win window;
    float *local;       /* the process' tiles */
    size_t local_count; /* elements */
    MPI_Comm replicas;  /* the ranks with the same tiles */
    double moved_bytes; /* to and from other ranks, by gets and accumulates of this rank */
} matrix_t;

void world_init(world_t *world, MPI_Comm comm);
void world_fini(world_t *world);

/* Collective over all ranks, as is matrix_free().  The elements are not set. */
void matrix_new(matrix_t *matrix, const layout_t *layout, world_t *world);
void matrix_free(matrix_t *matrix);

/* Where (row, column) is in a view that has it. */
static inline float *view_at(view_t view, size_t row, size_t column)
{
    return view.data + (row - view.row) * view.leading + (column - view.column);
}

/* A view of a tile of this process. */
view_t matrix_tile(const matrix_t *matrix, tile_t tile);

/* Fetches a part of a tile, row-major, into memory for as many elements; done when the request is.
 */
void matrix_get_tile(matrix_t *matrix, tile_t tile, box_t part, float *into, MPI_Request *request);

/* Adds a row-major slice to a tile, elementwise atomically.  When the request is done the memory
 * may be used again; the sums are there after matrix_flush(). */
void matrix_accumulate_tile(matrix_t *matrix, tile_t tile, box_t part, const float *from,
                            MPI_Request *request);

/* Completes what this rank has accumulated. */
void matrix_flush(matrix_t *matrix);

/* What was stored and accumulated before it, on any rank, is seen after it by all; a barrier. */
void matrix_synchronize(matrix_t *matrix);

/* Adds up all replicas, in all of them: the one allreduce of a multiplication. */
void matrix_reduce_replicas(matrix_t *matrix);

#endif
