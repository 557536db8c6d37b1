/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "quant_tiles.h"
#include "quant_transform.h"

/*
 * 2^89 as bits: an error of a sixth of it is 2^6 times as large when 4096 rows are rotated back,
 * and so at most that of a number that is not rotated (quant_format_table.h).
 */
static const uint32_t rotated_limit = UINT32_C(0x6c000000);

/* Scales from here on are drawn for: the smallest u s and its last place are then normal numbers.
 */
static const float drawn_scale_min = 0x1p-100f;

/* u has so many bits, as a number between integers (quant_codec.h). */
static const float drawn_step = 0x1p-16f;

/* Whole numbers one apart: the integer formats. */
static bool is_integer(const quant_format_t *format)
{
    return format->scaled && !(format->step < 1);
}

bool quant_transform_rotates(const quant_transform_t *transform, const quant_format_t *format)
{
    return QUANT_ROTATION_NONE != transform->rotation && format->scaled;
}

bool quant_transform_draws(const quant_transform_t *transform, const quant_format_t *format)
{
    return QUANT_ROUNDING_NEAREST != transform->rounding && is_integer(format);
}

bool quant_transform_applies(const quant_transform_t *transform, const quant_format_t *format)
{
    return quant_transform_rotates(transform, format) || quant_transform_draws(transform, format);
}

static bool is_dithered(const quant_transform_t *transform, const quant_format_t *format)
{
    return QUANT_ROUNDING_DITHER == transform->rounding && is_integer(format);
}

bool quant_transform_undone(const quant_transform_t *transform, const quant_format_t *format)
{
    return quant_transform_rotates(transform, format) || is_dithered(transform, format);
}

quant_range_t quant_transform_range(const quant_transform_t *transform,
                                    const quant_format_t *format)
{
    quant_range_t range = format->range;

    if (quant_transform_draws(transform, format)) {
        /* Largest code times 255/256: exact, as it has at most 15 bits. */
        const float largest = ldexpf(2, (int) format->mantissa) - 1;
        range.divisor = largest * (1 - 0x1p-8f);
    }
    if (quant_transform_rotates(transform, format)) {
        range.limit = rotated_limit;
    }
    return range;
}

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014; constants by D. Stafford): a bijection. */
static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

