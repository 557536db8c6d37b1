/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "quant_tiles.h"

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

uint64_t quant_transform_key(uint64_t base, uint32_t sequence, unsigned round, unsigned shard,
                             uint64_t segment)
{
    return child_key(child_key(child_key(child_key(base, sequence), round), shard), segment);
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

/* x += u s, or x -= u s, for the padded rows of a tile. */
static void add_dither(const quant_tile_t *tile, const uint8_t scale[QUANT_SCALES_BYTES],
                       float sign, float *x)
{
    const quant_codec_t *codec = tile->codec;
    float amplitude[QUANT_LANES];

    for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
        uint16_t upper;
        memcpy(&upper, scale + lane * sizeof(upper), sizeof(upper));
        const uint32_t bits = (uint32_t) upper << 16;
        memcpy(&amplitude[lane], &bits, sizeof(float));
        amplitude[lane] =
            amplitude[lane] < drawn_scale_min ? 0 : amplitude[lane] * sign * drawn_step;
    }
    codec->kernels->shake(x, quant_tile_padded_rows(tile), amplitude,
                          child_key(codec->key, tile->index));
}

bool quant_tile_encode_transformed(const quant_tile_t *tile, quant_peaks_t *peaks, uint8_t *payload)
{
    const quant_codec_t *codec = tile->codec;
    const quant_kernels_t *kernels = codec->kernels;
    const quant_range_t range = quant_transform_range(&codec->transform, tile->format);
    const size_t rows = quant_tile_padded_rows(tile);
    float *x = codec->tile;
    uint8_t *scale = payload + tile->scales;
    float inverse[QUANT_LANES];

    if (quant_transform_rotates(&codec->transform, tile->format)) {
        rotate_pieces(kernels, x, rows, false);
        memset(peaks->here, 0, sizeof(peaks->here));
        kernels->absmax(x, rows, peaks->here);
    }
    if (!kernels->scales(peaks->here, &range, scale, inverse, peaks->coded)) {
        return false;
    }
    if (quant_transform_draws(&codec->transform, tile->format)) {
        add_dither(tile, scale, 1, x);
    }
    kernels->code[tile->format->code].encode(x, rows, inverse, payload + tile->codes, x);
    return true;
}

void quant_tile_decode_transformed(const quant_tile_t *tile, const uint8_t *payload, float *out)
{
    const quant_codec_t *codec = tile->codec;
    const size_t rows = quant_tile_padded_rows(tile);
    const uint8_t *scale = payload + tile->scales;

    codec->kernels->code[tile->format->code].decode(payload + tile->codes, rows, scale, out);
    if (quant_transform_dithers(&codec->transform, tile->format)) {
        add_dither(tile, scale, -1, out);
    }
    if (quant_transform_rotates(&codec->transform, tile->format)) {
        rotate_pieces(codec->kernels, out, rows, true);
    }
}
