/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "quant_tiles.h"

/*
 * 2^89 as bits: an error of a sixth of it is 2^6 times as large when 4096 numbers are rotated back,
 * and so at most that of a number that is not rotated (quant_format_table.h).
 */
static const uint32_t rotated_limit = UINT32_C(0x6c000000);

/* Scales from here on are drawn for: the smallest u s and its last place are then normal numbers.
 */
static const float drawn_scale_min = 0x1p-100f;

/* u has so many bits, as a number between integers (quant_codec.h). */
static const float drawn_step = 0x1p-16f;

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
static uint64_t mix_word(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

/* Another key for each `number`: splitmix64 from `key` on. */
static uint64_t child_key(uint64_t key, uint64_t number)
{
    return mix_word(key + (number + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t quant_transform_base(uint64_t seed, uint64_t process, uint64_t communicator)
{
    return child_key(child_key(child_key(0, seed), process), communicator);
}

uint64_t quant_transform_key(uint64_t base, uint32_t number, unsigned round, unsigned shard,
                             uint64_t segment)
{
    return child_key(child_key(child_key(child_key(base, number), round), shard), segment);
}

/* The numbers of a tile, padded rows; `back`: the inverse. */
static void rotate_tile(const quant_tile_t *tile, float *x, bool back)
{
    size_t left = quant_tile_padded_rows(tile) * QUANT_LANES;
    unsigned shift = tile->shift;

    /* Whole blocks, then the pieces of the last one. */
    for (; left > 0; --shift) {
        const size_t blocks = left >> shift;
        const unsigned halvings = back ? shift / 2 : (shift + 1) / 2;
        if (blocks > 0) {
            tile->codec->kernels->rotate(x, blocks, shift, ldexpf(1, -(int) halvings));
            x += blocks << shift;
            left -= blocks << shift;
        }
    }
}

/* x += u s, or x -= u s, for the padded rows of a tile. */
static void add_dither(const quant_tile_t *tile, const float factor[QUANT_BLOCKS], float sign,
                       float *x)
{
    const quant_codec_t *codec = tile->codec;
    float amplitude[QUANT_BLOCKS];

    for (size_t block = 0; block < QUANT_BLOCKS; ++block) {
        const float scale = factor[block];
        amplitude[block] = scale < drawn_scale_min ? 0 : scale * sign * drawn_step;
    }
    codec->kernels->shake(x, quant_tile_padded_rows(tile), tile->shift, amplitude,
                          child_key(codec->key, tile->index));
}

bool quant_tile_encode_transformed(const quant_tile_t *tile, quant_peaks_t *peaks, uint8_t *payload)
{
    const quant_codec_t *codec = tile->codec;
    const quant_kernels_t *kernels = codec->kernels;
    const quant_range_t range = quant_transform_range(&codec->transform, tile->format);
    const size_t rows = quant_tile_padded_rows(tile);
    float *x = codec->tile;
    uint8_t scale[QUANT_SCALES_BYTES];
    float inverse[QUANT_BLOCKS];

    if (quant_transform_rotates(&codec->transform, tile->format)) {
        rotate_tile(tile, x, false);
        memset(peaks->here, 0, sizeof(peaks->here));
        kernels->absmax(x, rows, tile->shift, peaks->here);
    }
    if (!kernels->scales(peaks->here, &range, scale, inverse, peaks->coded)) {
        return false;
    }
    quant_tile_put_scales(tile, scale, payload);
    if (quant_transform_draws(&codec->transform, tile->format)) {
        float factor[QUANT_BLOCKS];
        quant_tile_factors(tile, payload, factor);
        add_dither(tile, factor, 1, x);
    }
    kernels->code[tile->format->code].encode(x, rows, tile->shift, inverse, payload + tile->codes,
                                             x);
    return true;
}

void quant_tile_decode_transformed(const quant_tile_t *tile, const uint8_t *payload, float *out)
{
    const quant_codec_t *codec = tile->codec;
    const size_t rows = quant_tile_padded_rows(tile);
    float factor[QUANT_BLOCKS];

    quant_tile_factors(tile, payload, factor);
    codec->kernels->code[tile->format->code].decode(payload + tile->codes, rows, tile->shift,
                                                    factor, out);
    if (quant_transform_dithers(&codec->transform, tile->format)) {
        add_dither(tile, factor, -1, out);
    }
    if (quant_transform_rotates(&codec->transform, tile->format)) {
        rotate_tile(tile, out, true);
    }
}
