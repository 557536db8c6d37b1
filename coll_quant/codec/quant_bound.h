/*
 * How large an error can be: bounds of what one rounding adds, for numbers whose
 * largest magnitude ("peak") is known.
 *
 * The peak of a segment is known where its numbers are encoded or added, because
 * scales are made of it.  With it
 *
 *   encoding   at most scale (step/2 + |x / scale| 2^-23), where scale and step are
 *              largest for the peak (docs/format.md)
 *   addition   half a unit in the last place of the sum: at most peak 2^-24; of doubles 2^-53
 *   narrowing  a double to a float: peak 2^-24, or 2^-150 where that is a denormal
 *
 *   rounding   with noise (quant_transform.h): what is rounded is y = x + u s, itself rounded, so
 *              |y| <= (q + 1/2) s for the largest code q.
 *                stochastic   |u s| <= s/2 more:  scale (1 + (q + 1) (2^-23 + 2^-24))
 *                dither       u s is taken off again, rounded once more:
 *                             scale (1/2 + (q + 1) (2^-23 + 2^-24 + 2^-24))
 *   rotation   of 2^k numbers, a = ceil(k/2): 2^a (e + k 2^-24 (1 + 2^-10) (2 peak + e)) + 2^-143,
 *              e what coding adds to a rotated number, peak the largest of these.
 *
 * The last one: let H be the transform without its factor, H H = 2^k.  y = 2^-a H x is computed as
 * y + d, coded and decoded as z, and what comes out is 2^(a-k) H z, computed.
 *
 *   each of the k steps rounds every number once, and its output is sqrt(2) as long, in the
 *   Euclidean norm, as its input: |d| <= r |y|, with r = (1 + 2^-24)^k - 1; r < k 2^-24 (1 + 2^-20)
 *   2^(a-k) H z - x = 2^(a-k) H (z - y), of which an element is at most
 *       2^(a-k) 2^k e = 2^a e                                      for z - (y + d)
 *       2^(a-k) 2^(k/2) |d| <= 2^(a-k/2) r |y| <= 2^a r max|y|     for d
 *   computing H z: at most r 2^(a-k) |H z| <= 2^a r max|z|
 *   max|y| <= peak + |d| <= peak (1 + 2^-14), max|z| <= peak + e; factors are exact but for
 *   denormal results: 2^-150 each, which 2^-143 covers, the first times 2^a <= 2^6
 *
 * Pieces of fewer numbers have less, so k is that of the longest one.
 *
 * A bound travels with the numbers, in the header of their message; what is added
 * to it is rounded up.  Once a sum is not finite there is no bound: infinity.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_BOUND_H
#define QUANT_BOUND_H

#include "quant_payload.h"

/*
 * `error`, and what encoding numbers up to `peak` (bits of a magnitude) in `format`, which can
 * carry them, adds to it.
 */
float quant_bound_encoded(float error, const quant_format_t *format, uint32_t peak);

/* The same for a segment, which may be transformed; `peak` is that of what was coded. */
float quant_bound_coded(float error, const quant_codec_t *codec, uint32_t peak);

/* The errors of two terms, and what the rounding of their sums, up to `peak`, adds to them. */
float quant_bound_added(float error, float other, uint32_t peak);

/* The same of doubles; `peak` is a magnitude. */
float quant_bound_added_doubles(float error, float other, double peak);

/*
 * What the sum of some numbers, made one after the other in numbers of that `unit` (2^-24, 2^-53),
 * may be off: magnitudes up to `most` together, each of the `additions` rounds a sum of some.
 */
float quant_bound_summed(unsigned additions, double most, double unit);

/* `error`, and what rounding doubles up to `peak` to floats adds to it. */
float quant_bound_narrowed(float error, double peak);

/* Is this, as the bits of a float, what a bound can be: not negative, not NaN? */
bool quant_bound_is_valid(uint32_t bits);

#endif
