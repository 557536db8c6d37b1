/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_pipeline.h"
#include "quant_doubling.h"
#include "quant_coder.h"
#include "quant_pipeline.h"
#include "sizes.h"

typedef struct pipeline {
    arc_task_t task; /* first: the task is the pipeline */
    quant_coder_t *coder;
    unsigned ranks;
    arc_task_t *exchange;
    arc_task_t *doubling; /* NULL: nothing goes that way */
    arc_task_t *running;  /* one of the two */
} pipeline_t;

/* The parts of the memory of a task, in their order. */
typedef enum part { PART_STATE, PART_CODER, PART_EXCHANGE, PART_DOUBLING, PARTS } part_t;

/* Where each part begins, and behind the last one the end. */
static void lay_out(const quant_config_t *config, unsigned ranks, size_t begin[PARTS + 1])
{
    const exchange_config_t exchange = quant_coder_exchange(config, ranks);
    const size_t bytes[PARTS] = {
        [PART_STATE] = sizeof(pipeline_t),
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

static arc_status_t progress(arc_task_t *base)
{
    arc_task_t *running = ((pipeline_t *) base)->running;
    const arc_status_t status = running->ops->progress(running);

    base->steps = running->steps;
    return status;
}

static bool waits_for(const arc_task_t *base, unsigned rank)
{
    const arc_task_t *running = ((const pipeline_t *) base)->running;
    return running->ops->waits_for(running, rank);
}

static void give_up(arc_task_t *base)
{
    arc_task_abort(((pipeline_t *) base)->running);
}

static const arc_task_ops_t pipeline_ops = {
    .progress = progress, .waits_for = waits_for, .abort = give_up};

arc_task_t *quant_pipeline_init(const quant_config_t *config, arc_stream_t *stream, void *memory)
{
    const exchange_config_t exchange = quant_coder_exchange(config, stream->ranks);
    pipeline_t *pipeline = memory;
    uint8_t *base = memory;
    size_t begin[PARTS + 1];

    lay_out(config, stream->ranks, begin);
    quant_coder_t *coder = quant_coder_init(config, stream->rank, base + begin[PART_CODER]);
    *pipeline = (pipeline_t){
        .task.ops = &pipeline_ops,
        .coder = coder,
        .ranks = stream->ranks,
        .exchange = exchange_pipeline_init(&exchange, stream->rank, stream, &coder->base,
                                           base + begin[PART_EXCHANGE]),
    };
    if (0 != quant_doubling_phases(config, stream->ranks)) {
        pipeline->doubling = quant_doubling_init(coder, stream, base + begin[PART_DOUBLING]);
    }
    pipeline->running = pipeline->exchange;
    return &pipeline->task;
}

bool quant_pipeline_is_doubling(const arc_task_t *task, const quant_operation_t *operation)
{
    const pipeline_t *pipeline = (const pipeline_t *) task;

    return NULL != pipeline->doubling && quant_doubling_takes(&pipeline->coder->config, operation);
}

void quant_pipeline_start(arc_task_t *task, const quant_operation_t *operation)
{
    pipeline_t *pipeline = (pipeline_t *) task;

    if (quant_pipeline_is_doubling(task, operation)) {
        pipeline->running = pipeline->doubling;
        quant_doubling_start(pipeline->doubling, operation);
    } else {
        const exchange_operation_t exchange =
            quant_coder_start(pipeline->coder, operation, pipeline->ranks);
        pipeline->running = pipeline->exchange;
        exchange_pipeline_start(pipeline->exchange, &exchange);
    }
}

float quant_pipeline_bound(const arc_task_t *task)
{
    return ((const pipeline_t *) task)->coder->bound;
}

size_t quant_pipeline_exact_elems(const arc_task_t *task)
{
    return ((const pipeline_t *) task)->coder->exact_elems;
}
