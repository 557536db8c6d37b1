/*
 * The only list of number formats.
 *
 * Columns of X:
 *
 *   name, wire_id   as users and messages call it; an id is never used again for something else
 *   bits            of one code on the wire; how they are packed: docs/format.md
 *   kind            how a number becomes a code: the functions to_<kind> and from_<kind>
 *   scaled          1: the numbers of a block are divided by a scale of their own
 *   divisor         scale = largest magnitude / divisor; chosen so that no rounding can push a
 *                   code over the largest one, where a bf16 scale is off by up to 2^-8:
 *                   divisor (1 + 2^-8) is below that code plus half a step
 *   scale_min       keeps the product of the smallest code and a scale a normal number
 *   limit           bits of the first magnitude that the format refuses; NaN and infinity are above
 *   mantissa, step  codes are `step` apart up to magnitudes of 2^(mantissa + 1) steps, from
 *                   there on twice as far apart with every power of two
 *   exact           1: what is decoded is what was encoded.  A flag: this is also asked where the
 *                   program may trap on denormal numbers, as some of the steps are
 *
 * The first row is what auto takes without a target (quant_choose.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_FORMAT_TABLE_H
#define QUANT_FORMAT_TABLE_H

/*
 * The limits.  fp16: what rounds to infinity.  fp32: none.  The others: 2^95, so that quantizing
 * makes no finite sum infinite, with up to 2^10 ranks; docs/guarantees.md has the proof, "near the
 * largest float".  What is larger is kept as floats.
 */
#define QUANT_LIMIT_SCALED UINT32_C(0x6f000000)
#define QUANT_LIMIT_FP16 UINT32_C(0x477ff000) /* 65520 */
#define QUANT_LIMIT_NONE UINT32_MAX

/* Codes that are small floats: X(kind, bits, mantissa, exponent of the least normal number). */
#define QUANT_MINIFLOAT_TABLE(X) X(e4m3, 8, 3, -6) X(e5m2, 8, 2, -14) X(fp16, 16, 10, -14)

/* clang-format off */
/*    name     id bits  kind  scaled divisor scale_min  limit           mantissa  step    exact */
#define QUANT_FORMAT_TABLE(X) \
    X(int8,     1,  8, integer, 1,    127, 0x1p-118f, QUANT_LIMIT_SCALED,  6, 1.0f,       0) \
    X(int4,     2,  4, integer, 1,      7, 0x1p-118f, QUANT_LIMIT_SCALED,  2, 1.0f,       0) \
    X(int5,    12,  5, integer, 1,     15, 0x1p-118f, QUANT_LIMIT_SCALED,  3, 1.0f,       0) \
    X(int6,     8,  6, integer, 1,     31, 0x1p-118f, QUANT_LIMIT_SCALED,  4, 1.0f,       0) \
    X(int7,    13,  7, integer, 1,     63, 0x1p-118f, QUANT_LIMIT_SCALED,  5, 1.0f,       0) \
    X(int9,    14,  9, integer, 1,    254, 0x1p-118f, QUANT_LIMIT_SCALED,  7, 1.0f,       0) \
    X(int10,    9, 10, integer, 1,    509, 0x1p-118f, QUANT_LIMIT_SCALED,  8, 1.0f,       0) \
    X(int11,   15, 11, integer, 1,   1019, 0x1p-118f, QUANT_LIMIT_SCALED,  9, 1.0f,       0) \
    X(int12,   10, 12, integer, 1,   2039, 0x1p-118f, QUANT_LIMIT_SCALED, 10, 1.0f,       0) \
    X(int13,   16, 13, integer, 1,   4079, 0x1p-118f, QUANT_LIMIT_SCALED, 11, 1.0f,       0) \
    X(int14,   17, 14, integer, 1,   8159, 0x1p-118f, QUANT_LIMIT_SCALED, 12, 1.0f,       0) \
    X(int16,    3, 16, integer, 1,  32639, 0x1p-118f, QUANT_LIMIT_SCALED, 14, 1.0f,       0) \
    X(fp8_e4m3, 4,  8, e4m3,    1,    448, 0x1p-117f, QUANT_LIMIT_SCALED,  3, 0x1p-9f,    0) \
    X(fp8_e5m2, 5,  8, e5m2,    1,  57344, 0x1p-110f, QUANT_LIMIT_SCALED,  2, 0x1p-16f,   0) \
    X(bf16,     6, 16, bf16,    0,      1, 1.0f,      QUANT_LIMIT_SCALED,  7, 0x1p-133f,  0) \
    X(fp16,     7, 16, fp16,    0,      1, 1.0f,      QUANT_LIMIT_FP16,   10, 0x1p-24f,   0) \
    X(fp32,     0, 32, fp32,    0,      1, 1.0f,      QUANT_LIMIT_NONE,   23, 0.0f,       1)
/* clang-format on */

#endif
