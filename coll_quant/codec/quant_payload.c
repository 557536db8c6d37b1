/*
 * The walks over the tiles of a segment: the same for all formats.
 *
 * The kernels know whole rows only.  The last row, if it is short, goes through
 * rows of our own, so that nothing behind the caller's last element is touched.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "quant_payload.h"

static const quant_code_kernels_t *kernels_of(const quant_tile_t *tile)
{
    return &tile->codec->kernels->code[tile->format->code];
}

/* *peak = max(*peak, all of absmax). */
static void raise_peak(const quant_codec_t *codec, uint32_t *peak,
                       const uint32_t absmax[QUANT_BLOCKS])
{
    const uint32_t most = codec->kernels->peak(absmax);
    *peak = most > *peak ? most : *peak;
}

/* Where the tile behind `tile` begins; at the end, where this one does: it is in the cache. */
static const float *next_tile(const quant_tile_t *tile, const float *x)
{
    const size_t next = tile->first + quant_tile_length(tile);
    return x + (next < tile->codec->elems ? next : tile->first);
}

/* The magnitudes of its last row, which begins with block 0 of `tail`, in those of the tile. */
static void raise_tail(const quant_tile_t *tile, const uint32_t tail[QUANT_BLOCKS],
                       uint32_t absmax[QUANT_BLOCKS])
{
    const size_t first = quant_tile_tail_block(tile);

    for (size_t b = first; b < tile->blocks; ++b) {
        absmax[b] = tail[b - first] > absmax[b] ? tail[b - first] : absmax[b];
    }
}

/*
 * Scales and codes of the numbers `x` of a tile, `last` its padded tail, whose peaks are known.
 * False: its format cannot carry it.
 */
static bool code_tile(const quant_tile_t *tile, const float *x, const float *last,
                      const float *ahead, quant_peaks_t *peaks, uint8_t *payload)
{
    const quant_format_t *format = tile->format;
    const quant_code_kernels_t *code = kernels_of(tile);
    uint8_t scale[QUANT_SCALES_BYTES];
    float inverse[QUANT_BLOCKS];

    if (!tile->codec->kernels->scales(peaks->here, &format->range, scale, inverse, peaks->coded)) {
        return false;
    }
    quant_tile_put_scales(tile, scale, payload);
    code->encode(x, tile->rows, tile->shift, inverse, payload + tile->codes, ahead);
    if (0 != tile->tail) {
        uint8_t row[QUANT_ROW_BYTES_MAX];
        code->encode(last, 1, tile->shift, inverse + quant_tile_tail_block(tile), row, last);
        memcpy(payload + tile->tail_codes, row, tile->tail_bytes);
    }
    return true;
}

static bool encode_tile(const quant_tile_t *tile, const float *x, const float *ahead,
                        quant_peaks_t *peaks, quant_coding_t *coding)
{
    const quant_kernels_t *kernels = tile->codec->kernels;
    float padded[QUANT_LANES];

    kernels->absmax(x, tile->rows, tile->shift, peaks->here);
    if (0 != tile->tail) {
        memset(padded, 0, sizeof(padded));
        memcpy(padded, x + tile->rows * QUANT_LANES, tile->tail * sizeof(float));
        uint32_t absmax[QUANT_BLOCKS] = {0};
        kernels->absmax(padded, 1, tile->shift, absmax);
        raise_tail(tile, absmax, peaks->here);
    }
    return code_tile(tile, x, padded, ahead, peaks, coding->payload);
}

bool quant_payload_encode(const quant_codec_t *codec, const float *in, quant_coding_t *coding)
{
    const quant_tiles_t tiles = quant_tiles_of(codec);
    quant_peaks_t peaks = {0};

    coding->bytes = tiles.bytes;
    coding->peak = 0;
    if (quant_format_is_exact(codec->format)) {
        memcpy(coding->payload, in, codec->elems * sizeof(float));
        return true;
    }
    for (size_t i = 0; i < tiles.count; ++i) {
        const quant_tile_t tile = quant_tile_at(&tiles, i);
        const float *x = in + tile.first;
        if (!encode_tile(&tile, x, next_tile(&tile, in), &peaks, coding) &&
            !quant_tile_keep(&tile, x, &peaks, coding)) {
            return false;
        }
    }
    raise_peak(codec, &coding->peak, peaks.coded);
    return true;
}

