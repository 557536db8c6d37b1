/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "quant_measure.h"

static double error_of(double result, double exact)
{
    if (isfinite(result) && isfinite(exact)) {
        return result - exact;
    }
    return result == exact || (isnan(result) && isnan(exact)) ? 0 : HUGE_VAL;
}

static void add_error(quant_errors_t *sums, double result, double exact)
{
    const double error = error_of(result, exact);

    sums->errors += error * error;
    sums->squares += isfinite(exact) ? exact * exact : 0;
    sums->largest = fmax(sums->largest, fabs(error));
}

quant_errors_t quant_errors(const float *result, const float *exact, size_t count)
{
    quant_errors_t sums = {.unit = 1};

    for (size_t i = 0; i < count; ++i) {
        add_error(&sums, (double) result[i], (double) exact[i]);
    }
    return sums;
}

/* 1 if that will do, as for all floats; otherwise about the largest magnitude. */
static double unit_for(const double *result, const double *exact, size_t count)
{
    enum { PLAIN = 400, LEAST = -1000 }; /* exponents: 2^400 squared, and 2^1000, are doubles */
    double largest = 0;
    int exponent = 0;

    for (size_t i = 0; i < count; ++i) {
        largest = isfinite(result[i]) ? fmax(largest, fabs(result[i])) : largest;
        largest = isfinite(exact[i]) ? fmax(largest, fabs(exact[i])) : largest;
    }
    (void) frexp(largest, &exponent);
    exponent = exponent < LEAST ? LEAST : exponent;
    return abs(exponent) <= PLAIN ? 1 : ldexp(1, exponent - 1);
}

quant_errors_t quant_errors_doubles(const double *result, const double *exact, size_t count)
{
    const double unit = unit_for(result, exact, count);
    const double inverse = 1 / unit;
    quant_errors_t sums = {.unit = unit};

    for (size_t i = 0; i < count; ++i) {
        add_error(&sums, result[i] * inverse, exact[i] * inverse);
    }
    sums.largest *= unit;
    return sums;
}

/* The sum of squares in other units, `ratio` of the old ones; infinity times 0 stays infinity. */
static double in_units(double squares, double ratio)
{
    return isinf(squares) ? squares : squares * ratio * ratio;
}

void quant_errors_add(quant_errors_t *total, const quant_errors_t *part)
{
    const double unit = fmax(total->unit, part->unit);
    const double of_total = total->unit / unit;
    const double of_part = part->unit / unit;

    total->errors = in_units(total->errors, of_total) + in_units(part->errors, of_part);
    total->squares = in_units(total->squares, of_total) + in_units(part->squares, of_part);
    total->largest = fmax(total->largest, part->largest);
    total->unit = unit;
}

quant_measure_t quant_measure_of(const quant_errors_t *errors, size_t count)
{
    return (quant_measure_t){
        .mse = errors->errors / (double) count * errors->unit * errors->unit,
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
