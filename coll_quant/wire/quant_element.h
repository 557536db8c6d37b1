/*
 * The types of element that a program may add: float and double.
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
 * Error feedback: what a call lost by quantizing is added to the next one.  docs/guarantees.md has
 * the formulas, and why one number per element of the vector is enough: a rank encodes each element
 * once, and where its node adds up in shared memory each element of its own parts.
 *
 *   cost   memory for one more vector, and for each encoding one more decoding; the hop in one
 *          pass over tiles (quant_payload_hop()) becomes two
 *
 * Source: Seide et al., "1-Bit Stochastic Gradient Descent" (2014), and Karimireddy et al.,
 * "Error Feedback Fixes SignSGD" (2019); here for every quantization of an allreduce, not only
 * for the contributions.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_ELEMENT_H
#define QUANT_ELEMENT_H

#include "quant_wire.h"

/*
 * All numbers are arrays of the type, as aligned as it is, as many as the segment has.  `error` is
 * how far numbers are off (quant_bound.h).
 */
typedef struct quant_element {
    const char *name;
    size_t bytes; /* of a number */
    const quant_format_t *exact;

    /* As quant_wire_pack(). */
    size_t (*pack)(const quant_wire_segment_t *segment, const void *in, float error, void *message);

    /* As quant_wire_hop(); NULL: add and pack do it. */
    size_t (*hop)(const quant_wire_segment_t *segment, const void *received, const void *x,
                  float error, void *message);

    /* As quant_wire_add(); `sum` may be `x`. */
    float (*add)(const quant_wire_segment_t *segment, const void *received, const void *x,
                 float error, void *sum);

    void (*unpack)(const quant_wire_segment_t *segment, const void *message, void *out);

    /* own = x + residual, which do not overlap; how far numbers of own may be from those of x. */
    float (*feed)(const void *x, const float *residual, size_t elems, void *own);

    /* The largest magnitude of all; not finite if one of them is not. */
    double (*most)(const quant_kernels_t *kernels, const void *x, size_t elems);

    /* Half a unit in the last place of numbers up to 1. */
    double unit;

    /* The bits of a float that no magnitude below 2^95, the largest that is coded, is above. */
    uint32_t (*peak)(const void *x, size_t elems);

    /*
     * residual = value - what the message, which was made of `value`, decodes to; zeros if it is
     * exact.
     */
    void (*keep)(const quant_wire_segment_t *segment, const void *message, const void *value,
                 float *residual);
} quant_element_t;

extern const quant_element_t quant_floats;
extern const quant_element_t quant_doubles;

#endif
