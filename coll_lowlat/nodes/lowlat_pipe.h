/*
 * Long messages between nodes: exact sums through the pipeline of all exchanges
 * (exchange_pipeline.h), straight to the owners or in a loop.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PIPE_H
#define LOWLAT_PIPE_H

#include "lowlat_pipe_coder.h"

struct lowlat_net;

/* Find how far direct reaches, and its places, before memory is asked for: over messages. */
void lowlat_pipe_prepare(struct lowlat_net *net);

/* Memory for a pipe; 0: these nodes use none. */
size_t lowlat_pipe_memory_bytes(const struct lowlat_net *net);

/*
 * A pipe over the streams of net->exchange[0], in `memory`, which is aligned to
 * EXCHANGE_ALIGN_BYTES; or over other streams than before, between two operations.  It is for one
 * of the algorithms: net->loops tells which.
 */
void lowlat_pipe_init(struct lowlat_net *net, void *memory);

void lowlat_direct_start(lowlat_task_t *task);
void lowlat_ring_start(lowlat_task_t *task);

#endif
