/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "quant_settings.h"

/* clang-format off */
const char *const quant_format_choices[] = {
    "auto",
#define X(_name, ...) #_name,
    QUANT_FORMAT_TABLE(X)
#undef X
    NULL,
};
const char *const quant_algorithm_choices[] = {
    "auto",
#define X(_name, _description) #_name,
    QUANT_ALGO_TABLE(X)
#undef X
    NULL,
};
/* clang-format on */
/* Collectives in the order of exchange_collective_t, and behind them all of these. */
static const char *const quant_collectives_choices[] = {"allreduce", "reduce_scatter_block",
                                                        "allgather", "all", NULL};
#define X(_name, ...) #_name,
static const char *const quant_types_choices[] = {QUANT_TYPES_TABLE(X) NULL};
#undef X
static const char *const quant_stages_choices[] = {"both", "rs", "ag", "none", NULL};

#define ARC_PARAM_CONFIG quant_settings_t
#define ARC_PARAM_FILE "quant_params.def"
#define ARC_PARAM_TABLE quant_params
#include "param_table.h"
static_assert(ARC_PARAM_CHOICES(quant_collectives_choices) == EXCHANGE_COLLECTIVES + 1,
              "a name each");
static_assert(ARC_PARAM_CHOICES(quant_stages_choices) == QUANT_STAGES_NONE + 1, "a name each");

const quant_types_t *quant_settings_types(const quant_settings_t *settings)
{
#define X(_name, _floats, _doubles, _uint16) {_floats, _doubles, _uint16},
    static const quant_types_t types[] = {QUANT_TYPES_TABLE(X)};
#undef X
    return &types[settings->types];
}

static bool quantizes_reduce(const quant_settings_t *settings)
{
    return QUANT_STAGES_BOTH == settings->stages || QUANT_STAGES_REDUCE_SCATTER == settings->stages;
}

static bool quantizes_gather(const quant_settings_t *settings)
{
    return QUANT_STAGES_BOTH == settings->stages || QUANT_STAGES_ALLGATHER == settings->stages;
}

/* Behind "auto" choices are rows of the tables. */
const quant_algo_t *quant_settings_algo(const quant_settings_t *settings)
{
    return quant_algo_at((size_t) settings->algorithm - 1);
}

bool quant_settings_want_collective(const quant_settings_t *settings,
                                    exchange_collective_t collective)
{
    const bool named =
        EXCHANGE_COLLECTIVES == settings->collectives || (int) collective == settings->collectives;

    return named && (EXCHANGE_REDUCE_SCATTER != collective || quantizes_reduce(settings)) &&
           (EXCHANGE_ALLGATHER != collective || quantizes_gather(settings));
}

bool quant_settings_config(const quant_settings_t *settings, unsigned ranks, quant_config_t *config)
{
    const quant_format_t *format = quant_format_at((size_t) settings->format - 1);
    const quant_types_t *types = quant_settings_types(settings);
    quant_config_t chosen = {
        .kernels = config->kernels,
        .algo = quant_settings_algo(settings),
        .reduce_format = quantizes_reduce(settings) ? format : &quant_format_fp32,
        .gather_format = quantizes_gather(settings) ? format : &quant_format_fp32,
        .block_rows = 0 != settings->minishards ? QUANT_BLOCK_ROWS_MAX
                                                : quant_block_of((size_t) settings->block),
        .segment_bytes = settings->segment_bytes,
        .minishards = (unsigned) settings->minishards,
        .microshards = (unsigned) settings->microshards,
        .doubling_bytes = QUANT_DOUBLING_BYTES,
        .depth = QUANT_DEPTH,
        .feedback = 0 != settings->error_feedback,
        .bounded = settings->target_abs > 0 || settings->target_rel > 0,
        .doubles = types->doubles,
        .storage = ARC_TYPE_UINT16 != types->uint16,
        .per_node = config->per_node,
        .order = config->order,
        .alone = config->alone,
    };

    if (!quant_choose(&chosen, ranks, settings->target_nmse)) {
        return false;
    }
    if (quant_config_format(&chosen)->exact) {
        /* Floats need no tiles; with the smallest there is, messages are as long as they may be. */
        chosen.block_rows = QUANT_BLOCK_ROWS_MIN;
        chosen.minishards = 0;
    }
    if (settings->target_nmse > 0 &&
        quant_error_doubling_nmse(&chosen, ranks) * QUANT_CHOOSE_MARGIN >= settings->target_nmse) {
        chosen.doubling_bytes = 0;
    }
    chosen.segment_elems = quant_cut_most_elems(&chosen);
    *config = chosen;
    return true;
}

quant_wish_t quant_wish_parse(const char *text, quant_settings_t *settings)
{
    /* As parameters are written. */
    static const char *const switch_choices[] = {"off", "on", NULL};
    static const arc_param_t on = {
        .kind = ARC_PARAM_KIND_CHOICE, .maximum = INT_MAX, .choices = switch_choices};
    static const arc_param_t format = {
        .kind = ARC_PARAM_KIND_CHOICE, .maximum = INT_MAX, .choices = quant_format_choices};
    static const arc_param_t target = {
        .kind = ARC_PARAM_KIND_FRACTION, .minimum = 1, .maximum = ARC_PARAM_FRACTION_ONE - 1};
    long long value = 0;

    if (ARC_OK == arc_param_parse(&on, text, &value)) {
        return 0 == value ? QUANT_WISH_OFF : QUANT_WISH_ON;
    }
    if (ARC_OK == arc_param_parse(&format, text, &value)) {
        settings->format = (int) value;
        return QUANT_WISH_FORMAT;
    }
    if (ARC_OK == arc_param_parse(&target, text, &value)) {
        settings->format = QUANT_CHOICE_AUTO;
        memcpy(&settings->target_nmse, &value, sizeof settings->target_nmse);
        return QUANT_WISH_TARGET;
    }
    return QUANT_WISH_NONE;
}
