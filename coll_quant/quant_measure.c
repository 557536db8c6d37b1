/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_measure.h"

static double error_of(float result, float exact)
{
    if (isfinite(result) && isfinite(exact)) {
        return (double) result - (double) exact;
    }
    return result == exact || (isnan(result) && isnan(exact)) ? 0 : HUGE_VAL;
}

quant_measure_t quant_measure(const float *result, const float *exact, size_t count)
{
    double errors = 0;
    double squares = 0;
    double largest = 0;

    for (size_t i = 0; i < count; ++i) {
        const double error = error_of(result[i], exact[i]);
        errors += error * error;
        squares += isfinite(exact[i]) ? (double) exact[i] * (double) exact[i] : 0;
        largest = fmax(largest, fabs(error));
    }
    return (quant_measure_t){
        .mse = errors / (double) count,
        .nmse = errors > 0 ? errors / squares : 0,
        .error = largest,
    };
}
