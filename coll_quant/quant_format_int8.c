/*
 * int8: the walk over the tiles of a segment, and its tail.
 *
 *   | scales of tile 0 | scales of tile 1 | ... | row 0 | row 1 | row 2 | ...
 *     64 x 2 bytes                                64 bytes each
 *
 * Only whole rows are on the wire: lanes behind the end of the vector are coded
 * as zeros, in a row of our own, so the kernels know no tails and never read or
 * write behind the caller's last element.
 *
 * Cost: 8 + 16 / block_rows bits per element; one pass to find the scales and
 * one to code, both over a tile that stays in the first-level cache (16 KiB for
 * 64 rows).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "quant_format.h"

enum { SCALES_BYTES = QUANT_LANES * sizeof(uint16_t) };

/* Where one tile begins, and how much there is of it. */
typedef struct tile {
    size_t first;  /* element */
    size_t rows;   /* whole rows */
    size_t tail;   /* elements in one more row that is not whole; 0: there is none */
    size_t scales; /* offset in the payload, bytes */
    size_t codes;  /* offset in the payload, bytes */
} tile_t;

static size_t tiles_of(size_t elems, unsigned block_rows)
{
    return quant_divide_up(elems, (size_t) block_rows * QUANT_LANES);
}

static size_t payload_bytes(size_t elems, unsigned block_rows)
{
    return tiles_of(elems, block_rows) * SCALES_BYTES +
           quant_divide_up(elems, QUANT_LANES) * QUANT_LANES;
}

static tile_t tile_at(size_t index, size_t elems, unsigned block_rows)
{
    size_t tile_elems = (size_t) block_rows * QUANT_LANES;
    size_t first = index * tile_elems;
    size_t here = elems - first < tile_elems ? elems - first : tile_elems;

    return (tile_t){
        .first = first,
        .rows = here / QUANT_LANES,
        .tail = here % QUANT_LANES,
        .scales = index * SCALES_BYTES,
        .codes = tiles_of(elems, block_rows) * SCALES_BYTES + first, /* one byte per element */
    };
}

static bool encode_tile(const quant_kernels_t *kernels, const tile_t *tile, const float *in,
                        uint8_t *payload)
{
    const float *x = in + tile->first;
    const float *x_tail = x + tile->rows * QUANT_LANES;
    int8_t *codes = (int8_t *) payload + tile->codes;
    float padded[QUANT_LANES] = {0};
    uint32_t absmax[QUANT_LANES] = {0};
    uint16_t scale[QUANT_LANES];
    float inverse[QUANT_LANES];

    kernels->absmax(x, tile->rows, absmax);
    if (0 != tile->tail) {
        memcpy(padded, x_tail, tile->tail * sizeof(float));
        kernels->absmax(padded, 1, absmax);
    }
    if (!kernels->int8_scales(absmax, scale, inverse)) {
        return false;
    }
    memcpy(payload + tile->scales, scale, SCALES_BYTES);
    kernels->int8_encode(x, tile->rows, inverse, codes);
    if (0 != tile->tail) {
        kernels->int8_encode(padded, 1, inverse, codes + tile->rows * QUANT_LANES);
    }
    return true;
}

static bool encode(const quant_kernels_t *kernels, const float *in, size_t elems,
                   unsigned block_rows, void *payload)
{
    for (size_t i = 0; i < tiles_of(elems, block_rows); ++i) {
        tile_t tile = tile_at(i, elems, block_rows);
        if (!encode_tile(kernels, &tile, in, payload)) {
            return false;
        }
    }
    return true;
}

static void decode(const quant_kernels_t *kernels, const void *payload, size_t elems,
                   unsigned block_rows, float *out)
{
    for (size_t i = 0; i < tiles_of(elems, block_rows); ++i) {
        tile_t tile = tile_at(i, elems, block_rows);
        size_t whole = tile.rows * QUANT_LANES;
        const int8_t *codes = (const int8_t *) payload + tile.codes;
        uint16_t scale[QUANT_LANES];

        memcpy(scale, (const uint8_t *) payload + tile.scales, SCALES_BYTES);
        kernels->int8_decode(codes, tile.rows, scale, out + tile.first);
        if (0 != tile.tail) {
            float padded[QUANT_LANES];
            kernels->int8_decode(codes + whole, 1, scale, padded);
            memcpy(out + tile.first + whole, padded, tile.tail * sizeof(float));
        }
    }
}

static void decode_add(const quant_kernels_t *kernels, const void *payload, const float *x,
                       size_t elems, unsigned block_rows, float *sum)
{
    for (size_t i = 0; i < tiles_of(elems, block_rows); ++i) {
        tile_t tile = tile_at(i, elems, block_rows);
        size_t whole = tile.rows * QUANT_LANES;
        const int8_t *codes = (const int8_t *) payload + tile.codes;
        uint16_t scale[QUANT_LANES];

        memcpy(scale, (const uint8_t *) payload + tile.scales, SCALES_BYTES);
        kernels->int8_decode_add(codes, tile.rows, scale, x + tile.first, sum + tile.first);
        if (0 != tile.tail) {
            float padded[QUANT_LANES] = {0};
            memcpy(padded, x + tile.first + whole, tile.tail * sizeof(float));
            kernels->int8_decode_add(codes + whole, 1, scale, padded, padded);
            memcpy(sum + tile.first + whole, padded, tile.tail * sizeof(float));
        }
    }
}

const quant_format_t quant_format_int8 = {
    .name = "int8",
    .wire_id = 1,
    .code_max = 127,
    .payload_bytes = payload_bytes,
    .encode = encode,
    .decode = decode,
    .decode_add = decode_add,
};
