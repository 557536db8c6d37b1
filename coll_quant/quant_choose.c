/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_choose.h"

/*
 * In the order of preference.  full_loop: up to 4 ranks it is the fastest where processors are the
 * limit, and has at most 1.25 times the error of semi_loop.  direct: a rank has messages under way
 * with all others, and each of them carries no more than the vector over N.  recursive_halving:
 * buffers for N/2 segments.
 */
static const struct {
    const char *name;
    unsigned ranks_max;
} preferred[] = {
    {"full_loop", 4},
    {"semi_loop", UINT32_MAX},
    {"direct", 16},
    {"recursive_halving", 64},
};

enum { PREFERRED = sizeof preferred / sizeof preferred[0] };

static const quant_algo_t *first_algo(unsigned ranks)
{
    size_t i = 0;

    while (ranks > preferred[i].ranks_max) {
        ++i;
    }
    return quant_algo_by_name(preferred[i].name);
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
    for (size_t i = 0; i < PREFERRED; ++i) {
        const quant_algo_t *algo =
            NULL != wanted->algo ? wanted->algo : quant_algo_by_name(preferred[i].name);

        if (NULL == wanted->algo && ranks > preferred[i].ranks_max) {
            continue;
        }
        if (wanted->reduce && growth[i] < 0) {
            growth[i] = quant_tree_reduce_growth(algo->tree, ranks);
        }
        const double error =
            (wanted->reduce ? c * growth[i] / ranks : 0) + (wanted->gather ? c : 0);
        if (error * QUANT_CHOOSE_MARGIN < wanted->target_nmse) {
            *nmse = error;
            return algo;
        }
        if (NULL != wanted->algo) {
            break;
        }
    }
    return NULL;
}

static bool choose_for_target(const quant_wanted_t *wanted, unsigned ranks, quant_choice_t *choice)
{
    double growth[PREFERRED] = {-1, -1, -1, -1};
    double best_bits = HUGE_VAL;
    const quant_format_t *format = NULL;

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
    *choice = (quant_choice_t){
        .format = NULL != wanted->format ? wanted->format : quant_format_at(0),
        .algo = NULL != wanted->algo ? wanted->algo : first_algo(ranks),
    };
    return true;
}
