/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_choose.h"

/*
 * In the order of preference.  hierarchical: where there are levels.  full_loop: up to 4 ranks it
 * is the fastest where processors are the limit, and has at most 1.25 times the error of semi_loop.
 * recursive_halving: buffers for N/2 segments; where ranks share nodes their links carry several
 * times as many bytes as with a loop.  direct: a rank has messages under way with all
 * others, and each of them carries no more than the vector over N.
 */
static const struct {
    unsigned algo;
    unsigned ranks_min;
    unsigned ranks_max;
    bool alone; /* only where each rank has a node for itself */
} preferred[] = {
    {QUANT_ALGO_hierarchical, 0, UINT32_MAX, false},
    {QUANT_ALGO_full_loop, 0, 4, false},
    {QUANT_ALGO_recursive_halving, EXCHANGE_PACKS_NODES_MIN, EXCHANGE_PACKS_NODES_MAX, true},
    {QUANT_ALGO_semi_loop, 0, UINT32_MAX, false},
    {QUANT_ALGO_direct, 0, 16, false},
    {QUANT_ALGO_recursive_halving, 0, 64, false},
};

enum { PREFERRED = sizeof preferred / sizeof preferred[0] };

static bool has_levels(const quant_config_t *config, const quant_algo_t *algo)
{
    return !algo->tree->levels || config->per_node > 1;
}

/* The i-th one, if it is for so many ranks, on these nodes; otherwise NULL. */
static const quant_algo_t *open_algo(const quant_config_t *config, unsigned ranks, size_t i)
{
    const quant_algo_t *algo = quant_algo_at(preferred[i].algo);

    return ranks >= preferred[i].ranks_min && ranks <= preferred[i].ranks_max &&
                   (config->alone || !preferred[i].alone) && has_levels(config, algo)
               ? algo
               : NULL;
}

/* What is named, NULL if that is left open, or if there are no levels for it. */
static const quant_algo_t *named_algo(const quant_config_t *config)
{
    return NULL != config->algo && has_levels(config, config->algo) ? config->algo : NULL;
}

static const quant_algo_t *first_algo(const quant_config_t *config, unsigned ranks)
{
    const quant_algo_t *algo = named_algo(config);

    for (size_t i = 0; NULL == algo; ++i) {
        algo = open_algo(config, ranks, i);
    }
    return algo;
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
        const quant_algo_t *algo = NULL != only ? only : open_algo(config, ranks, i);

        if (NULL == algo) {
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

/* What is named, or else the formats with scales, more and more exact, from `least` on; then NULL.
 */
static const quant_format_t *next_format(const quant_config_t *open, const quant_format_t *last,
                                         const quant_format_t *least)
{
    if (NULL == last) {
        return is_format_open(open) ? least : quant_config_format(open);
    }
    return is_format_open(open) ? quant_format_above(last->bits) : NULL;
}

static bool choose_below(quant_config_t *config, unsigned ranks, double nmse,
                         const quant_format_t *least)
{
    const quant_format_t *format = NULL;
    double growth[PREFERRED];

    for (size_t i = 0; i < PREFERRED; ++i) {
        growth[i] = -1;
    }
    while (NULL != (format = next_format(config, format, least))) {
        const quant_config_t tried = with(config, format, config->algo);
        const double c = quant_error_coefficient(format, config->block_rows);
        const quant_algo_t *algo = fitting_algo(&tried, ranks, c, nmse, growth);
        if (NULL != algo) {
            *config = with(config, format, algo);
            return true;
        }
    }
    return false;
}

bool quant_choose_range(quant_config_t *config, unsigned ranks, double target_nmse)
{
    const quant_limits_t limits = {.target_nmse = target_nmse};
    const quant_config_t open = *config;

    if (!quant_choose(config, ranks, &limits)) {
        return false;
    }
    if (is_format_open(&open)) {
        const quant_format_t *coarsest =
            target_nmse > 0 ? quant_config_format(config) : quant_format_above(0);
        const quant_format_t *widest = coarsest;
        for (const quant_format_t *next = widest; NULL != next;) {
            widest = next;
            next = quant_format_above(widest->bits);
        }
        *config = with(&open, widest, config->algo);
        config->coarsest = coarsest;
    }
    return true;
}

bool quant_choose(quant_config_t *config, unsigned ranks, const quant_limits_t *limits)
{
    const quant_format_t *usual = quant_format_at(0);

    if (limits->target_nmse > 0) {
        return choose_below(config, ranks, limits->target_nmse, quant_format_above(0));
    }
    if (limits->auto_nmse > 0 && is_format_open(config)) {
        return choose_below(config, ranks, limits->auto_nmse, usual);
    }
    *config = with(config, usual, first_algo(config, ranks));
    return true;
}
