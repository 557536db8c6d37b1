/*
 * The walk over the tiles of a segment, and its tail: the same for all formats.
 *
 * The kernels know whole rows only.  The last row, if it is short, goes through
 * rows of our own, so that nothing behind the caller's last element is touched.
 *
 * Cost of encoding: one pass to find the largest magnitudes and one to code,
 * both over a tile that stays in the first-level cache (16 KiB for 64 rows), a larger one in the
 * second; quant_cut.h has more about it.
 * A hop finds them while it adds, so that it is two passes, too.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "quant_tiles.h"
#include "sizes.h"

quant_tiles_t quant_tiles_of(size_t elems, unsigned block_rows)
{
    const size_t tile_elems = quant_tile_elems(block_rows);

    return (quant_tiles_t){
        .elems = elems,
        .tile_elems = tile_elems,
        .count = arc_divide_up(elems, tile_elems),
    };
}

static size_t scales_bytes(const quant_format_t *format)
{
    return format->scaled ? QUANT_SCALES_BYTES : 0;
}

/* An exact format pads nothing: its payload is the elements. */
static size_t codes_bytes(const quant_format_t *format, size_t elems)
{
    return quant_format_is_exact(format)
               ? elems * format->bits / 8
               : arc_divide_up(elems, QUANT_LANES) * quant_row_bytes(format->bits);
}

size_t quant_tiles_bytes(const quant_format_t *format, const quant_tiles_t *tiles)
{
    return tiles->count * scales_bytes(format) + codes_bytes(format, tiles->elems);
}

size_t quant_payload_bytes(const quant_format_t *format, size_t elems, unsigned block_rows)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    return quant_tiles_bytes(format, &tiles);
}

quant_tile_t quant_tile_at(const quant_format_t *format, const quant_tiles_t *tiles, size_t index)
{
    const size_t first = index * tiles->tile_elems;
    const size_t left = tiles->elems - first;
    const size_t here = arc_min(left, tiles->tile_elems);
    const size_t codes = tiles->count * scales_bytes(format) + codes_bytes(format, first);
    const size_t rows = here / QUANT_LANES;

    return (quant_tile_t){
        .format = format,
        .first = first,
        .rows = rows,
        .tail = here % QUANT_LANES,
        .scales = index * scales_bytes(format),
        .codes = codes,
        .tail_codes = codes + rows * quant_row_bytes(format->bits),
        .tail_bytes = codes_bytes(format, here % QUANT_LANES),
    };
}

void quant_tile_find(quant_tile_t *tile, const uint8_t *payload, size_t *kept)
{
    uint16_t scale = 0;

    if (tile->format->scaled) {
        memcpy(&scale, payload + tile->scales, sizeof(scale));
    }
    if (QUANT_KEPT == scale) {
        tile->format = &quant_format_fp32;
        tile->codes = *kept;
        tile->tail_codes = *kept + tile->rows * quant_row_bytes(quant_format_fp32.bits);
        tile->tail_bytes = tile->tail * sizeof(float);
        *kept += quant_tile_length(tile) * sizeof(float);
    }
}

size_t quant_payload_bytes_of(const quant_format_t *format, const void *payload, size_t elems,
                              unsigned block_rows)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    size_t bytes = quant_tiles_bytes(format, &tiles);

    for (size_t i = 0; i < tiles.count && format->scaled; ++i) {
        quant_tile_t tile = quant_tile_at(format, &tiles, i);
        quant_tile_find(&tile, payload, &bytes);
    }
    return bytes;
}

bool quant_tile_keep(const quant_tile_t *tile, const float *x, uint32_t absmax[QUANT_LANES],
                     quant_coding_t *coding)
{
    const size_t bytes = quant_tile_length(tile) * sizeof(float);
    uint8_t *payload = coding->payload;

    if (!tile->format->scaled || coding->bytes + bytes > coding->room) {
        return false;
    }
    memset(payload + tile->scales, (uint8_t) QUANT_KEPT, QUANT_SCALES_BYTES);
    memset(payload + tile->codes, 0, tile->tail_codes - tile->codes + tile->tail_bytes);
    memcpy(payload + coding->bytes, x, bytes);
    coding->bytes += bytes;
    memset(absmax, 0, QUANT_LANES * sizeof(*absmax));
    return true;
}

/* Where the tile behind `tile` begins; at the end, where this one does: it is in the cache. */
static const float *next_tile(const quant_tile_t *tile, const float *x, size_t elems)
{
    const size_t next = tile->first + quant_tile_length(tile);
    return x + (next < elems ? next : tile->first);
}

/*
 * Scales and codes of a tile whose largest magnitudes are known, and are then 0 for the next one;
 * `last` is its padded tail.  False: its format cannot carry it.
 */
static bool code_tile(const quant_kernels_t *kernels, const quant_tile_t *tile,
                      uint32_t absmax[QUANT_LANES], const float *x, const float *last,
                      uint8_t *payload, const float *ahead, uint32_t most[QUANT_LANES])
{
    const quant_format_t *format = tile->format;
    const quant_code_kernels_t *code = &kernels->code[format->code];
    uint8_t unused[QUANT_SCALES_BYTES];
    uint8_t *scale = format->scaled ? payload + tile->scales : unused;
    float inverse[QUANT_LANES];

    if (!kernels->scales(absmax, &format->range, scale, inverse, most)) {
        return false;
    }
    code->encode(x, tile->rows, inverse, payload + tile->codes, ahead);
    if (0 != tile->tail) {
        uint8_t row[QUANT_ROW_BYTES_MAX];
        code->encode(last, 1, inverse, row, last);
        memcpy(payload + tile->tail_codes, row, tile->tail_bytes);
    }
    return true;
}

