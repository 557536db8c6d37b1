/*
 * Vector kernels of the codecs: loops over whole rows of 64 lanes.
 *
 * A kernel sees neither tails, tiles nor messages; quant_payload.c cuts those into
 * whole rows and pads the last one.  All formats share the loops; they differ in
 * how a number becomes a code (the `kind` of quant_format_table.h) and in the
 * bits of a code.  docs/format.md, "A row of codes", has their places.
 *
 * The scalar file is the specification: the others must return the same bits.
 * The vector loops exist once, in quant_codec_vector.h, on some twenty primitives of
 * an instruction set.  To add an instruction set or a format: docs/architecture.md, "To add".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODEC_H
#define QUANT_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"
#include "quant_format_table.h"

/*
 * In front of a loop over the vectors of a row: unrolled, they stay in registers.
 * gcc does not do it by itself at -O2, and the kernels then lose a third.
 */
#if defined(__SANITIZE_ADDRESS__)
#define QUANT_UNROLL /* its checks, unrolled, take minutes to compile */
#elif defined(__clang__)
#define QUANT_UNROLL _Pragma("unroll")
#else
#define QUANT_UNROLL _Pragma("GCC unroll 16")
#endif

enum {
    /* 64 lanes: one byte each is one cache line, four 512-bit registers of floats. */
    QUANT_LANES = 64,
    /* A tile is 64 blocks, so its scales are a row of codes of bf16. */
    QUANT_BLOCKS = QUANT_LANES,
    QUANT_SCALES_BYTES = QUANT_BLOCKS * sizeof(uint16_t),
    QUANT_SHIFT_ROW = 6,                               /* of a block that is a row */
    QUANT_SHIFT_ALL = 63,                              /* of a block that has all numbers */
    QUANT_ROW_BYTES_MAX = QUANT_LANES * sizeof(float), /* of any format */
};

/* QUANT_CODE_int8, ...: the index of a format in tables. */
enum {
#define X(_name, ...) QUANT_CODE_##_name,
    QUANT_FORMAT_TABLE(X)
#undef X
        QUANT_CODES
};

/* Bytes of a row of 64 codes. */
static inline size_t quant_row_bytes(unsigned bits)
{
    return (size_t) bits * QUANT_LANES / 8;
}

/* See the columns of quant_format_table.h. */
typedef struct quant_range {
    float divisor;
    float scale_min;
    uint32_t limit;
} quant_range_t;

/*
 * Rows are contiguous: lane l of row r is element i = 64 r + l.  Blocks are contiguous, too:
 * element i is in block i >> shift, of 2^shift numbers, at least 8; the last one may be short. What
 * kernels take or write for each block (factors, magnitudes, scales) has room for 64, of which they
 * read those of the blocks at hand.  No pointer needs more than the natural alignment of its type;
 * no kernel touches a byte outside its rows.  Input and output do not overlap, except where said.
 * Formats without scales do not look at `factor`.
 */
typedef struct quant_code_kernels {
    /*
     * The codes of x * factor, rounded to nearest even.  `ahead` is what the next kernel will
     * read, `rows` rows too: a hint, never read, fetched into the cache while this one computes.
     */
    void (*encode)(const float *x, size_t rows, unsigned shift, const float *factor, uint8_t *codes,
                   const float *ahead);

    /* out = code * factor, exact for what encode wrote by its inverse. */
    void (*decode)(const uint8_t *codes, size_t rows, unsigned shift, const float *factor,
                   float *out);

    /*
     * sum = code * factor + x, rounded once, and absmax[b] = max(absmax[b], bits of |sum|) for
     * block b.  `sum` may be `x`.
     */
    void (*decode_add)(const uint8_t *codes, size_t rows, unsigned shift, const float *factor,
                       const float *x, float *sum, uint32_t absmax[QUANT_BLOCKS]);
} quant_code_kernels_t;

typedef struct quant_kernels {
    /*
     * absmax[b] = max(absmax[b], bits of |x|) for block b: as integers, so that NaN and infinity
     * win.  At most 64 blocks.
     */
    void (*absmax)(const float *x, size_t rows, unsigned shift, uint32_t absmax[QUANT_BLOCKS]);

    /*
     * From the bits of the largest magnitude of each of 64 blocks, its scale (the upper half of a
     * float) and the inverse of that scale; most[b] = max(most[b], absmax[b]), and absmax[b] = 0
     * for the next tile.  False, and nothing is written, if a block is refused.
     */
    bool (*scales)(uint32_t absmax[QUANT_BLOCKS], const quant_range_t *range,
                   uint8_t scale[QUANT_SCALES_BYTES], float inverse[QUANT_BLOCKS],
                   uint32_t most[QUANT_BLOCKS]);

    quant_code_kernels_t code[QUANT_CODES];
} quant_kernels_t;

/* The kernels of `isa`, or of the best set below it. */
quant_kernels_t quant_kernels_select(arc_isa_t isa);

/* One per instruction set. */
extern const quant_kernels_t quant_kernels_scalar;
extern const quant_kernels_t quant_kernels_neon;
extern const quant_kernels_t quant_kernels_avx2;
extern const quant_kernels_t quant_kernels_avx512;

#endif
