/*
 * How large the error of an allreduce is expected to be: closed forms, for elements of variance v,
 * independent, normally distributed.  docs/format.md, "Error", has the formulas and figures, and
 * docs/algorithms_quant.md, "Error", what the edges of a tree add up to.
 *
 * The largest value of a block has the largest code and is off as its scale is, by the rounding
 * to bf16: a mantissa m in [1, 2) by a uniform part of 2^-7, and with 1/m as the density of m over
 * all sizes of numbers the mean square of the relative error is
 *
 *   e = 2^-14/12 * 3/(8 ln 2) = 2^-14 / (32 ln 2).
 *
 * Codes that are floats themselves have a step for every power of two: c is then
 *
 *   c = (B - 1)/B  E[ sum over k of step_k^2/12 P(x in the k-th power of two | |x| < M) ]  +  ...
 *
 * with steps proportional to M, the largest magnitude of B normals, and for bf16 and fp16, which
 * have no scale, the same sum for M without bound.  It holds for v = 1 and changes little with v.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_ERROR_H
#define QUANT_ERROR_H

#include "quant_doubling.h"

/* c of one format: the mean squared error of one quantization of unit variance.  0: exact. */
double quant_error_coefficient(const quant_format_t *format, unsigned block_rows);

/*
 * The mean squared error by doubling (quant_doubling.h) relative to the variance of the exact
 * result, the NMSE.  c for each phase; 0: nothing goes that way.
 */
double quant_error_doubling_nmse(const quant_config_t *config, unsigned ranks);

#endif
