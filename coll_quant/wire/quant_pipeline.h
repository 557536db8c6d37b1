/*
 * An allreduce of quantized numbers, or a stage of one: the exchange of
 * common/exchange/exchange_pipeline.h with the coder of quant_coder.h; short vectors go the way of
 * quant_doubling.h.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_PIPELINE_H
#define QUANT_PIPELINE_H

#include "quant_algos.h"
#include "sizes.h"
#include "stream.h"
#include "task.h"

typedef struct quant_pipeline quant_pipeline_t;

/*
 * For a valid config, in memory of `room`; what config points to, the stream and the memory outlive
 * the pipeline, which is part of the memory: nothing to free.  NULL: counted.
 */
quant_pipeline_t *quant_pipeline_init(const quant_config_t *config, arc_stream_t *stream,
                                      arc_room_t *room);

/* Begin a call: a task, to be driven to its end.  The call before is complete. */
arc_task_t *quant_pipeline_start(quant_pipeline_t *pipeline, const quant_operation_t *operation);

/* Does a call of this operation go by doubling? */
bool quant_pipeline_is_doubling(const quant_pipeline_t *pipeline,
                                const quant_operation_t *operation);

/*
 * After a call: no element of the result is farther from the exact sum than this, unless it is
 * infinity, which says nothing.  The same on all ranks, but of a reduce-scatter: there it is that
 * of the own block.
 */
float quant_pipeline_bound(const quant_pipeline_t *pipeline);

/*
 * After a call with a bound_max: elements of totals that went as they are.  The same on all ranks,
 * but of a reduce-scatter, which has no totals: 0.
 */
size_t quant_pipeline_exact_elems(const quant_pipeline_t *pipeline);

#endif