static bool encode_tile(const quant_kernels_t *kernels, const quant_tile_t *tile, const float *x,
                        const float *ahead, uint32_t absmax[QUANT_LANES],
                        uint32_t most[QUANT_LANES], quant_coding_t *coding)
{
    float padded[QUANT_LANES];

    kernels->absmax(x, tile->rows, absmax);
    if (0 != tile->tail) {
        memset(padded, 0, sizeof(padded));
        memcpy(padded, x + tile->rows * QUANT_LANES, tile->tail * sizeof(float));
        kernels->absmax(padded, 1, absmax);
    }
    return code_tile(kernels, tile, absmax, x, padded, coding->payload, ahead, most) ||
           quant_tile_keep(tile, x, absmax, coding);
}

bool quant_payload_encode(const quant_format_t *format, const quant_kernels_t *kernels,
                          const float *in, size_t elems, unsigned block_rows,
                          quant_coding_t *coding)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    uint32_t most[QUANT_LANES] = {0};
    uint32_t absmax[QUANT_LANES] = {0};

    coding->bytes = quant_tiles_bytes(format, &tiles);
    coding->peak = 0;
    if (quant_format_is_exact(format)) {
        memcpy(coding->payload, in, elems * sizeof(float));
        return true;
    }
    for (size_t i = 0; i < tiles.count; ++i) {
        const quant_tile_t tile = quant_tile_at(format, &tiles, i);
        if (!encode_tile(kernels, &tile, in + tile.first, next_tile(&tile, in, elems), absmax, most,
                         coding)) {
            return false;
        }
    }
    quant_peak_raise(kernels, &coding->peak, most);
    return true;
}

void quant_payload_decode(const quant_format_t *format, const quant_kernels_t *kernels,
                          const void *payload, size_t elems, unsigned block_rows, float *out)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    const uint8_t *bytes = payload;
    size_t kept = quant_tiles_bytes(format, &tiles);

    if (quant_format_is_exact(format)) {
        memcpy(out, payload, elems * sizeof(float));
        return;
    }
    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t tile = quant_tile_at(format, &tiles, i);
        quant_tile_find(&tile, bytes, &kept);
        const quant_code_kernels_t *code = &kernels->code[tile.format->code];
        const uint8_t *scale = bytes + tile.scales;

        code->decode(bytes + tile.codes, tile.rows, scale, out + tile.first);
        if (0 != tile.tail) {
            uint8_t row[QUANT_ROW_BYTES_MAX] = {0};
            float padded[QUANT_LANES];
            memcpy(row, bytes + tile.tail_codes, tile.tail_bytes);
            code->decode(row, 1, scale, padded);
            memcpy(out + tile.first + tile.rows * QUANT_LANES, padded, tile.tail * sizeof(float));
        }
    }
}

void quant_tile_add(const quant_kernels_t *kernels, const quant_tile_t *tile,
                    const uint8_t *payload, const float *x, float *sum, float *last,
                    uint32_t absmax[QUANT_LANES])
{
    const quant_code_kernels_t *code = &kernels->code[tile->format->code];
    const uint8_t *scale = payload + tile->scales;

    code->decode_add(payload + tile->codes, tile->rows, scale, x + tile->first, sum, absmax);
    if (0 != tile->tail) {
        uint8_t row[QUANT_ROW_BYTES_MAX] = {0};
        float padded[QUANT_LANES] = {0};
        memcpy(row, payload + tile->tail_codes, tile->tail_bytes);
        memcpy(padded, x + tile->first + tile->rows * QUANT_LANES, tile->tail * sizeof(float));
        code->decode_add(row, 1, scale, padded, last, absmax);
    }
}

void quant_payload_decode_add(const quant_format_t *format, const quant_kernels_t *kernels,
                              const void *payload, const float *x, size_t elems,
                              unsigned block_rows, float *sum, uint32_t *peak)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    size_t kept = quant_tiles_bytes(format, &tiles);
    uint32_t most[QUANT_LANES] = {0};

    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t tile = quant_tile_at(format, &tiles, i);
        float last[QUANT_LANES];

        quant_tile_find(&tile, payload, &kept);
        quant_tile_add(kernels, &tile, payload, x, sum + tile.first, last, most);
        memcpy(sum + tile.first + tile.rows * QUANT_LANES, last, tile.tail * sizeof(float));
    }
    quant_peak_raise(kernels, peak, most);
}

bool quant_payload_hop(const quant_format_t *from, const quant_format_t *format,
                       const quant_kernels_t *kernels, const void *payload, const float *x,
                       size_t elems, unsigned block_rows, float *tile, quant_coding_t *coding)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    size_t kept = quant_tiles_bytes(from, &tiles);
    uint32_t most[QUANT_LANES] = {0};
    uint32_t absmax[QUANT_LANES] = {0};

    coding->bytes = quant_tiles_bytes(format, &tiles);
    coding->peak = 0;
    coding->sum_peak = 0;
    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t in = quant_tile_at(from, &tiles, i);
        const quant_tile_t coded = quant_tile_at(format, &tiles, i);
        float *last = tile + in.rows * QUANT_LANES;

        quant_tile_find(&in, payload, &kept);
        quant_tile_add(kernels, &in, payload, x, tile, last, absmax);
        if (code_tile(kernels, &coded, absmax, tile, last, coding->payload,
                      next_tile(&in, x, elems), most)) {
            continue;
        }
        quant_peak_raise(kernels, &coding->sum_peak, absmax);
        if (!quant_tile_keep(&coded, tile, absmax, coding)) {
            return false;
        }
    }
    quant_peak_raise(kernels, &coding->peak, most);
    if (coding->peak > coding->sum_peak) {
        coding->sum_peak = coding->peak;
    }
    return true;
}