/* Another key for each `number`: splitmix64 from `key` on. */
static uint64_t child_key(uint64_t key, uint64_t number)
{
    return mix(key + (number + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t quant_transform_base(uint64_t seed, uint64_t process, uint64_t communicator)
{
    return child_key(child_key(child_key(0, seed), process), communicator);
}

uint64_t quant_transform_key(uint64_t base, uint32_t sequence, unsigned round, unsigned shard,
                             uint64_t segment)
{
    return child_key(child_key(child_key(child_key(base, sequence), round), shard), segment);
}

/* A tile in scratch memory, whose last row is padded. */
static size_t padded_rows(const quant_tile_t *tile)
{
    return tile->rows + (0 != tile->tail);
}

/* Each piece of the rows; `back`: the inverse. */
static void rotate_pieces(const quant_kernels_t *kernels, float *x, size_t rows, bool back)
{
    while (rows > 1) {
        unsigned power = 1;
        while (rows >> power > 1) {
            ++power;
        }
        const size_t piece = (size_t) 1 << power;
        kernels->rotate(x, piece, ldexpf(1, -(int) (back ? power / 2 : (power + 1) / 2)));
        x += piece * QUANT_LANES;
        rows -= piece;
    }
}

/* x += u s, or x -= u s. */
static void shake(const quant_kernels_t *kernels, float *x, size_t rows,
                  const uint8_t scale[QUANT_SCALES_BYTES], float sign, uint64_t key)
{
    float amplitude[QUANT_LANES];

    for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
        uint16_t upper;
        memcpy(&upper, scale + lane * sizeof(upper), sizeof(upper));
        const uint32_t bits = (uint32_t) upper << 16;
        memcpy(&amplitude[lane], &bits, sizeof(float));
        amplitude[lane] =
            amplitude[lane] < drawn_scale_min ? 0 : amplitude[lane] * sign * drawn_step;
    }
    kernels->shake(x, rows, amplitude, key);
}

/*
 * Code the numbers in the scratch tile, which are lost; `absmax` is theirs.  False: they cannot be
 * coded.
 */
static bool code_tile(const quant_transform_t *transform, const quant_kernels_t *kernels,
                      const quant_tile_t *tile, uint64_t key, uint32_t absmax[QUANT_LANES],
                      uint8_t *payload, uint32_t most[QUANT_LANES])
{
    const quant_format_t *format = tile->format;
    const quant_range_t range = quant_transform_range(transform, format);
    const size_t rows = padded_rows(tile);
    float *x = transform->tile;
    uint8_t scale[QUANT_SCALES_BYTES];
    float inverse[QUANT_LANES];

    if (quant_transform_rotates(transform, format)) {
        rotate_pieces(kernels, x, rows, false);
        memset(absmax, 0, QUANT_LANES * sizeof(*absmax));
        kernels->absmax(x, rows, absmax);
    }
    if (!kernels->scales(absmax, &range, scale, inverse, most)) {
        return false;
    }
    if (quant_transform_draws(transform, format)) {
        shake(kernels, x, rows, scale, 1, key);
    }
    memcpy(payload + tile->scales, scale, format->scaled ? sizeof(scale) : 0);
    kernels->code[format->code].encode(x, rows, inverse, payload + tile->codes, x);
    return true;
}

/* The numbers of a tile in `out`, the padding of the last row too. */
static void decode_tile(const quant_transform_t *transform, const quant_kernels_t *kernels,
                        const quant_tile_t *tile, uint64_t key, const uint8_t *payload, float *out)
{
    const quant_format_t *format = tile->format;
    const size_t rows = padded_rows(tile);
    const uint8_t *scale = payload + tile->scales;

    kernels->code[format->code].decode(payload + tile->codes, rows, scale, out);
    if (is_dithered(transform, format)) {
        shake(kernels, out, rows, scale, -1, key);
    }
    if (quant_transform_rotates(transform, format)) {
        rotate_pieces(kernels, out, rows, true);
    }
}

/* `to`, whole rows, becomes `from` and zeros. */
static void copy_padded(float *to, const float *from, const quant_tile_t *tile)
{
    const size_t elems = quant_tile_length(tile);

    memcpy(to, from, elems * sizeof(float));
    memset(to + elems, 0, (padded_rows(tile) * QUANT_LANES - elems) * sizeof(float));
}

/* sum, a tile of whole rows, = decoded + the tile's part of x.  The padding becomes 0, unless
 * nothing was undone. */
static void sum_tile(const quant_transform_t *transform, const quant_kernels_t *kernels,
                     const quant_tile_t *tile, uint64_t key, const uint8_t *payload, const float *x,
                     float *sum, uint32_t absmax[QUANT_LANES])
{
    /* In fp32 the codes are the numbers. */
    const quant_code_kernels_t *floats = &kernels->code[quant_format_fp32.code];
    float *last = sum + tile->rows * QUANT_LANES;

    if (!quant_transform_undone(transform, tile->format)) {
        quant_tile_add(kernels, tile, payload, x, sum, last, absmax);
        return;
    }
    decode_tile(transform, kernels, tile, key, payload, sum);
    floats->decode_add((const uint8_t *) (x + tile->first), tile->rows, NULL, sum, sum, absmax);
    if (0 != tile->tail) {
        float padded[QUANT_LANES] = {0};
        memcpy(padded, x + tile->first + tile->rows * QUANT_LANES, tile->tail * sizeof(float));
        memset(last + tile->tail, 0, (QUANT_LANES - tile->tail) * sizeof(float));
        floats->decode_add((const uint8_t *) padded, 1, NULL, last, last, absmax);
    }
}

bool quant_transform_encode(const quant_transform_t *transform, const quant_format_t *format,
                            const quant_kernels_t *kernels, const float *in, size_t elems,
                            unsigned block_rows, quant_coding_t *coding)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    uint32_t most[QUANT_LANES] = {0};

    coding->bytes = quant_tiles_bytes(format, &tiles);
    coding->peak = 0;
    for (size_t i = 0; i < tiles.count; ++i) {
        const quant_tile_t tile = quant_tile_at(format, &tiles, i);
        uint32_t absmax[QUANT_LANES] = {0};

        copy_padded(transform->tile, in + tile.first, &tile);
        if (!quant_transform_rotates(transform, format)) {
            kernels->absmax(transform->tile, padded_rows(&tile), absmax);
        }
        if (!code_tile(transform, kernels, &tile, child_key(transform->key, i), absmax,
                       coding->payload, most) &&
            !quant_tile_keep(&tile, in + tile.first, absmax, coding)) {
            return false;
        }
    }
    quant_peak_raise(kernels, &coding->peak, most);
    return true;
}

void quant_transform_decode(const quant_transform_t *transform, const quant_format_t *format,
                            const quant_kernels_t *kernels, const void *payload, size_t elems,
                            unsigned block_rows, float *out)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    size_t kept = quant_tiles_bytes(format, &tiles);

    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t tile = quant_tile_at(format, &tiles, i);
        quant_tile_find(&tile, payload, &kept);
        const bool floats = quant_format_is_exact(tile.format);
        float *to = 0 == tile.tail || floats ? out + tile.first : transform->tile;

        if (floats) {
            memcpy(to, (const uint8_t *) payload + tile.codes,
                   quant_tile_length(&tile) * sizeof(float));
            continue;
        }
        decode_tile(transform, kernels, &tile, child_key(transform->key, i), payload, to);
        if (0 != tile.tail) {
            memcpy(out + tile.first, to, quant_tile_length(&tile) * sizeof(float));
        }
    }
}

