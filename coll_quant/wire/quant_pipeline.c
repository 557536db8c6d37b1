/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_pipeline.h"
#include "quant_doubling.h"
#include "quant_coder.h"
#include "quant_pipeline.h"

struct quant_pipeline {
    quant_coder_t *coder;
    arc_task_t *doubling; /* NULL: nothing goes that way */
};

quant_pipeline_t *quant_pipeline_init(const quant_config_t *config, arc_stream_t *stream,
                                      arc_room_t *room)
{
    quant_pipeline_t *pipeline = arc_room_take(room, sizeof *pipeline);
    quant_coder_t *coder =
        quant_coder_init(config, stream->ranks, stream->rank, NULL, stream, room);
    const quant_pipeline_t made = {
        .coder = coder,
        .doubling = 0 != quant_doubling_phases(config, stream->ranks)
                        ? quant_doubling_init(config, coder, stream, room)
                        : NULL,
    };

    if (NULL != pipeline) {
        *pipeline = made;
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
    const exchange_operation_t exchange = quant_coder_start(pipeline->coder, operation);
    exchange_pipeline_start(pipeline->coder->exchange, &exchange);
    return pipeline->coder->exchange;
}

float quant_pipeline_bound(const quant_pipeline_t *pipeline)
{
    return pipeline->coder->bound;
}

size_t quant_pipeline_exact_elems(const quant_pipeline_t *pipeline)
{
    return pipeline->coder->exact_elems;
}
