/*
 * What the user may set, and the configuration that follows from it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_SETTINGS_H
#define QUANT_SETTINGS_H

#include "param.h"
#include "quant_algos.h"

typedef struct quant_settings {
#define ARC_PARAM_LIST "quant_params.def"
#include "param_fields.h"
} quant_settings_t;

enum { QUANT_STAGES_BOTH, QUANT_STAGES_REDUCE_SCATTER, QUANT_STAGES_ALLGATHER, QUANT_STAGES_NONE };
enum { QUANT_FORMAT_DEFAULT = 0 }; /* int8 */

extern const char *const quant_format_choices[];
extern const char *const quant_algorithm_choices[];

extern const arc_param_t quant_params[];
extern const size_t quant_params_count;

/* The algorithm that the settings name. */
const quant_algo_t *quant_settings_algo(const quant_settings_t *settings);

/*
 * The configuration for settings whose values are in range; `format` is an
 * index into quant_format_choices, `kernels` must outlive the configuration.
 * It passes quant_config_check().
 */
quant_config_t quant_settings_config(const quant_settings_t *settings, int format,
                                     const quant_kernels_t *kernels);

/* What a communicator's info key says: */
typedef enum quant_wish {
    QUANT_WISH_NONE, /* nothing, or nothing that is understood */
    QUANT_WISH_OFF,
    QUANT_WISH_ON,
    QUANT_WISH_FORMAT, /* on, with the format in *format */
} quant_wish_t;
quant_wish_t quant_wish_parse(const char *text, int *format);

#endif