static void decode_tile(const quant_tile_t *tile, const uint8_t *payload, float *out)
{
    const quant_code_kernels_t *code = kernels_of(tile);
    float factor[QUANT_BLOCKS];

    quant_tile_factors(tile, payload, factor);
    code->decode(payload + tile->codes, tile->rows, tile->shift, factor, out);
    if (0 != tile->tail) {
        uint8_t row[QUANT_ROW_BYTES_MAX] = {0};
        float padded[QUANT_LANES];
        memcpy(row, payload + tile->tail_codes, tile->tail_bytes);
        code->decode(row, 1, tile->shift, factor + quant_tile_tail_block(tile), padded);
        memcpy(out + tile->rows * QUANT_LANES, padded, tile->tail * sizeof(float));
    }
}

void quant_payload_decode(const quant_codec_t *codec, const void *payload, float *out)
{
    const quant_tiles_t tiles = quant_tiles_of(codec);
    size_t kept = tiles.bytes;

    if (quant_format_is_exact(codec->format)) {
        memcpy(out, payload, codec->elems * sizeof(float));
        return;
    }
    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t tile = quant_tile_at(&tiles, i);
        quant_tile_find(&tile, payload, &kept);
        decode_tile(&tile, payload, out + tile.first);
    }
}

/*
 * sum = decoded + the tile's part of x for its whole rows, and `last`, 64 floats, the padded sum of
 * its tail, if it has one; absmax: theirs.
 */
static void add_tile(const quant_tile_t *tile, const uint8_t *payload, const float *x, float *sum,
                     float *last, uint32_t absmax[QUANT_BLOCKS])
{
    const quant_code_kernels_t *code = kernels_of(tile);
    float factor[QUANT_BLOCKS];

    quant_tile_factors(tile, payload, factor);
    code->decode_add(payload + tile->codes, tile->rows, tile->shift, factor, x + tile->first, sum,
                     absmax);
    if (0 != tile->tail) {
        uint8_t row[QUANT_ROW_BYTES_MAX] = {0};
        float padded[QUANT_LANES] = {0};
        uint32_t tail[QUANT_BLOCKS] = {0};
        memcpy(row, payload + tile->tail_codes, tile->tail_bytes);
        memcpy(padded, x + tile->first + tile->rows * QUANT_LANES, tile->tail * sizeof(float));
        code->decode_add(row, 1, tile->shift, factor + quant_tile_tail_block(tile), padded, last,
                         tail);
        raise_tail(tile, tail, absmax);
    }
}

void quant_payload_decode_add(const quant_codec_t *codec, const void *payload, const float *x,
                              float *sum, uint32_t *peak)
{
    const quant_tiles_t tiles = quant_tiles_of(codec);
    size_t kept = tiles.bytes;
    uint32_t most[QUANT_BLOCKS] = {0};

    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t tile = quant_tile_at(&tiles, i);
        float *to = sum + tile.first;
        float last[QUANT_LANES];

        quant_tile_find(&tile, payload, &kept);
        add_tile(&tile, payload, x, to, last, most);
        memcpy(to + tile.rows * QUANT_LANES, last, tile.tail * sizeof(float));
    }
    raise_peak(codec, peak, most);
}

bool quant_payload_hop(const quant_codec_t *from, const quant_codec_t *codec, const void *payload,
                       const float *x, quant_coding_t *coding)
{
    const quant_tiles_t received = quant_tiles_of(from);
    const quant_tiles_t tiles = quant_tiles_of(codec);
    size_t kept = received.bytes;
    quant_peaks_t peaks = {0};
    float *sum = codec->tile;

    coding->bytes = tiles.bytes;
    coding->peak = 0;
    coding->sum_peak = 0;
    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t in = quant_tile_at(&received, i);
        const quant_tile_t tile = quant_tile_at(&tiles, i);
        float *last = sum + tile.rows * QUANT_LANES;

        quant_tile_find(&in, payload, &kept);
        add_tile(&in, payload, x, sum, last, peaks.here);
        if (code_tile(&tile, sum, last, next_tile(&tile, x), &peaks, coding->payload)) {
            continue;
        }
        raise_peak(codec, &coding->sum_peak, peaks.here);
        if (!quant_tile_keep(&tile, sum, &peaks, coding)) {
            return false;
        }
    }
    raise_peak(codec, &coding->peak, peaks.coded);
    if (coding->peak > coding->sum_peak) {
        coding->sum_peak = coding->peak;
    }
    return true;
}
