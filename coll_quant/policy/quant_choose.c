/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_choose.h"

/*
 * In the order of preference.  hierarchical: where there are levels.  full_loop: up to 4 ranks it
 * is the fastest where processors are the limit, and has at most 1.25 times the error of semi_loop.
 * recursive_halving: buffers for N/2 segments; where ranks share nodes their links carry 1.4 to 3
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

/*
 * The NMSE that is predicted for `config`, of whose formats the one that is not exact has the
 * coefficient `c`; 0: it does not matter.
 */
static double nmse_of(const quant_config_t *config, unsigned ranks, double c)
{
    const exchange_shape_t shape = quant_config_shape(config, ranks);
    const bool reduces = c > 0 && !config->reduce_format->exact;
    const bool gathers = !config->gather_format->exact;
    const double growth = reduces ? exchange_tree_reduce_growth(config->algo->tree, &shape) : 0;

    return (c * growth / ranks + (gathers ? c : 0)) * (config->feedback ? 2 : 1);
}

/* The first algorithm allowed that is below a limit with this format, if one is. */
static bool choose_algo(quant_config_t *config, unsigned ranks, const quant_format_t *format,
                        double limit)
{
    const double c = isinf(limit) ? 0 : quant_error_coefficient(format, config->block_rows);
    const quant_algo_t *only =
        NULL != config->algo && has_levels(config, config->algo) ? config->algo : NULL;

    for (size_t i = 0; i < PREFERRED; ++i) {
        const quant_algo_t *algo = NULL != only ? only : open_algo(config, ranks, i);
        if (NULL == algo) {
            continue;
        }
        const quant_config_t tried = with(config, format, algo);
        if (nmse_of(&tried, ranks, c) * QUANT_CHOOSE_MARGIN < limit) {
            *config = tried;
            return true;
        }
    }
    return false;
}

/* Any format with scales from `coarsest` on. */
static void widen(quant_config_t *config, const quant_config_t *open,
                  const quant_format_t *coarsest)
{
    const quant_format_t *widest = coarsest;

    for (const quant_format_t *next = widest; NULL != next;) {
        widest = next;
        next = quant_format_above(widest->bits);
    }
    *config = with(open, widest, config->algo);
    config->coarsest = coarsest;
}

bool quant_choose(quant_config_t *config, unsigned ranks, double target_nmse)
{
    const quant_config_t open = *config;
    const bool is_open = NULL == open.reduce_format || NULL == open.gather_format;
    const bool has_target = target_nmse > 0;
    const double limit = has_target                 ? target_nmse
                         : is_open && !open.bounded ? QUANT_AUTO_NMSE
                                                    : HUGE_VAL;
    const quant_format_t *least = quant_format_above(0);
    const quant_format_t *format = !is_open     ? quant_config_format(&open)
                                   : has_target ? least
                                                : quant_format_at(0);

    while (NULL != format && !choose_algo(config, ranks, format, limit)) {
        format = is_open ? quant_format_above(format->bits) : NULL;
    }
    if (NULL != format && is_open && open.bounded) {
        widen(config, &open, has_target ? format : least);
    }
    return NULL != format;
}
