/*
 * Where the tiles of a segment are: for the walks over them, plain (quant_tiles.c)
 * and transformed (quant_transform.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_TILES_H
#define QUANT_TILES_H

#include "quant_format.h"

/* Where one tile begins, and how much there is of it. */
typedef struct quant_tile {
    const quant_format_t *format; /* of the codes: fp32 of a kept tile */
    size_t first;                 /* element */
    size_t rows;                  /* whole rows */
    size_t tail;                  /* elements in one more row that is not whole; 0: there is none */
    size_t scales;                /* offset in the payload, bytes */
    size_t codes;                 /* offset in the payload, bytes */
    size_t tail_codes;            /* offset in the payload, bytes */
    size_t tail_bytes;            /* of the last row on the wire */
} quant_tile_t;

/* The tiles of a segment. */
typedef struct quant_tiles {
    size_t elems;      /* of the segment */
    size_t tile_elems; /* of every tile but the last */
    size_t count;
} quant_tiles_t;

quant_tiles_t quant_tiles_of(size_t elems, unsigned block_rows);

/* Bytes of the payload of these tiles, none of them kept. */
size_t quant_tiles_bytes(const quant_format_t *format, const quant_tiles_t *tiles);

/* As one that is coded. */
quant_tile_t quant_tile_at(const quant_format_t *format, const quant_tiles_t *tiles, size_t index);

/*
 * Where the codes of a tile are that may be kept, one tile after the other; *kept: offset of the
 * next kept tile, in front of tile 0 quant_tiles_bytes().
 */
void quant_tile_find(quant_tile_t *tile, const uint8_t *payload, size_t *kept);

/*
 * Keep a tile, whose numbers are `x`; its largest magnitudes become 0.  False: there is no room,
 * or no scale to tell it by.
 */
bool quant_tile_keep(const quant_tile_t *tile, const float *x, uint32_t absmax[QUANT_LANES],
                     quant_coding_t *coding);

static inline size_t quant_tile_length(const quant_tile_t *tile)
{
    return tile->rows * QUANT_LANES + tile->tail;
}

/*
 * sum = decoded + the tile's part of x for its whole rows, and `last`, 64 floats, the padded sum of
 * its tail, if it has one; absmax: theirs.
 */
void quant_tile_add(const quant_kernels_t *kernels, const quant_tile_t *tile,
                    const uint8_t *payload, const float *x, float *sum, float *last,
                    uint32_t absmax[QUANT_LANES]);

/* *peak = max(*peak, all of absmax). */
static inline void quant_peak_raise(const quant_kernels_t *kernels, uint32_t *peak,
                                    const uint32_t absmax[QUANT_LANES])
{
    const uint32_t most = kernels->peak(absmax);
    *peak = most > *peak ? most : *peak;
}

#endif
