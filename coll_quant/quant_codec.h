/*
 * Vector kernels of the codecs: loops over whole rows of 64 lanes.
 *
 * A kernel sees neither tails, tiles nor messages; the formats
 * (quant_format_*.c) cut those into whole rows and pad the last one.  So each
 * instruction set has only the loops that are worth its instructions, and the
 * scalar file is their specification: the others must return the same bits.
 *
 * To add an instruction set: one file quant_codec_<isa>.c that fills the
 * functions it has into a table, and one line in quant_codec.c.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODEC_H
#define QUANT_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

static inline size_t quant_divide_up(size_t value, size_t by)
{
    return value / by + (0 != value % by);
}

/*
 * In front of a loop over the vectors of a row: unrolled, they stay in registers.
 * gcc does not do it by itself at -O2, and the kernels then lose a third.
 */
#if defined(__clang__)
#define QUANT_UNROLL _Pragma("unroll")
#else
#define QUANT_UNROLL _Pragma("GCC unroll 8")
#endif

/* 64 lanes: one byte each is one cache line, four 512-bit registers of floats. */
enum { QUANT_LANES = 64 };

/*
 * Rows are contiguous: lane l of row r is element 64 r + l.  No pointer needs
 * more than the natural alignment of its type; no kernel touches a byte outside
 * its rows.  Input and output do not overlap, except where said.
 */
typedef struct quant_kernels {
    /* absmax[l] = max(absmax[l], bits of |x|): as integers, so that NaN and infinity win. */
    void (*absmax)(const float *x, size_t rows, uint32_t absmax[QUANT_LANES]);

    /*
     * From the bits of the largest magnitude of each lane, its scale (the upper half of a float)
     * and the inverse of that scale.  False, and nothing usable is written, if a lane cannot be
     * coded: it holds a NaN, an infinity or a magnitude of at least 2^127.
     */
    bool (*int8_scales)(const uint32_t absmax[QUANT_LANES], uint16_t scale[QUANT_LANES],
                        float inverse[QUANT_LANES]);

    /* codes = x * inverse, rounded to nearest even; the caller's inverse keeps |code| <= 127. */
    void (*int8_encode)(const float *x, size_t rows, const float inverse[QUANT_LANES],
                        int8_t *codes);

    /* out = code * scale, exact. */
    void (*int8_decode)(const int8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                        float *out);

    /* sum = code * scale + x, rounded once.  `sum` may be `x`. */
    void (*int8_decode_add)(const int8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                            const float *x, float *sum);

    /* sum = a + b for `count` elements, any number.  `sum` may be `a` or `b`. */
    void (*add)(const float *a, const float *b, size_t count, float *sum);
} quant_kernels_t;

/* The kernels of `isa`; a function that `isa` lacks is the one of the next lower set. */
quant_kernels_t quant_kernels_select(arc_isa_t isa);

/* One per instruction set; a null function means: keep the lower one. */
extern const quant_kernels_t quant_kernels_scalar;
extern const quant_kernels_t quant_kernels_avx2;
extern const quant_kernels_t quant_kernels_avx512;

#endif
