/*
 * Long messages between nodes: exact sums through the pipeline of all exchanges
 * (exchange_pipeline.h), straight to the owners or in a loop; or sums of another exchange
 * (exchange_fold.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PIPE_H
#define LOWLAT_PIPE_H

#include "exchange_fold.h"
#include "lowlat.h"
#include "lowlat_order.h"

struct lowlat_net;

/* The coder of exact numbers, and the exchange that it is for. */
typedef struct lowlat_pipe {
    exchange_coder_t base; /* first: the exchange is handed this */
    arc_task_t *exchange;  /* the pipeline */
    size_t message_bytes;  /* of its buffers, and of a place for a partial sum */
    lowlat_order_t order;  /* of direct */
    lowlat_task_t *task;   /* of the call */
    size_t part_elems;     /* our part of each chunk but the last */
    bool unstaged;         /* from `in` to `out`: no rank shares our node */
    bool running;          /* in this call */
    exchange_fold_t *fold; /* whose exchange it is; NULL: ours, of exact numbers */
    exchange_parts_t parts;
} lowlat_pipe_t;

/* Memory for a pipe; 0: these nodes use none. */
size_t lowlat_pipe_memory_bytes(const struct lowlat_net *net);

/*
 * A pipe over the streams of net->exchange[0], in `memory`, which is aligned to
 * EXCHANGE_ALIGN_BYTES; or over other streams than before, between two operations.  It is for one
 * of the algorithms: net->loops tells which.
 */
void lowlat_pipe_init(struct lowlat_net *net, void *memory);

size_t lowlat_direct_max_bytes(const lowlat_group_t *group);
void lowlat_direct_start(lowlat_task_t *task);

size_t lowlat_ring_max_bytes(const lowlat_group_t *group);
void lowlat_ring_start(lowlat_task_t *task);

/*
 * Start a call whose exchange is `fold`, with `pipe` for its state, which becomes net->pipe.  All
 * nodes have equally many ranks, two or more.
 */
void lowlat_fold_start(lowlat_task_t *task, lowlat_pipe_t *pipe, exchange_fold_t *fold);

#endif
