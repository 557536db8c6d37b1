/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_pipeline.h"
#include "quant_doubling.h"
#include "quant_coder.h"
#include "quant_pipeline.h"
#include "sizes.h"

struct quant_pipeline {
    quant_coder_t *coder;
    unsigned ranks;
    arc_task_t *exchange;
    arc_task_t *doubling; /* NULL: nothing goes that way */
};

/* The parts of the memory of a task, in their order. */
typedef enum part { PART_STATE, PART_CODER, PART_EXCHANGE, PART_DOUBLING, PARTS } part_t;

/* Where each part begins, and behind the last one the end. */
static void lay_out(const quant_config_t *config, unsigned ranks, size_t begin[PARTS + 1])
{
    const exchange_config_t exchange = quant_coder_exchange(config, ranks);
    const size_t bytes[PARTS] = {
        [PART_STATE] = sizeof(quant_pipeline_t),
        [PART_CODER] = quant_coder_memory_bytes(config),
        [PART_EXCHANGE] = exchange_pipeline_memory_bytes(&exchange),
        [PART_DOUBLING] = 0 != quant_doubling_phases(config, ranks)
                              ? quant_doubling_memory_bytes(config, ranks)
                              : 0,
    };

    arc_lay_out(bytes, PARTS, EXCHANGE_ALIGN_BYTES, begin);
}

size_t quant_pipeline_memory_bytes(const quant_config_t *config, unsigned ranks)
{
    size_t begin[PARTS + 1];

    lay_out(config, ranks, begin);
    return begin[PARTS];
}

quant_pipeline_t *quant_pipeline_init(const quant_config_t *config, arc_stream_t *stream,
                                      void *memory)
{
    const exchange_config_t exchange = quant_coder_exchange(config, stream->ranks);
    quant_pipeline_t *pipeline = memory;
    uint8_t *base = memory;
    size_t begin[PARTS + 1];

    lay_out(config, stream->ranks, begin);
    quant_coder_t *coder = quant_coder_init(config, stream->rank, base + begin[PART_CODER]);
    *pipeline = (quant_pipeline_t){
        .coder = coder,
        .ranks = stream->ranks,
        .exchange = exchange_pipeline_init(&exchange, stream->rank, stream, &coder->base,
                                           base + begin[PART_EXCHANGE]),
    };
    if (0 != quant_doubling_phases(config, stream->ranks)) {
        pipeline->doubling = quant_doubling_init(coder, stream, base + begin[PART_DOUBLING]);
    }
    return pipeline;
}

bool quant_pipeline_is_doubling(const quant_pipeline_t *pipeline,
                                const quant_operation_t *operation)
{
    return NULL != pipeline->doubling && quant_doubling_takes(&pipeline->coder->config, operation);
}

arc_task_t *quant_pipeline_start(quant_pipeline_t *pipeline, const quant_operation_t *operation)
{
    if (quant_pipeline_is_doubling(pipeline, operation)) {
        quant_doubling_start(pipeline->doubling, operation);
        return pipeline->doubling;
    }
    const exchange_operation_t exchange =
        quant_coder_start(pipeline->coder, operation, pipeline->ranks);
    exchange_pipeline_start(pipeline->exchange, &exchange);
    return pipeline->exchange;
}

float quant_pipeline_bound(const quant_pipeline_t *pipeline)
{
    return pipeline->coder->bound;
}

size_t quant_pipeline_exact_elems(const quant_pipeline_t *pipeline)
{
    return pipeline->coder->exact_elems;
}
