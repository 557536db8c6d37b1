/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_error.h"

/* E[M^2] of `block` standard normals, by the midpoint rule. */
static double largest_square(unsigned block)
{
    /* Beyond 12 sigma even 2^32 normals have nothing; 1e4 steps give seven digits. */
    const double end = 12.0;
    const unsigned steps = 10000;
    const double width = end / steps;
    double integral = 0;

    for (unsigned i = 0; i < steps; ++i) {
        double m = (i + 0.5) * width;
        integral += 2 * m * (1 - pow(erf(m * M_SQRT1_2), block)) * width;
    }
    return integral;
}

double quant_error_coefficient(const quant_format_t *format, unsigned block_rows)
{
    if (0 == format->code_max) {
        return 0;
    }
    double code_max = format->code_max;
    double inexact = (block_rows - 1.0) / block_rows;
    return inexact * largest_square(block_rows) / (12 * code_max * code_max);
}

double quant_error_mse(const quant_algo_t *algo, const quant_config_t *config, unsigned ranks,
                       double variance)
{
    double reduce = quant_error_coefficient(config->reduce_format, config->block_rows);
    double gather = quant_error_coefficient(config->gather_format, config->block_rows);
    return (reduce * quant_tree_reduce_growth(algo->tree, ranks) + gather * ranks) * variance;
}
