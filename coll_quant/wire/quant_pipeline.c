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

/* Where each part begins; the bytes of all. */
static size_t lay_out(const quant_config_t *config, unsigned ranks, void *memory, void *part[PARTS])
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

    return arc_lay_out(memory, bytes, PARTS, EXCHANGE_ALIGN_BYTES, part);
}

size_t quant_pipeline_memory_bytes(const quant_config_t *config, unsigned ranks)
{
    void *part[PARTS];

    return lay_out(config, ranks, NULL, part);
}

quant_pipeline_t *quant_pipeline_init(const quant_config_t *config, arc_stream_t *stream,
                                      void *memory)
{
    const exchange_config_t exchange = quant_coder_exchange(config, stream->ranks);
    quant_pipeline_t *pipeline = memory;
    void *part[PARTS];

    (void) lay_out(config, stream->ranks, memory, part);
    quant_coder_t *coder = quant_coder_init(config, stream->rank, part[PART_CODER]);
    *pipeline = (quant_pipeline_t){
        .coder = coder,
        .ranks = stream->ranks,
        .exchange = exchange_pipeline_init(&exchange, stream->rank, stream, &coder->base,
                                           part[PART_EXCHANGE]),
    };
    if (0 != quant_doubling_phases(config, stream->ranks)) {
        pipeline->doubling = quant_doubling_init(coder, stream, part[PART_DOUBLING]);
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
