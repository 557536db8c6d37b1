/*
 * The mean squared error of one element of an allreduce of contributions of variance `variance`, in
 * theory; where calls have blocks of their own (quant_algos.h) at most this: config->block_rows is
 * the most.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_MSE_H
#define QUANT_MSE_H

#include "quant_error.h"

static inline double quant_error_mse(const quant_config_t *config, unsigned ranks, double variance)
{
    const double reduce = quant_error_coefficient(config->reduce_format, config->block_rows);
    const double gather = quant_error_coefficient(config->gather_format, config->block_rows);
    const exchange_shape_t shape = quant_config_shape(config, ranks);

    return (reduce * exchange_tree_reduce_growth(config->algo->tree, &shape) + gather * ranks) *
           variance;
}

#endif
