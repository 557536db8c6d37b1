/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_algos.h"
#include "quant_ring.h"

static const quant_algo_t algos[] = {
    {
        .name = "full_loop",
        .description = "one ring, partial sums quantized again at every rank",
        .memory_bytes = quant_ring_memory_bytes,
        .init = quant_ring_init,
        .start = quant_ring_start,
        .abort = quant_ring_abort,
        .reduce_growth = quant_ring_reduce_growth,
    },
};

enum { ALGOS = sizeof(algos) / sizeof(algos[0]) };

const quant_algo_t *quant_algo_at(size_t index)
{
    return index < ALGOS ? &algos[index] : NULL;
}

const quant_algo_t *quant_algo_by_name(const char *name)
{
    for (size_t i = 0; i < ALGOS; ++i) {
        if (0 == strcmp(name, algos[i].name)) {
            return &algos[i];
        }
    }
    return NULL;
}

arc_status_t quant_config_check(const quant_config_t *config)
{
    if (NULL == config->kernels || NULL == config->reduce_format || NULL == config->gather_format) {
        return ARC_ERR_INVALID;
    }
    if (config->block_rows < QUANT_BLOCK_ROWS_MIN || config->block_rows > QUANT_BLOCK_ROWS_MAX) {
        return ARC_ERR_INVALID;
    }
    if (0 == config->segment_elems || config->segment_elems > QUANT_SEGMENT_ELEMS_MAX ||
        0 != config->segment_elems % ((size_t) config->block_rows * QUANT_LANES)) {
        return ARC_ERR_INVALID;
    }
    if (config->depth < QUANT_DEPTH_MIN || config->depth > QUANT_DEPTH_MAX) {
        return ARC_ERR_INVALID;
    }
    return ARC_OK;
}
