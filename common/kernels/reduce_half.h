/*
 * Floats of 16 bits and back: the specification, one number at a time.
 *
 *            sign  exponent  fraction
 *   BF16     1     8         7          the upper half of a float
 *   FP16     1     5         10         IEEE 754's binary16
 *
 * Without branches, so that a compiler can vectorize the loops around them, and
 * never with a subnormal float as an operand that matters: a program that flushes
 * those to zero still gets all FP16 numbers.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_REDUCE_HALF_H
#define ARC_REDUCE_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The only NaNs that our kernels write: quiet, positive, without payload. */
#define ARC_BF16_NAN UINT16_C(0x7fc0)
#define ARC_FP16_NAN UINT16_C(0x7e00)

static inline uint32_t arc_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float arc_float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Integer arithmetic, so that compilers compute both sides and choose, in vectors too. */
static inline uint32_t arc_select(bool condition, uint32_t x, uint32_t y)
{
    const uint32_t mask = UINT32_C(0) - (uint32_t) condition;
    return (x & mask) | (y & ~mask);
}

static inline float arc_bf16_widen(uint16_t half)
{
    return arc_float_of_bits((uint32_t) half << 16);
}

/* To nearest, ties to even: half of the last place less one, plus the last place's own bit. */
static inline uint16_t arc_bf16_narrow(float x)
{
    const uint32_t bits = arc_float_bits(x);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t) arc_select(x != x, ARC_BF16_NAN, rounded);
}

/*
 * An exponent e of FP16 means 2^(e - 15), one of a float 2^(e - 127): 112 more,
 * and for infinity and NaN, whose exponent is all ones, twice that.  A subnormal
 * is `fraction` * 2^-24: what 2^-14 grows by when that fraction is put into it.
 */
static inline float arc_fp16_widen(uint16_t half)
{
    const uint32_t offset = UINT32_C(112) << 23;
    const uint32_t smallest_normal = UINT32_C(113) << 23; /* 2^-14 */
    const uint32_t sign = (uint32_t) (half & 0x8000) << 16;
    const uint32_t magnitude = (uint32_t) (half & 0x7fff) << 13;
    const uint32_t normal = magnitude + offset + arc_select((half & 0x7c00) == 0x7c00, offset, 0);
    const float difference =
        arc_float_of_bits(magnitude + smallest_normal) - arc_float_of_bits(smallest_normal);
    const uint32_t subnormal = arc_float_bits(difference) & 0x7fffffff; /* x - x may be -0 */
    const uint32_t bits = arc_select((half & 0x7c00) == 0, subnormal, normal);
    return arc_float_of_bits(bits | sign);
}

/*
 * Normal numbers as for BF16; a carry out of the fraction raises the exponent, at
 * last to that of infinity.  Below 2^-14 the sum with 0.5, whose last place is
 * 2^-24, rounds as it should and leaves the fraction in its lower bits.
 */
static inline uint16_t arc_fp16_narrow(float x)
{
    const uint32_t smallest_normal = UINT32_C(113) << 23; /* 2^-14 */
    const uint32_t overflow = UINT32_C(143) << 23;        /* 2^16 */
    const uint32_t half = UINT32_C(126) << 23;            /* 0.5 */
    const uint32_t sign = arc_float_bits(x) >> 16 & 0x8000;
    const uint32_t magnitude = arc_float_bits(x) & 0x7fffffff;
    const uint32_t normal =
        (magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const uint32_t subnormal =
        arc_float_bits(arc_float_of_bits(magnitude) + arc_float_of_bits(half)) - half;
    uint32_t bits = arc_select(magnitude < smallest_normal, subnormal, normal);
    bits = arc_select(magnitude >= overflow, 0x7c00, bits);
    bits |= sign;
    return (uint16_t) arc_select(x != x, ARC_FP16_NAN, bits);
}

#endif
