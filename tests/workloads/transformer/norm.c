/*
 * RMSNorm and its gradient.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "norm.h"

#include <math.h>

static const float least_mean_square = 1e-6f; /* a row of zeros stays one */

static float over_root_mean_square(const float *x, int width)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < width; i++) {
        sum += x[i] * x[i];
    }
    return 1 / sqrtf(sum / (float) width + least_mean_square);
}

void norm_forward(const float *x, const float *gain, size_t rows, int width, float *out)
{
    for (size_t row = 0; row < rows; row++) {
        const float *from = x + row * (size_t) width;
        float *to = out + row * (size_t) width;
        const float factor = over_root_mean_square(from, width);

        for (int i = 0; i < width; i++) {
            to[i] = from[i] * factor * gain[i];
        }
    }
}

void norm_backward(const float *x, const float *gain, const float *out_gradient, size_t rows,
                   int width, float *x_gradient, float *gain_gradient)
{
    for (size_t row = 0; row < rows; row++) {
        const size_t begin = row * (size_t) width;
        const float *from = x + begin;
        const float *upper = out_gradient + begin;
        float *lower = x_gradient + begin;
        const float factor = over_root_mean_square(from, width);
        float along = 0; /* how much the gradient points along x */

#pragma omp simd reduction(+ : along)
        for (int i = 0; i < width; i++) {
            along += gain[i] * upper[i] * from[i];
        }
        const float shrink = along * factor * factor * factor / (float) width;
        for (int i = 0; i < width; i++) {
            gain_gradient[i] += upper[i] * from[i] * factor;
            lower[i] += gain[i] * upper[i] * factor - from[i] * shrink;
        }
    }
}
