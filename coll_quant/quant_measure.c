/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_measure.h"

typedef struct sums {
    double errors; /* squared */
    double squares;
    double largest;
} sums_t;

static double error_of(double result, double exact)
{
    if (isfinite(result) && isfinite(exact)) {
        return result - exact;
    }
    return result == exact || (isnan(result) && isnan(exact)) ? 0 : HUGE_VAL;
}

static void add(sums_t *sums, double result, double exact)
{
    const double error = error_of(result, exact);

    sums->errors += error * error;
    sums->squares += isfinite(exact) ? exact * exact : 0;
    sums->largest = fmax(sums->largest, fabs(error));
}

static quant_measure_t measure_of(const sums_t *sums, size_t count)
{
    return (quant_measure_t){
        .mse = sums->errors / (double) count,
        .nmse = sums->errors > 0 ? sums->errors / sums->squares : 0,
        .error = sums->largest,
    };
}

quant_measure_t quant_measure(const float *result, const float *exact, size_t count)
{
    sums_t sums = {0};

    for (size_t i = 0; i < count; ++i) {
        add(&sums, (double) result[i], (double) exact[i]);
    }
    return measure_of(&sums, count);
}

quant_measure_t quant_measure_doubles(const double *result, const double *exact, size_t count)
{
    sums_t sums = {0};

    for (size_t i = 0; i < count; ++i) {
        add(&sums, result[i], exact[i]);
    }
    return measure_of(&sums, count);
}
