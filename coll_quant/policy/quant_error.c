/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_error.h"

/* Beyond 12 sigma even 2^32 normals have nothing. */
static const double end = 12.0;

/* Of the relative error of a scale: a twelfth of 2^-14, over the square of a mantissa. */
static const double scale_variance = 0x1p-14 / (32 * M_LN2);

/* Probability that a standard normal is within [-m, m]. */
static double probability_within(double m)
{
    return erf(m * M_SQRT1_2);
}

/*
 * The mean square error of normals known to be within [-m, m], in codes of that scale: in each
 * power of two a twelfth of the square of a step, weighted with what falls there.
 */
static double noise_within(const quant_format_t *format, double scale, double m)
{
    int exponent = 0;
    double squares = 0;
    double upper = m;

    (void) frexp(m / scale, &exponent);
    while (upper > 0) {
        --exponent;
        double step = ldexp(1.0, exponent - (int) format->mantissa);
        const bool even = step <= (double) format->step;
        double lower = even ? 0 : ldexp(scale, exponent);
        step = scale * (even ? (double) format->step : step);
        squares += step * step / 12 * (probability_within(upper) - probability_within(lower));
        upper = lower;
    }
    return squares / probability_within(m);
}

double quant_error_coefficient(const quant_format_t *format, unsigned block_rows)
{
    const unsigned steps = 2000; /* gives six digits */
    const double width = end / steps;
    double integral = 0;

    if (format->exact) {
        return 0;
    }
    if (!format->scaled) {
        return noise_within(format, 1, end);
    }
    const double divisor = (double) format->range.divisor;
    /* Where the divisor is the largest code, one value of each block is off by its scale alone. */
    const bool is_largest = divisor >= ldexp(2, (int) format->mantissa) - 1;
    const double noisy = is_largest ? (block_rows - 1.0) / block_rows : 1;
    for (unsigned i = 0; i < steps; ++i) {
        double m = (i + 0.5) * width;
        double probability = pow(probability_within((i + 1) * width), block_rows) -
                             pow(probability_within(i * width), block_rows);
        integral += probability * (noisy * noise_within(format, m / divisor, m) +
                                   (1 - noisy) * scale_variance * m * m);
    }
    return integral;
}

double quant_error_doubling_nmse(const quant_config_t *config, unsigned ranks)
{
    return quant_doubling_phases(config, ranks) *
           quant_error_coefficient(config->reduce_format, config->block_rows);
}
