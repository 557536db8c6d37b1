/*
 * What numbers may go through between the vector and the codes: a rotation, and
 * rounding that is not to nearest.  Neither is on by default; a segment with
 * neither does not come here.
 *
 *   x -- rotate --> y -- + u s --> RNE((y + u s) / s) = code -- code s [- u s] -- rotate back -->
 * x'
 *
 * Rotation.  In each block the Walsh-Hadamard transform
 *
 *   y[i] = 2^-ceil(k/2)  sum over j of (-1)^bits(i & j) x[j]       i, j = 0 .. 2^k - 1
 *   x[i] = 2^-floor(k/2) sum over j of (-1)^bits(i & j) y[j]
 *
 * where bits() counts bits that are set.  All steps are sums and differences, and the factors
 * powers of two, so all instruction sets return the same bits.  A number much larger than the
 * others of its block, which would make their step large, is spread over 2^k numbers.  The last
 * block, if its rows, the padded one counted, are fewer than it has, is cut into pieces of 2^k
 * numbers, one for each bit of their number, the longest first.
 *
 * Rounding, for integer formats only.  u is drawn evenly from (-1/2, 1/2), s the scale of the
 * block:
 *
 *   stochastic   code = nearest(x/s + u): on average x/s, off by less than a step
 *   dither       the same code, and the receiver, who draws the same u, takes it off again: off by
 *                at most half a step, evenly, whatever x is
 *
 * The numbers u follow from a key and the place in the segment; the key from what both ends of a
 * message know (quant_transform_key()).  They have 16 bits, so u s is exact: the sum is rounded
 * once, with FMA or without.  Blocks whose scale is below 2^-100, zeros among them, are rounded to
 * nearest.
 *
 * Why no code is larger than the largest, q: with noise the divisor is q (1 - 2^-8).  The scale is
 * off by a factor of 1 + 2^-8 at most, so |x/s| <= q (1 - 2^-16), and with |u| <= 1/2 - 2^-17 the
 * sum is below q + 1/2 by q 2^-16 at least, while its roundings are off by q 2^-22.
 *
 * Why nothing overflows: rotated magnitudes from 2^89 on are refused; those that are decoded are
 * at most 1.2 times as large, and rotating them back makes at most 4096 times that of them, below
 * 2^102. A sum that overflows on the way to y is not finite, nor is what it goes into, so y is
 * refused; likewise whatever comes from NaN or infinity.
 *
 * Cost: one or two more passes over a tile at each end; a small one is in the first-level cache.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_TRANSFORM_H
#define QUANT_TRANSFORM_H

#include "quant_format.h"

/* In the order of their names in quant_rounding_choices and quant_rotation_choices. */
typedef enum quant_rounding {
    QUANT_ROUNDING_NEAREST,
    QUANT_ROUNDING_STOCHASTIC,
    QUANT_ROUNDING_DITHER,
    QUANT_ROUNDINGS,
} quant_rounding_t;

typedef enum quant_rotation {
    QUANT_ROTATION_NONE,
    QUANT_ROTATION_HADAMARD,
    QUANT_ROTATIONS,
} quant_rotation_t;

/* What the numbers of a communicator go through; all zero: nothing. */
typedef struct quant_transform {
    quant_rounding_t rounding;
    quant_rotation_t rotation;
} quant_transform_t;

/* Rotated are the formats with scales. */
static inline bool quant_transform_rotates(const quant_transform_t *transform,
                                           const quant_format_t *format)
{
    return QUANT_ROTATION_NONE != transform->rotation && format->scaled;
}

/* Drawn for are the integers: formats whose codes are whole numbers one apart. */
static inline bool quant_transform_draws(const quant_transform_t *transform,
                                         const quant_format_t *format)
{
    return QUANT_ROUNDING_NEAREST != transform->rounding && format->scaled && !(format->step < 1);
}

/* Is there anything to do for numbers in this format? */
static inline bool quant_transform_applies(const quant_transform_t *transform,
                                           const quant_format_t *format)
{
    return quant_transform_rotates(transform, format) || quant_transform_draws(transform, format);
}

/* Does its receiver take off what was drawn? */
static inline bool quant_transform_dithers(const quant_transform_t *transform,
                                           const quant_format_t *format)
{
    return QUANT_ROUNDING_DITHER == transform->rounding && quant_transform_draws(transform, format);
}

/* Is there something that its receiver has to undo? */
static inline bool quant_transform_undone(const quant_transform_t *transform,
                                          const quant_format_t *format)
{
    return quant_transform_rotates(transform, format) || quant_transform_dithers(transform, format);
}

/* The divisor of scales and the first magnitude that is refused. */
quant_range_t quant_transform_range(const quant_transform_t *transform,
                                    const quant_format_t *format);

/*
 * Where the keys of a communicator begin: by the user's seed, the process that is its rank 0, and
 * how many communicators that process has had, this one included.  The ranks have equal arguments.
 */
uint64_t quant_transform_base(uint64_t seed, uint64_t process, uint64_t communicator);

/*
 * The key of a message of the operation `number`: `round` of the schedule in which a partial sum
 * travels, another number for totals.  Equal for equal arguments, otherwise another one but for a
 * chance of 2^-64.
 */
uint64_t quant_transform_key(uint64_t base, uint32_t number, unsigned round, unsigned shard,
                             uint64_t segment);

#endif