void quant_transform_decode_add(const quant_transform_t *transform, const quant_format_t *format,
                                const quant_kernels_t *kernels, const void *payload, const float *x,
                                size_t elems, unsigned block_rows, float *sum, uint32_t *peak)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    size_t kept = quant_tiles_bytes(format, &tiles);
    uint32_t most[QUANT_LANES] = {0};

    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t tile = quant_tile_at(format, &tiles, i);

        quant_tile_find(&tile, payload, &kept);
        sum_tile(transform, kernels, &tile, child_key(transform->key, i), payload, x,
                 transform->tile, most);
        memcpy(sum + tile.first, transform->tile, quant_tile_length(&tile) * sizeof(float));
    }
    quant_peak_raise(kernels, peak, most);
}

bool quant_transform_hop(const quant_transform_t *received, const quant_format_t *from,
                         const quant_transform_t *transform, const quant_format_t *format,
                         const quant_kernels_t *kernels, const void *payload, const float *x,
                         size_t elems, unsigned block_rows, quant_coding_t *coding)
{
    const quant_tiles_t tiles = quant_tiles_of(elems, block_rows);
    size_t kept = quant_tiles_bytes(from, &tiles);
    uint32_t coded[QUANT_LANES] = {0};

    coding->bytes = quant_tiles_bytes(format, &tiles);
    coding->peak = 0;
    coding->sum_peak = 0;
    for (size_t i = 0; i < tiles.count; ++i) {
        quant_tile_t in = quant_tile_at(from, &tiles, i);
        const quant_tile_t tile = quant_tile_at(format, &tiles, i);
        const uint64_t key_in = child_key(received->key, i);
        uint32_t absmax[QUANT_LANES] = {0};

        quant_tile_find(&in, payload, &kept);
        sum_tile(received, kernels, &in, key_in, payload, x, transform->tile, absmax);
        quant_peak_raise(kernels, &coding->sum_peak, absmax);
        if (code_tile(transform, kernels, &tile, child_key(transform->key, i), absmax,
                      coding->payload, coded)) {
            continue;
        }
        /* The sums again: they may be rotated by now. */
        sum_tile(received, kernels, &in, key_in, payload, x, transform->tile, absmax);
        if (!quant_tile_keep(&tile, transform->tile, absmax, coding)) {
            return false;
        }
    }
    quant_peak_raise(kernels, &coding->peak, coded);
    return true;
}
