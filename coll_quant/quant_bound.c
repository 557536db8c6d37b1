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
    float rounded = (float) value;

    if ((double) rounded < value) {
        uint32_t bits = 0;
        memcpy(&bits, &rounded, sizeof bits);
        ++bits; /* the next float: infinity after the largest one */
        memcpy(&rounded, &bits, sizeof rounded);
    }
    return rounded;
}

/* The distance of codes at `quotient`, which is not 0 (columns of quant_format_table.h). */
static double step_at(const quant_format_t *format, double quotient)
{
    int exponent = 0;

    (void) frexp(quotient, &exponent);
    const double step = ldexp(1, exponent - 1 - (int) format->mantissa);
    return step > (double) format->step ? step : (double) format->step;
}

static double encoding_error(const quant_format_t *format, double peak)
{
    const double scale_min = (double) format->range.scale_min;
    double scale = peak / (double) format->range.divisor * (1 + 0x1p-8) * (1 + 0x1p-23) * slack;

    if (!format->scaled) {
        return step_at(format, peak) / 2;
    }
    scale = scale > scale_min ? scale : scale_min;
    /*
     * The true scale may be smaller by a part of 2^-7, and then the quotient larger; the divisor
     * leaves room for that below the next power of two.
     */
    const double quotient = (double) format->range.divisor * (1 + 0x1p-7);
    return scale * (step_at(format, (double) format->range.divisor) / 2 + quotient * 0x1p-23);
}

float quant_bound_encoded(float error, const quant_format_t *format, uint32_t peak)
{
    if (quant_format_is_exact(format) || (0 == peak && !format->scaled)) {
        return error;
    }
    return round_up(((double) error + encoding_error(format, magnitude(peak))) * slack);
}

float quant_bound_added(float error, float other, uint32_t peak)
{
    if (peak >= infinity_bits) {
        return INFINITY;
    }
    return round_up(((double) error + (double) other + magnitude(peak) * 0x1p-24) * slack);
}

bool quant_bound_is_valid(uint32_t bits)
{
    return bits <= infinity_bits;
}
