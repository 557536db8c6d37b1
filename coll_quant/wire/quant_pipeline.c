/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_pipeline.h"
#include "quant_coder.h"
#include "quant_pipeline.h"

static exchange_config_t exchange_of(const quant_config_t *config, unsigned ranks)
{
    return (exchange_config_t){
        .tree = config->algo->tree,
        .shape = quant_config_shape(config, ranks),
        .depth = config->depth,
        .message_bytes = quant_coder_message_bytes(config),
        .sum_bytes = quant_coder_sum_bytes(config),
    };
}

size_t quant_pipeline_memory_bytes(const quant_config_t *config, unsigned ranks)
{
    const exchange_config_t exchange = exchange_of(config, ranks);
    return quant_coder_memory_bytes(config) + exchange_pipeline_memory_bytes(&exchange);
}

arc_task_t *quant_pipeline_init(const quant_config_t *config, arc_stream_t *stream, void *memory)
{
    const exchange_config_t exchange = exchange_of(config, stream->ranks);
    quant_coder_t *coder = quant_coder_init(config, stream->rank, memory);

    return exchange_pipeline_init(&exchange, stream->rank, stream, &coder->base,
                                  (uint8_t *) memory + quant_coder_memory_bytes(config));
}

static quant_coder_t *coder_of(const arc_task_t *task)
{
    return (quant_coder_t *) exchange_pipeline_coder(task);
}

void quant_pipeline_start(arc_task_t *task, const quant_operation_t *operation)
{
    const exchange_operation_t exchange =
        quant_coder_start(coder_of(task), operation, exchange_pipeline_ranks(task));
    exchange_pipeline_start(task, &exchange);
}

float quant_pipeline_bound(const arc_task_t *task)
{
    return coder_of(task)->bound;
}

void quant_pipeline_abort(arc_task_t *task)
{
    exchange_pipeline_abort(task);
}
