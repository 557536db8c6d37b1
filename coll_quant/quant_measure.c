/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_measure.h"

static double error_of(double result, double exact)
{
    if (isfinite(result) && isfinite(exact)) {
        return result - exact;
    }
    return result == exact || (isnan(result) && isnan(exact)) ? 0 : HUGE_VAL;
}

static void add(quant_errors_t *sums, double result, double exact)
{
    const double error = error_of(result, exact);

    sums->errors += error * error;
    sums->squares += isfinite(exact) ? exact * exact : 0;
    sums->largest = fmax(sums->largest, fabs(error));
}

quant_errors_t quant_errors(const float *result, const float *exact, size_t count)
{
    quant_errors_t sums = {0};

    for (size_t i = 0; i < count; ++i) {
        add(&sums, (double) result[i], (double) exact[i]);
    }
    return sums;
}

quant_errors_t quant_errors_doubles(const double *result, const double *exact, size_t count)
{
    quant_errors_t sums = {0};

    for (size_t i = 0; i < count; ++i) {
        add(&sums, result[i], exact[i]);
    }
    return sums;
}

void quant_errors_add(quant_errors_t *total, const quant_errors_t *part)
{
    total->errors += part->errors;
    total->squares += part->squares;
    total->largest = fmax(total->largest, part->largest);
}

quant_measure_t quant_measure_of(const quant_errors_t *errors, size_t count)
{
    return (quant_measure_t){
        .mse = errors->errors / (double) count,
        .nmse = errors->errors > 0 ? errors->errors / errors->squares : 0,
        .error = errors->largest,
    };
}

void quant_measure_raise(quant_measure_t *largest, const quant_measure_t *other)
{
    largest->mse = fmax(largest->mse, other->mse);
    largest->nmse = fmax(largest->nmse, other->nmse);
    largest->error = fmax(largest->error, other->error);
}
