/*
 * Windows, gets, accumulates, and the sum over replicas.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "matrix.h"

/* Rows of a tile that is wider than they are, as one datatype; one row, or all, is contiguous. */
typedef struct slice {
    MPI_Aint place; /* in the owner's window, in elements */
    int owner;      /* rank */
    int count;
    MPI_Datatype type;
    bool derived;
} slice_t;

void world_init(world_t *world, MPI_Comm comm)
{
    world->comm = comm;
    MPI_Comm_rank(comm, &world->rank);
    MPI_Comm_size(comm, &world->ranks);
    world->replicas = malloc(((size_t) world->ranks + 1) * sizeof *world->replicas);
    if (NULL == world->replicas) {
        fprintf(stderr, "matmul: no memory for %d communicators\n", world->ranks);
        MPI_Abort(comm, EXIT_FAILURE);
    }
    for (int i = 0; i <= world->ranks; i++) {
        world->replicas[i] = MPI_COMM_NULL;
    }
}

void world_fini(world_t *world)
{
    for (int i = 0; i <= world->ranks; i++) {
        if (world->replicas[i] != MPI_COMM_NULL) {
            MPI_Comm_free(&world->replicas[i]);
        }
    }
    free(world->replicas);
}

void matrix_new(matrix_t *matrix, const layout_t *layout, world_t *world)
{
    const size_t members = layout_members(layout);
    MPI_Comm *replicas = &world->replicas[layout->replication];

    *matrix = (matrix_t){.layout = *layout, .world = world};
    matrix->member = (size_t) world->rank % members;
    matrix->local_count = layout_stored(layout, matrix->member);
    if (*replicas == MPI_COMM_NULL) {
        MPI_Comm_split(world->comm, (int) matrix->member, world->rank, replicas);
    }
    matrix->replicas = *replicas;
    /* A rank without tiles has a window, too. */
    const size_t room = matrix->local_count > 0 ? matrix->local_count : 1;
    MPI_Win_allocate((MPI_Aint) (room * sizeof(float)), sizeof(float), MPI_INFO_NULL, world->comm,
                     &matrix->local, &matrix->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, matrix->window);
}

void matrix_free(matrix_t *matrix)
{
    MPI_Win_unlock_all(matrix->window);
    MPI_Win_free(&matrix->window);
}

view_t matrix_tile(const matrix_t *matrix, tile_t tile)
{
    const box_t bounds = layout_tile_bounds(&matrix->layout, tile);

    return (view_t){.data = matrix->local + layout_offset(&matrix->layout, tile),
                    .row = bounds.side[ROW].begin,
                    .column = bounds.side[COLUMN].begin,
                    .leading = range_length(bounds.side[COLUMN])};
}

static slice_t find_slice(matrix_t *matrix, tile_t tile, box_t part)
{
    const layout_t *layout = &matrix->layout;
    const box_t bounds = layout_tile_bounds(layout, tile);
    const size_t width = range_length(bounds.side[COLUMN]);
    const size_t rows = range_length(part.side[ROW]);
    const size_t columns = range_length(part.side[COLUMN]);
    const size_t members = layout_members(layout);
    const size_t replica = (size_t) matrix->world->rank / members;
    slice_t slice = {.owner = (int) (replica * members + layout_owner(layout, tile)),
                     .count = (int) (rows * columns),
                     .type = MPI_FLOAT};

    slice.place = (MPI_Aint) (layout_offset(layout, tile) +
                              (part.side[ROW].begin - bounds.side[ROW].begin) * width +
                              (part.side[COLUMN].begin - bounds.side[COLUMN].begin));
    if (columns < width && rows > 1) {
        MPI_Type_vector((int) rows, (int) columns, (int) width, MPI_FLOAT, &slice.type);
        MPI_Type_commit(&slice.type);
        slice.count = 1;
        slice.derived = true;
    }
    if (slice.owner != matrix->world->rank) {
        matrix->moved_bytes += (double) (rows * columns * sizeof(float));
    }
    return slice;
}

static void free_slice(slice_t *slice)
{
    if (slice->derived) {
        MPI_Type_free(&slice->type);
    }
}

void matrix_get_tile(matrix_t *matrix, tile_t tile, box_t part, float *into, MPI_Request *request)
{
    slice_t slice = find_slice(matrix, tile, part);

    MPI_Rget(into, (int) box_elements(part), MPI_FLOAT, slice.owner, slice.place, slice.count,
             slice.type, matrix->window, request);
    free_slice(&slice);
}

void matrix_accumulate_tile(matrix_t *matrix, tile_t tile, box_t part, const float *from,
                            MPI_Request *request)
{
    slice_t slice = find_slice(matrix, tile, part);

    MPI_Raccumulate(from, (int) box_elements(part), MPI_FLOAT, slice.owner, slice.place,
                    slice.count, slice.type, MPI_SUM, matrix->window, request);
    free_slice(&slice);
}

void matrix_flush(matrix_t *matrix)
{
    MPI_Win_flush_all(matrix->window);
}

void matrix_synchronize(matrix_t *matrix)
{
    MPI_Win_sync(matrix->window);
    MPI_Barrier(matrix->world->comm);
    MPI_Win_sync(matrix->window);
}

void matrix_reduce_replicas(matrix_t *matrix)
{
    if (matrix->layout.replication > 1) {
        MPI_Allreduce(MPI_IN_PLACE, matrix->local, (int) matrix->local_count, MPI_FLOAT, MPI_SUM,
                      matrix->replicas);
    }
}
