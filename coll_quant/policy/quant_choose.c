/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_choose.h"

/*
 * In the order of preference.  hierarchical: where there are levels.  full_loop: up to 4 ranks it
 * is the fastest where processors are the limit, and has at most 1.25 times the error of semi_loop.
 * direct: a rank has messages under way with all others, and each of them carries no more than the
 * vector over N.  recursive_halving: buffers for N/2 segments.
 */
static const struct {
    const exchange_tree_t *tree;
    unsigned ranks_max;
} preferred[] = {
    {&exchange_hierarchical, UINT32_MAX}, {&exchange_full_loop, 4},
    {&exchange_semi_loop, UINT32_MAX},    {&exchange_direct, 16},
    {&exchange_recursive_halving, 64},
};

enum { PREFERRED = sizeof preferred / sizeof preferred[0] };

static const quant_algo_t *algo_of(const exchange_tree_t *tree)
{
    size_t i = 0;

    while (tree != quant_algo_at(i)->tree) {
        ++i;
    }
    return quant_algo_at(i);
}

/* Is the i-th one for so many ranks, on these nodes? */
static bool is_open(const quant_config_t *config, unsigned ranks, size_t i)
{
    return ranks <= preferred[i].ranks_max && (!preferred[i].tree->levels || config->per_node > 1);
}

/* What is named, NULL if that is left open, or if there are no levels for it. */
static const quant_algo_t *named_algo(const quant_config_t *config)
{
    const bool fits = NULL != config->algo && (!config->algo->tree->levels || config->per_node > 1);
    return fits ? config->algo : NULL;
}

static const quant_algo_t *first_algo(const quant_config_t *config, unsigned ranks)
{
    size_t i = 0;

    while (!is_open(config, ranks, i)) {
        ++i;
    }
    return algo_of(preferred[i].tree);
}

/* The same with this format and algorithm where they are open. */
static quant_config_t with(const quant_config_t *open, const quant_format_t *format,
                           const quant_algo_t *algo)
{
    quant_config_t config = *open;

    config.algo = algo;
    config.reduce_format = NULL != open->reduce_format ? open->reduce_format : format;
    config.gather_format = NULL != open->gather_format ? open->gather_format : format;
    return config;
}

static bool is_format_open(const quant_config_t *config)
{
    return NULL == config->reduce_format || NULL == config->gather_format;
}

/* On the wire, for each element: its code and its part of a scale. */
static double bits_of(const quant_format_t *format, unsigned block_rows)
{
    return format->bits + (format->scaled ? 16.0 / block_rows : 0);
}

/*
 * The first algorithm allowed that meets the target with the formats of `config`, of which the one
 * that is not exact has the coefficient `c`; NULL if none does.  The growth of the errors, which
 * may be costly, is looked up where it was found before.
 */
static const quant_algo_t *fitting_algo(const quant_config_t *config, unsigned ranks, double c,
                                        double target_nmse, double growth[PREFERRED])
{
    const quant_algo_t *only = named_algo(config);
    const bool reduces = !quant_format_is_exact(config->reduce_format);
    const bool gathers = !quant_format_is_exact(config->gather_format);

    for (size_t i = 0; i < PREFERRED; ++i) {
        const quant_algo_t *algo = NULL != only ? only : algo_of(preferred[i].tree);

        if (NULL == only && !is_open(config, ranks, i)) {
            continue;
        }
        if (reduces && growth[i] < 0) {
            const quant_config_t tried = with(config, NULL, algo);
            const exchange_shape_t shape = quant_config_shape(&tried, ranks);
            growth[i] = exchange_tree_reduce_growth(algo->tree, &shape);
        }
        const double error = ((reduces ? c * growth[i] / ranks : 0) + (gathers ? c : 0)) *
                             (config->feedback ? 2 : 1);
        if (error * QUANT_CHOOSE_MARGIN < target_nmse) {
            return algo;
        }
        if (NULL != only) {
            break;
        }
    }
    return NULL;
}

/* Of the formats that have at least so many bits. */
static bool choose_below(quant_config_t *config, unsigned ranks, double nmse, double least_bits)
{
    const quant_config_t open = *config;
    double growth[PREFERRED];
    double best_bits = HUGE_VAL;
    const quant_format_t *format = NULL;

    for (size_t i = 0; i < PREFERRED; ++i) {
        growth[i] = -1;
    }
    for (size_t i = 0; NULL != (format = quant_format_at(i)); ++i) {
        const bool allowed =
            is_format_open(&open) ? format->scaled : format == quant_config_format(&open);
        const double bits = bits_of(format, open.block_rows);

        if (!allowed || bits < least_bits || bits >= best_bits) {
            continue;
        }
        const quant_config_t tried = with(&open, format, open.algo);
        const double c = quant_error_coefficient(format, open.block_rows);
        const quant_algo_t *algo = fitting_algo(&tried, ranks, c, nmse, growth);
        if (NULL != algo) {
            best_bits = bits;
            *config = with(&open, format, algo);
        }
    }
    return isfinite(best_bits);
}

/* The format with scales of the fewest bits, or of the most. */
static const quant_format_t *outermost_format(bool widest)
{
    const quant_format_t *outermost = NULL;
    const quant_format_t *format = NULL;

    for (size_t i = 0; NULL != (format = quant_format_at(i)); ++i) {
        if (format->scaled && (NULL == outermost || (widest ? format->bits > outermost->bits
                                                            : format->bits < outermost->bits))) {
            outermost = format;
        }
    }
    return outermost;
}

bool quant_choose_range(quant_config_t *config, unsigned ranks, double target_nmse)
{
    const quant_format_t *widest = outermost_format(true);
    const quant_limits_t limits = {.target_nmse = target_nmse};
    const quant_config_t open = *config;

    if (!quant_choose(config, ranks, &limits)) {
        return false;
    }
    if (is_format_open(&open)) {
        const quant_format_t *coarsest =
            target_nmse > 0 ? quant_config_format(config) : outermost_format(false);
        *config = with(&open, widest, config->algo);
        config->coarsest = coarsest;
    }
    return true;
}

bool quant_choose(quant_config_t *config, unsigned ranks, const quant_limits_t *limits)
{
    const quant_format_t *usual = quant_format_at(0);

    if (limits->target_nmse > 0) {
        return choose_below(config, ranks, limits->target_nmse, 0);
    }
    if (limits->auto_nmse > 0 && is_format_open(config)) {
        return choose_below(config, ranks, limits->auto_nmse, bits_of(usual, config->block_rows));
    }
    const quant_algo_t *only = named_algo(config);
    *config = with(config, usual, NULL != only ? only : first_algo(config, ranks));
    return true;
}
