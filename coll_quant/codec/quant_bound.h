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
 * A bound travels with the numbers, in the header of their message; what is added
 * to it is rounded up.  Once a sum is not finite there is no bound: infinity.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_BOUND_H
#define QUANT_BOUND_H

#include "quant_format.h"

/*
 * `error`, and what encoding numbers up to `peak` (bits of a magnitude) in `format`, which can
 * carry them, adds to it.
 */
float quant_bound_encoded(float error, const quant_format_t *format, uint32_t peak);

/* The errors of two terms, and what the rounding of their sums, up to `peak`, adds to them. */
float quant_bound_added(float error, float other, uint32_t peak);

/* The same of doubles; `peak` is a magnitude. */
float quant_bound_added_doubles(float error, float other, double peak);

/*
 * The `error` of all terms, and what the sum of some numbers, made one after the other in numbers
 * of that `unit` (2^-24, 2^-53), may be off: magnitudes up to `most` together, each of the
 * `additions` rounds a sum of some.
 */
float quant_bound_summed(double error, unsigned additions, double most, double unit);

/* `error`, and what rounding doubles up to `peak` to floats adds to it. */
float quant_bound_narrowed(float error, double peak);

/* Is this, as the bits of a float, what a bound can be: not negative, not NaN? */
bool quant_bound_is_valid(uint32_t bits);

#endif
