/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "quant_bound.h"

static const uint32_t infinity_bits = UINT32_C(0x7f800000);

/* More than a few additions of doubles lose. */
static const double slack = 1 + 0x1p-40;

static double magnitude(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return (double) value;
}

/* The least float that is not below `value`, which is not negative. */
static float round_up(double value)
{
    const float rounded = (float) value;

    return (double) rounded < value ? nextafterf(rounded, INFINITY) : rounded;
}

/* The distance of codes at `quotient`, which is not 0 (columns of quant_format_table.h). */
static double step_at(const quant_format_t *format, double quotient)
{
    int exponent = 0;

    (void) frexp(quotient, &exponent);
    const double step = ldexp(1, exponent - 1 - (int) format->mantissa);
    return step > (double) format->step ? step : (double) format->step;
}

/* The largest scale of numbers up to `peak`. */
static double scale_of(const quant_range_t *range, double peak)
{
    const double scale_min = (double) range->scale_min;
    const double scale = peak / (double) range->divisor * (1 + 0x1p-8) * (1 + 0x1p-23) * slack;

    return scale > scale_min ? scale : scale_min;
}

static double encoding_error(const quant_format_t *format, double peak)
{
    if (!format->scaled) {
        return step_at(format, peak) / 2;
    }
    /*
     * The true scale may be smaller by a part of 2^-7, and then the quotient larger; the divisor
     * leaves room for that below the next power of two.
     */
    const double divisor = (double) format->range.divisor;
    const double quotient = divisor * (1 + 0x1p-7);
    return scale_of(&format->range, peak) * (step_at(format, divisor) / 2 + quotient * 0x1p-23);
}

float quant_bound_encoded(float error, const quant_format_t *format, uint32_t peak)
{
    if (format->exact || (0 == peak && !format->scaled)) {
        return error;
    }
    return round_up(((double) error + encoding_error(format, magnitude(peak))) * slack);
}

/* `error` of numbers up to `peak`; none if that is not finite. */
static float bound_of(double error, double peak)
{
    return isfinite(peak) ? round_up(error * slack) : INFINITY;
}

float quant_bound_added(float error, float other, uint32_t peak)
{
    const double most = magnitude(peak);
    return bound_of((double) error + (double) other + most * 0x1p-24, most);
}

float quant_bound_added_doubles(float error, float other, double peak)
{
    return bound_of((double) error + (double) other + peak * 0x1p-53, peak);
}

float quant_bound_summed(double error, unsigned additions, double most, double unit)
{
    /* Sums that were rounded before are longer than the magnitudes by that part, at most. */
    const double rounded = 1 + additions * unit * slack;

    return bound_of(error + additions * most * unit * rounded, most);
}

float quant_bound_narrowed(float error, double peak)
{
    return bound_of((double) error + peak * 0x1p-24 + 0x1p-150, peak);
}

bool quant_bound_is_valid(uint32_t bits)
{
    return bits <= infinity_bits;
}
