/*
 * Scalar kernels: the specification of the codecs.
 *
 *   scale    RNE_bf16(absmax / 127), at least 2^-118
 *   code     RNE(x * (1 / scale)), a signed byte
 *   decoded  code * scale
 *
 * Why every instruction set, rounding of products and flush-to-zero mode gives
 * the same decoded value: a code has 7 bits and a bf16 scale 8, so the product
 * is exact in the 24 bits of a float, and because the scale is at least 2^-118
 * it is never denormal.
 *
 * Why no code leaves [-127, 127]: rounding absmax / 127 to 8 bits makes it
 * smaller by a factor of at least 1 / (1 + 2^-8), so |x / scale| <= 127.4961;
 * the roundings of the quotients and of the product add less than 2^-14, and
 * the sum is still below 127.5.
 *
 * Why |x - decoded| <= scale (1/2 + 2^-16): the quotient that is rounded is off
 * by at most two relative errors of 2^-24 of at most 128.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "quant_codec.h"

#define ABS_BITS UINT32_C(0x7fffffff)

/* 2^127: from here on 127 * scale could round past the largest float. */
#define ABSMAX_LIMIT UINT32_C(0x7f000000)

#define CODE_MAX 127.0f
#define SCALE_MIN 0x1p-118f

/* Adding 1.5 * 2^23 leaves the integer nearest to a small float in the low bits. */
#define ROUNDING 12582912.0f

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float scale_of(uint16_t upper_half)
{
    return float_of((uint32_t) upper_half << 16);
}

static uint16_t bf16_nearest_even(float value)
{
    uint32_t bits = bits_of(value);
    return (uint16_t) ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static void lane_absmax(const float *x, size_t rows, uint32_t absmax[QUANT_LANES])
{
    for (size_t row = 0; row < rows; ++row) {
        for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
            uint32_t magnitude = bits_of(x[row * QUANT_LANES + lane]) & ABS_BITS;
            absmax[lane] = magnitude > absmax[lane] ? magnitude : absmax[lane];
        }
    }
}

static bool int8_scales(const uint32_t absmax[QUANT_LANES], uint16_t scale[QUANT_LANES],
                        float inverse[QUANT_LANES])
{
    for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
        if (absmax[lane] >= ABSMAX_LIMIT) {
            return false;
        }
        float step = float_of(absmax[lane]) / CODE_MAX;
        scale[lane] = bf16_nearest_even(step > SCALE_MIN ? step : SCALE_MIN);
        inverse[lane] = 1.0f / scale_of(scale[lane]);
    }
    return true;
}

static void int8_encode(const float *x, size_t rows, const float inverse[QUANT_LANES],
                        int8_t *codes)
{
    for (size_t row = 0; row < rows; ++row) {
        for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
            float quotient = x[row * QUANT_LANES + lane] * inverse[lane];
            codes[row * QUANT_LANES + lane] =
                (int8_t) (int32_t) (bits_of(quotient + ROUNDING) - bits_of(ROUNDING));
        }
    }
}

static void int8_decode(const int8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                        float *out)
{
    for (size_t row = 0; row < rows; ++row) {
        for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
            size_t i = row * QUANT_LANES + lane;
            out[i] = (float) codes[i] * scale_of(scale[lane]);
        }
    }
}

static void int8_decode_add(const int8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                            const float *x, float *sum)
{
    for (size_t row = 0; row < rows; ++row) {
        for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
            size_t i = row * QUANT_LANES + lane;
            sum[i] = (float) codes[i] * scale_of(scale[lane]) + x[i];
        }
    }
}

static void add(const float *a, const float *b, size_t count, float *sum)
{
    for (size_t i = 0; i < count; ++i) {
        sum[i] = a[i] + b[i];
    }
}

const quant_kernels_t quant_kernels_scalar = {
    .absmax = lane_absmax,
    .int8_scales = int8_scales,
    .int8_encode = int8_encode,
    .int8_decode = int8_decode,
    .int8_decode_add = int8_decode_add,
    .add = add,
};
