/*
 * RMSNorm (Zhang, Sennrich 2019): each row over the root of its mean square, times a gain.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_NORM_H
#define TRANSFORMER_NORM_H

#include <stddef.h>

/* out, x: rows x width; gain: width. */
void norm_forward(const float *x, const float *gain, size_t rows, int width, float *out);

/* Adds to the gradients of x (rows x width) and gain from that of out. */
void norm_backward(const float *x, const float *gain, const float *out_gradient, size_t rows,
                   int width, float *x_gradient, float *gain_gradient);

#endif
