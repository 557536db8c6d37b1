/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "quant_measure.h"
#include "sizes.h"

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

static double nmse_of(const quant_errors_t *errors)
{
    return errors->errors > 0 ? errors->errors / errors->squares : 0;
}

static quant_errors_t block_of_floats(const float *result, const float *exact, size_t count)
{
    quant_errors_t sums = {.unit = 1};

    for (size_t i = 0; i < count; ++i) {
        add_error(&sums, (double) result[i], (double) exact[i]);
    }
    sums.block_nmse = nmse_of(&sums);
    return sums;
}

/*
 * 1 if that will do, as for all floats; otherwise about the largest magnitude.  Of zeros the least
 * there is: other blocks, however small, are not lost when they are added to these.
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
    exponent = exponent < LEAST || 0 == largest ? LEAST : exponent;
    return abs(exponent) <= PLAIN ? 1 : ldexp(1, exponent - 1);
}

/* In a unit of its own: a block may be far smaller than another one. */
static quant_errors_t block_of_doubles(const double *result, const double *exact, size_t count)
{
    const double unit = unit_for(result, exact, count);
    const double inverse = 1 / unit;
    quant_errors_t sums = {.unit = unit};

    for (size_t i = 0; i < count; ++i) {
        add_error(&sums, result[i] * inverse, exact[i] * inverse);
    }
    sums.largest *= unit;
    sums.block_nmse = nmse_of(&sums);
    return sums;
}

/* The sum of squares in other units, `ratio` of the old ones; infinity times 0 stays infinity. */
static double in_units(double squares, double ratio)
{
    return isinf(squares) ? squares : squares * ratio * ratio;
}

void quant_errors_add(quant_errors_t *total, const quant_errors_t *part)
{
    if (0 == part->unit) {
        return;
    }
    const double unit = fmax(total->unit, part->unit);
    const double of_total = total->unit / unit;
    const double of_part = part->unit / unit;

    total->errors = in_units(total->errors, of_total) + in_units(part->errors, of_part);
    total->squares = in_units(total->squares, of_total) + in_units(part->squares, of_part);
    total->block_nmse = fmax(total->block_nmse, part->block_nmse);
    total->largest = fmax(total->largest, part->largest);
    total->unit = unit;
}

quant_errors_t quant_errors(const float *result, const float *exact, size_t count,
                            size_t block_elems)
{
    quant_errors_t total = {0};

    for (size_t first = 0; first < count; first += block_elems) {
        const size_t elems = arc_min(block_elems, count - first);
        const quant_errors_t block = block_of_floats(result + first, exact + first, elems);
        quant_errors_add(&total, &block);
    }
    return total;
}

quant_errors_t quant_errors_doubles(const double *result, const double *exact, size_t count,
                                    size_t block_elems)
{
    quant_errors_t total = {0};

    for (size_t first = 0; first < count; first += block_elems) {
        const size_t elems = arc_min(block_elems, count - first);
        const quant_errors_t block = block_of_doubles(result + first, exact + first, elems);
        quant_errors_add(&total, &block);
    }
    return total;
}

quant_measure_t quant_measure_of(const quant_errors_t *errors, size_t count)
{
    return (quant_measure_t){
        .mse = errors->errors / (double) count * errors->unit * errors->unit,
        .nmse = nmse_of(errors),
        .block_nmse = errors->block_nmse,
        .error = errors->largest,
    };
}

void quant_measure_raise(quant_measure_t *largest, const quant_measure_t *other)
{
    largest->mse = fmax(largest->mse, other->mse);
    largest->nmse = fmax(largest->nmse, other->nmse);
    largest->block_nmse = fmax(largest->block_nmse, other->block_nmse);
    largest->error = fmax(largest->error, other->error);
}
