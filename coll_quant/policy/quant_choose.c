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

/* Is the i-th one for so many ranks, on these machines? */
static bool is_open(const quant_wanted_t *wanted, unsigned ranks, size_t i)
{
    return ranks <= preferred[i].ranks_max &&
           (!preferred[i].tree->levels || wanted->per_machine > 1);
}

/* What is named, NULL if that is left open, or if there are no levels for it. */
static const quant_algo_t *named(const quant_wanted_t *wanted)
{
    const bool fits =
        NULL != wanted->algo && (!wanted->algo->tree->levels || wanted->per_machine > 1);
    return fits ? wanted->algo : NULL;
}

static const quant_algo_t *first_algo(const quant_wanted_t *wanted, unsigned ranks)
{
    size_t i = 0;

    while (!is_open(wanted, ranks, i)) {
        ++i;
    }
    return algo_of(preferred[i].tree);
}

/* On the wire, for each element: its code and its part of a scale. */
static double bits_of(const quant_format_t *format, unsigned block_rows)
{
    return format->bits + (format->scaled ? 16.0 / block_rows : 0);
}

/*
 * The first algorithm allowed that meets the target with a format of coefficient `c`; NULL if none
 * does.  The growth of the errors, which may be costly, is looked up where it was found before.
 */
static const quant_algo_t *fitting_algo(const quant_wanted_t *wanted, unsigned ranks, double c,
                                        double growth[PREFERRED], double *nmse)
{
    const quant_algo_t *only = named(wanted);
    const quant_config_t config = {.per_machine = wanted->per_machine};

    for (size_t i = 0; i < PREFERRED; ++i) {
        const quant_algo_t *algo = NULL != only ? only : algo_of(preferred[i].tree);

        if (NULL == only && !is_open(wanted, ranks, i)) {
            continue;
        }
        if (wanted->reduce && growth[i] < 0) {
            const exchange_shape_t shape = quant_algo_shape(algo, &config, ranks);
            growth[i] = exchange_tree_reduce_growth(algo->tree, &shape);
        }
        const double error =
            ((wanted->reduce ? c * growth[i] / ranks : 0) + (wanted->gather ? c : 0)) *
            (wanted->feedback ? 2 : 1);
        if (error * QUANT_CHOOSE_MARGIN < wanted->target_nmse) {
            *nmse = error;
            return algo;
        }
        if (NULL != only) {
            break;
        }
    }
    return NULL;
}

static bool choose_for_target(const quant_wanted_t *wanted, unsigned ranks, quant_choice_t *choice)
{
    double growth[PREFERRED];
    double best_bits = HUGE_VAL;
    const quant_format_t *format = NULL;

    for (size_t i = 0; i < PREFERRED; ++i) {
        growth[i] = -1;
    }
    for (size_t i = 0; NULL != (format = quant_format_at(i)); ++i) {
        const bool allowed = NULL != wanted->format ? wanted->format == format : format->scaled;
        const double bits = bits_of(format, wanted->block_rows);
        double nmse = 0;

        if (!allowed || bits >= best_bits) {
            continue;
        }
        const double c = quant_error_of_rounding(format, wanted->rounding, wanted->block_rows);
        const quant_algo_t *algo = fitting_algo(wanted, ranks, c, growth, &nmse);
        if (NULL != algo) {
            best_bits = bits;
            *choice = (quant_choice_t){.format = format, .algo = algo, .nmse = nmse};
        }
    }
    return isfinite(best_bits);
}

bool quant_choose(const quant_wanted_t *wanted, unsigned ranks, quant_choice_t *choice)
{
    if (wanted->target_nmse > 0) {
        return choose_for_target(wanted, ranks, choice);
    }
    const quant_algo_t *only = named(wanted);
    *choice = (quant_choice_t){
        .format = NULL != wanted->format ? wanted->format : quant_format_at(0),
        .algo = NULL != only ? only : first_algo(wanted, ranks),
    };
    return true;
}
