/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <strings.h>

#include "cpu.h"
#include "element.h"
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
static const char *const quant_stages_choices[] = {"both", "rs", "ag", "none", NULL};
static const char *const arc_uint16_choices[] = ARC_UINT16_CHOICES;
static const char *const arc_isa_choices[] = ARC_ISA_NAMES;

const arc_param_t quant_params[] = {
#define ARC_PARAM_CONFIG quant_settings_t
#define ARC_PARAM_LIST "quant_params.def"
#include "param_rows.h"
};
const size_t quant_params_count = sizeof quant_params / sizeof quant_params[0];

static bool quantizes_reduce(const quant_settings_t *settings)
{
    return QUANT_STAGES_BOTH == settings->stages || QUANT_STAGES_REDUCE_SCATTER == settings->stages;
}

static bool quantizes_gather(const quant_settings_t *settings)
{
    return QUANT_STAGES_BOTH == settings->stages || QUANT_STAGES_ALLGATHER == settings->stages;
}

bool quant_settings_choose(const quant_settings_t *settings, unsigned ranks, quant_choice_t *choice)
{
    /* There is no row of a table with the name "auto". */
    const quant_wanted_t wanted = {
        .format = quant_format_by_name(quant_format_choices[settings->format]),
        .algo = quant_algo_by_name(quant_algorithm_choices[settings->algorithm]),
        .reduce = quantizes_reduce(settings),
        .gather = quantizes_gather(settings),
        .block_rows = (unsigned) settings->block,
        .target_nmse = settings->target_nmse,
    };
    return quant_choose(&wanted, ranks, choice);
}

quant_config_t quant_settings_config(const quant_settings_t *settings, const quant_format_t *format,
                                     const quant_kernels_t *kernels)
{
    const size_t tile_elems = (size_t) settings->block * QUANT_LANES;
    const size_t segment_elems = settings->segment_bytes / sizeof(float) / tile_elems * tile_elems;

    return (quant_config_t){
        .kernels = kernels,
        .reduce_format = quantizes_reduce(settings) ? format : &quant_format_fp32,
        .gather_format = quantizes_gather(settings) ? format : &quant_format_fp32,
        .block_rows = (unsigned) settings->block,
        .segment_elems = segment_elems > 0 ? segment_elems : tile_elems,
        .depth = (unsigned) settings->depth,
        .feedback = settings->error_feedback,
    };
}

quant_wish_t quant_wish_parse(const char *text, int *format)
{
    if (0 == strcasecmp(text, "off")) {
        return QUANT_WISH_OFF;
    }
    if (0 == strcasecmp(text, "on")) {
        return QUANT_WISH_ON;
    }
    for (int choice = 0; NULL != quant_format_choices[choice]; ++choice) {
        if (0 == strcasecmp(text, quant_format_choices[choice])) {
            *format = choice;
            return QUANT_WISH_FORMAT;
        }
    }
    return QUANT_WISH_NONE;
}
