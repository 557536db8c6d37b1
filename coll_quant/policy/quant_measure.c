/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "quant_measure.h"

/* Of numbers divided by a power of two. */
typedef struct sums {
    double errors;  /* their squares */
    double squares; /* of the exact result */
    double largest; /* magnitude of an error */
} sums_t;

static double error_of(double result, double exact)
{
    if (isfinite(result) && isfinite(exact)) {
        return result - exact;
    }
    return result == exact || (isnan(result) && isnan(exact)) ? 0 : HUGE_VAL;
}

static void add_error(sums_t *sums, double result, double exact)
{
    const double error = error_of(result, exact);

    sums->errors += error * error;
    sums->squares += isfinite(exact) ? exact * exact : 0;
    sums->largest = fmax(sums->largest, fabs(error));
}

static double number_at(const void *numbers, bool are_doubles, size_t i)
{
    return are_doubles ? ((const double *) numbers)[i] : (double) ((const float *) numbers)[i];
}

/*
 * 1 if the squares of the numbers are doubles then, as of all floats; otherwise about the largest
 * magnitude.
 */
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

quant_measure_t quant_measure(const void *result, const void *exact, bool are_doubles, size_t count)
{
    const double unit = are_doubles ? unit_for(result, exact, count) : 1;
    const double inverse = 1 / unit;
    sums_t sums = {0};

    for (size_t i = 0; i < count; ++i) {
        add_error(&sums, number_at(result, are_doubles, i) * inverse,
                  number_at(exact, are_doubles, i) * inverse);
    }
    return (quant_measure_t){
        .nmse = sums.errors > 0 ? sums.errors / sums.squares : 0,
        .error = sums.largest * unit,
    };
}

void quant_measure_raise(quant_measure_t *largest, const quant_measure_t *other)
{
    largest->nmse = fmax(largest->nmse, other->nmse);
    largest->error = fmax(largest->error, other->error);
}
