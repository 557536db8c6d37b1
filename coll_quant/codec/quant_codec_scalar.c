/*
 * Scalar kernels, the specification of the codecs: the loops of quant_codec_vector.h with one lane,
 * which compilers vectorize.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "quant_codec.h"

#define WIDTH 1

typedef float floats_t;
typedef uint32_t words_t;
typedef int32_t codes_t;

static inline codes_t nearest(floats_t x)
{
    /* Adding 1.5 * 2^23 leaves the integer nearest to a small float in the low bits. */
    const float rounding = 12582912.0f;
    const float sum = x + rounding;
    uint32_t bits[2];

    memcpy(&bits[0], &sum, sizeof(sum));
    memcpy(&bits[1], &rounding, sizeof(rounding));
    return (int32_t) (bits[0] - bits[1]);
}

static inline words_t largest(words_t a, words_t b)
{
    return a > b ? a : b;
}

static inline uint32_t largest_lane(words_t a)
{
    return a;
}

static inline floats_t spread(const float *factor, size_t first, unsigned shift)
{
    return factor[first >> shift];
}

static inline words_t load_bytes(const uint8_t *from)
{
    return *from;
}

static inline codes_t load_signed_bytes(const uint8_t *from)
{
    return (int8_t) *from;
}

static inline codes_t load_shorts(const uint8_t *from)
{
    return (int16_t) (from[0] | from[1] << 8);
}

static inline void store_bytes(const words_t *code, unsigned vectors, uint8_t *to)
{
    for (unsigned v = 0; v < vectors; ++v) {
        to[v] = (uint8_t) code[v];
    }
}

static inline void store_signed_bytes(const codes_t code[QUANT_LANES], uint8_t *to)
{
    for (unsigned v = 0; v < QUANT_LANES; ++v) {
        to[v] = (uint8_t) code[v];
    }
}

static inline void store_shorts(const codes_t code[QUANT_LANES], uint8_t *to)
{
    uint16_t shorts[QUANT_LANES];

    for (unsigned v = 0; v < QUANT_LANES; ++v) {
        shorts[v] = (uint16_t) code[v];
    }
    memcpy(to, shorts, sizeof(shorts));
}

static inline void store_signs(const codes_t code[8], uint8_t *to)
{
    uint32_t byte = 0;

    QUANT_UNROLL
    for (unsigned k = 0; k < 8; ++k) {
        byte |= (uint32_t) (code[k] < 0) << k;
    }
    *to = (uint8_t) byte;
}

static inline codes_t load_signs(const uint8_t *from, unsigned first, int32_t number)
{
    return 0 != (*from >> first & 1) ? number : 0;
}

#include "quant_codec_vector.h"

const quant_kernels_t quant_kernels_scalar = VECTOR_KERNELS;
