/*
 * How a matrix is cut into tiles, and which process holds which tile: index arithmetic, no MPI.
 *
 * A tile shape cuts the matrix into a grid of tiles; the last row and column of tiles may be
 * smaller. Tile (i, j) lies on process (i mod gr, j mod gc) of a process grid of gr x gc, as in
 * ScaLAPACK.  So one description covers row and column blocks, 2D blocks and block-cyclic
 * distributions:
 *
 *     8 x 9, tiles of 3 x 4, process grid 2 x 2:      columns 0..3   4..7   8
 *                                           rows 0..2     0           1     0
 *                                                3..5     2           3     2
 *                                                6..7     0           1     0
 *
 * With replication c there are c copies of the matrix, the replicas, each spread over ranks/c
 * processes, its members.  Rank r is member r mod (ranks/c) of replica r div (ranks/c).
 *
 * A member keeps its tiles one behind the other, by rows of tiles; each tile is row-major.
 *
 * Source: Brock and Golin, "Slicing Is All You Need", section 3.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_LAYOUT_H
#define ARC_WORKLOADS_MATMUL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

enum { ROW, COLUMN, SIDES };

/* The indices from begin to end, without end. */
typedef struct range {
    size_t begin;
    size_t end;
} range_t;

/* A submatrix, in indices of the whole matrix. */
typedef struct box {
    range_t side[SIDES];
} box_t;

/* Row and column of a tile in the grid of tiles. */
typedef struct tile {
    size_t index[SIDES];
} tile_t;

typedef struct layout {
    size_t shape[SIDES];      /* elements */
    size_t tile_shape[SIDES]; /* elements, at least 1 */
    size_t grid[SIDES];       /* processes of one replica */
    size_t replication;       /* replicas */
} layout_t;

static inline size_t range_length(range_t range)
{
    return range.end - range.begin;
}

range_t range_overlap(range_t first, range_t second);

static inline size_t box_elements(box_t box)
{
    return range_length(box.side[ROW]) * range_length(box.side[COLUMN]);
}

box_t box_overlap(box_t first, box_t second);

/* Processes of one replica. */
static inline size_t layout_members(const layout_t *layout)
{
    return layout->grid[ROW] * layout->grid[COLUMN];
}

/* How many tiles there are along a side of the matrix. */
size_t layout_tiles(const layout_t *layout, int side);

/* What a tile covers. */
box_t layout_tile_bounds(const layout_t *layout, tile_t tile);

/* The member that holds a tile. */
size_t layout_owner(const layout_t *layout, tile_t tile);

/* The first tile of a member; false if it has none. */
bool layout_first_tile(const layout_t *layout, size_t member, tile_t *tile);

/* From a tile of a member to its next one; false behind the last. */
bool layout_next_tile(const layout_t *layout, tile_t *tile);

/* Elements that a member keeps. */
size_t layout_stored(const layout_t *layout, size_t member);

/* Where a tile begins in what its owner keeps, in elements. */
size_t layout_offset(const layout_t *layout, tile_t tile);

#endif
