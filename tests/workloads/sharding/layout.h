/*
 * Arithmetic of layouts: how many parts a dimension has, and which one a rank holds.
 *
 * Pure functions.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SHARDING_LAYOUT_H
#define ARC_SHARDING_LAYOUT_H

#include "notation.h"

/* Ranks on these axes together: the parts of a dimension that is cut over them. */
unsigned shard_axes_ranks(const shard_mesh_t *mesh, const shard_axes_t *axes);

bool shard_axes_equal(const shard_axes_t *left, const shard_axes_t *right);
bool shard_axes_contain(const shard_axes_t *axes, unsigned axis);

/* At a place from 0 to count. */
void shard_axes_insert(shard_axes_t *axes, unsigned place, unsigned axis);
void shard_axes_append(shard_axes_t *axes, unsigned axis);

bool shard_layout_equal(const shard_layout_t *left, const shard_layout_t *right);

/*
 * Which part a rank holds of a dimension that is cut over `axes`.  The ranks are those of a grid of
 * these axes alone, numbered in the order of the mesh as MPI_Cart_sub does, whatever the order of
 * `axes`: on X=2,Y=3 rank 1, (x,y) = (0,1), holds part 1 over XY and part 2 over YX.
 */
unsigned shard_part_of_rank(const shard_mesh_t *mesh, const shard_axes_t *axes, unsigned rank);

/* Rows (0) or columns (1) that a rank holds; 0 where the dimension is not a multiple of the parts.
 */
size_t shard_local_extent(const shard_mesh_t *mesh, const shard_shape_t *shape,
                          shard_matrix_t matrix, const shard_layout_t *layout, unsigned side);

/* Elements that a rank holds; 0 as above. */
size_t shard_local_elements(const shard_mesh_t *mesh, const shard_shape_t *shape,
                            shard_matrix_t matrix, const shard_layout_t *layout);

#endif
