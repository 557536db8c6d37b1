/*
 * The settings that coll_quant has by default, and the limits that each of its configurations
 * keeps (quant_algos.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_VALID_H
#define QUANT_VALID_H

#include <string.h>

#include "quant_algos.h"
#include "quant_settings.h"

static inline quant_settings_t quant_defaults(void)
{
    quant_settings_t settings;

    memset(&settings, 0, sizeof settings);
    for (size_t i = 0; NULL != quant_params[i].name; ++i) {
        arc_param_set(&quant_params[i], &settings, quant_params[i].default_value);
    }
    return settings;
}

static inline bool quant_config_is_valid(const quant_config_t *config)
{
    return NULL != config->kernels && NULL != config->algo && NULL != config->reduce_format &&
           NULL != config->gather_format &&
           config->block_rows == quant_block_of(config->block_rows) && 0 != config->segment_elems &&
           config->segment_elems <= QUANT_SEGMENT_ELEMS_MAX &&
           0 == config->segment_elems % ((size_t) config->block_rows * QUANT_LANES) &&
           (0 == config->minishards || config->segment_bytes >= sizeof(quant_wire_header_t)) &&
           config->depth >= EXCHANGE_DEPTH_MIN && config->depth <= EXCHANGE_DEPTH_MAX;
}

#endif
