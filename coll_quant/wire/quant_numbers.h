/*
 * The types of numbers that a program may add: float and double.
 *
 * On the wire both are the same codes (quant_format.h).  What differs is what a rank
 * holds: parts, sums and results; and what exact means, fp32 or fp64:
 *
 *              float                             double
 *   encode     codes of x                        codes of float(x)
 *   add        float: decoded + x                double: decoded + x
 *   decode     code scale                        the same float, as a double
 *   exact      4 bytes a number, format fp32     8 bytes a number, format fp64
 *
 * Rounding to float first costs 2^-24 of a number, where the step of the finest format, int16, is
 * 2^-15 of the largest one of its block.  Doubles that a float cannot hold go in fp64, as do
 * NaN and infinity.  A rank that adds N doubles rounds N - 1 times by 2^-53: what is not quantized
 * (stages) is as exact as any sum of doubles.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_NUMBERS_H
#define QUANT_NUMBERS_H

#include "quant_wire.h"

/* Memory that the functions below write to as they like. */
typedef struct quant_scratch {
    float *tile;   /* quant_tile_elems() floats, that of the segments' transforms */
    float *floats; /* as many as a segment has; NULL will do for numbers that are floats */
    void *numbers; /* as many as a segment has */
} quant_scratch_t;

/*
 * All numbers are arrays of the type, as aligned as it is; `elements` of the segment is how many.
 * `from` is what quant_wire_check() found a message to be in, `error` how far numbers are off
 * (quant_bound.h).
 */
typedef struct quant_numbers {
    const char *name;
    size_t bytes; /* of a number */
    const quant_format_t *exact;

    /* As quant_wire_bytes_max(). */
    size_t (*bytes_max)(const quant_format_t *format, size_t elems, unsigned block_rows);

    /* As quant_wire_pack(). */
    size_t (*pack)(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                   const void *in, float error, const quant_scratch_t *scratch, void *message);

    /* As quant_wire_hop(). */
    size_t (*hop)(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                  const quant_format_t *from, const void *received, const void *x, float error,
                  const quant_scratch_t *scratch, void *message);

    /* As quant_wire_add(); `sum` may be `x` or scratch->numbers. */
    float (*add)(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                 const quant_format_t *from, const void *received, const void *x, float error,
                 const quant_scratch_t *scratch, void *sum);

    void (*unpack)(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                   const quant_format_t *from, const void *message, const quant_scratch_t *scratch,
                   void *out);

    /* own = x + residual; the error of own (quant_feedback.h). */
    float (*feed)(const void *x, const float *residual, size_t elems, void *own);

    /* residual = value - what the message, which was made of `value`, says; zeros if it is exact.
     */
    void (*keep)(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                 const void *message, const void *value, const quant_scratch_t *scratch,
                 float *residual);
} quant_numbers_t;

extern const quant_numbers_t quant_floats;
extern const quant_numbers_t quant_doubles;

#endif
