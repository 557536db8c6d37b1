/*
 * Long messages between nodes: exact sums through the pipeline of all exchanges
 * (exchange_pipeline.h), in a loop.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_RING_H
#define LOWLAT_RING_H

#include "exchange_pipeline.h"
#include "lowlat.h"

struct lowlat_net;

/* The coder of exact numbers, and the exchange that it is for. */
typedef struct lowlat_ring {
    exchange_coder_t base; /* first: the exchange is handed this */
    arc_task_t *exchange;  /* the pipeline */
    size_t message_bytes;  /* of its buffers */
    lowlat_task_t *task;   /* of the call */
    size_t part_elems;     /* our part of each chunk but the last */
    bool direct;           /* from `in` to `out`: no rank shares our node */
    bool running;          /* in this call */
} lowlat_ring_t;

/* Memory for a ring of `nodes`, whose messages have `piece_bytes`. */
size_t lowlat_ring_memory_bytes(unsigned nodes, size_t piece_bytes);

/*
 * A ring over the streams of net->exchange[0], in `memory`, which is aligned to
 * EXCHANGE_ALIGN_BYTES; or over other streams than before, between two operations.
 */
void lowlat_ring_init(struct lowlat_net *net, void *memory);

size_t lowlat_ring_max_bytes(const lowlat_group_t *group);
void lowlat_ring_start(lowlat_task_t *task);

/* The node that the ring waits for, or the number of nodes. */
unsigned lowlat_ring_awaits(const lowlat_task_t *task);

/* Give up what is under way. */
void lowlat_ring_abort(const struct lowlat_net *net);

#endif
