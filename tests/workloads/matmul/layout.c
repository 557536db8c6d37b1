/*
 * Tiles, their bounds, owners and places.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "layout.h"

static size_t min_size(size_t first, size_t second)
{
    return first < second ? first : second;
}

range_t range_overlap(range_t first, range_t second)
{
    const size_t begin = first.begin > second.begin ? first.begin : second.begin;
    const size_t end = min_size(first.end, second.end);

    return (range_t){begin, end > begin ? end : begin};
}

box_t box_overlap(box_t first, box_t second)
{
    return (box_t){{range_overlap(first.side[ROW], second.side[ROW]),
                    range_overlap(first.side[COLUMN], second.side[COLUMN])}};
}

size_t layout_tiles(const layout_t *layout, int side)
{
    return (layout->shape[side] + layout->tile_shape[side] - 1) / layout->tile_shape[side];
}

box_t layout_tile_bounds(const layout_t *layout, tile_t tile)
{
    box_t bounds;

    for (int side = 0; side < SIDES; side++) {
        const size_t begin = tile.index[side] * layout->tile_shape[side];
        bounds.side[side] =
            (range_t){begin, min_size(begin + layout->tile_shape[side], layout->shape[side])};
    }
    return bounds;
}

size_t layout_owner(const layout_t *layout, tile_t tile)
{
    return tile.index[ROW] % layout->grid[ROW] * layout->grid[COLUMN] +
           tile.index[COLUMN] % layout->grid[COLUMN];
}

bool layout_first_tile(const layout_t *layout, size_t member, tile_t *tile)
{
    tile->index[ROW] = member / layout->grid[COLUMN];
    tile->index[COLUMN] = member % layout->grid[COLUMN];
    return tile->index[ROW] < layout_tiles(layout, ROW) &&
           tile->index[COLUMN] < layout_tiles(layout, COLUMN);
}

bool layout_next_tile(const layout_t *layout, tile_t *tile)
{
    tile->index[COLUMN] += layout->grid[COLUMN];
    if (tile->index[COLUMN] >= layout_tiles(layout, COLUMN)) {
        tile->index[COLUMN] %= layout->grid[COLUMN];
        tile->index[ROW] += layout->grid[ROW];
    }
    return tile->index[ROW] < layout_tiles(layout, ROW);
}

/* Rows or columns that the processes of one row or column of the process grid keep. */
static size_t kept_along(const layout_t *layout, int side, size_t coordinate)
{
    const size_t tiles = layout_tiles(layout, side);
    const size_t processes = layout->grid[side];

    if (coordinate >= tiles) {
        return 0;
    }
    const size_t own = (tiles - 1 - coordinate) / processes + 1;
    const bool has_last = (tiles - 1) % processes == coordinate;
    const size_t missing = tiles * layout->tile_shape[side] - layout->shape[side];
    return own * layout->tile_shape[side] - (has_last ? missing : 0);
}

size_t layout_stored(const layout_t *layout, size_t member)
{
    return kept_along(layout, ROW, member / layout->grid[COLUMN]) *
           kept_along(layout, COLUMN, member % layout->grid[COLUMN]);
}

size_t layout_offset(const layout_t *layout, tile_t tile)
{
    const size_t *grid = layout->grid;
    /* Only the last tile of a side is smaller, and none lies behind it. */
    const size_t rows_before = tile.index[ROW] / grid[ROW] * layout->tile_shape[ROW];
    const size_t columns_before = tile.index[COLUMN] / grid[COLUMN] * layout->tile_shape[COLUMN];
    const size_t height = range_length(layout_tile_bounds(layout, tile).side[ROW]);

    return rows_before * kept_along(layout, COLUMN, tile.index[COLUMN] % grid[COLUMN]) +
           height * columns_before;
}
