/*
 * Arithmetic of layouts.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "layout.h"

unsigned shard_axes_ranks(const shard_mesh_t *mesh, const shard_axes_t *axes)
{
    unsigned ranks = 1;

    for (unsigned i = 0; i < axes->count; ++i) {
        ranks *= mesh->ranks[axes->axis[i]];
    }
    return ranks;
}

bool shard_axes_equal(const shard_axes_t *left, const shard_axes_t *right)
{
    bool equal = left->count == right->count;

    for (unsigned i = 0; equal && i < left->count; ++i) {
        equal = left->axis[i] == right->axis[i];
    }
    return equal;
}

bool shard_axes_contain(const shard_axes_t *axes, unsigned axis)
{
    for (unsigned i = 0; i < axes->count; ++i) {
        if (axes->axis[i] == axis) {
            return true;
        }
    }
    return false;
}

void shard_axes_insert(shard_axes_t *axes, unsigned place, unsigned axis)
{
    for (unsigned i = axes->count; i > place; --i) {
        axes->axis[i] = axes->axis[i - 1];
    }
    axes->axis[place] = axis;
    axes->count++;
}

void shard_axes_append(shard_axes_t *axes, unsigned axis)
{
    shard_axes_insert(axes, axes->count, axis);
}

bool shard_layout_equal(const shard_layout_t *left, const shard_layout_t *right)
{
    return shard_axes_equal(&left->cut[0], &right->cut[0]) &&
           shard_axes_equal(&left->cut[1], &right->cut[1]) &&
           shard_axes_equal(&left->unreduced, &right->unreduced);
}

unsigned shard_part_of_rank(const shard_mesh_t *mesh, const shard_axes_t *axes, unsigned rank)
{
    unsigned coordinate[SHARD_MAX_AXES] = {0};
    unsigned part = 0;

    for (unsigned axis = mesh->axes; axis-- > 0;) {
        if (shard_axes_contain(axes, axis)) {
            coordinate[axis] = rank % mesh->ranks[axis];
            rank /= mesh->ranks[axis];
        }
    }
    for (unsigned i = 0; i < axes->count; ++i) {
        part = part * mesh->ranks[axes->axis[i]] + coordinate[axes->axis[i]];
    }
    return part;
}

size_t shard_local_extent(const shard_mesh_t *mesh, const shard_shape_t *shape,
                          shard_matrix_t matrix, const shard_layout_t *layout, unsigned side)
{
    const size_t extent = shape->extent[shard_dimension_of[matrix][side]];
    const unsigned parts = shard_axes_ranks(mesh, &layout->cut[side]);

    return 0 == extent % parts ? extent / parts : 0;
}

size_t shard_local_elements(const shard_mesh_t *mesh, const shard_shape_t *shape,
                            shard_matrix_t matrix, const shard_layout_t *layout)
{
    return shard_local_extent(mesh, shape, matrix, layout, 0) *
           shard_local_extent(mesh, shape, matrix, layout, 1);
}
