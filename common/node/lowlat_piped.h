/*
 * The phases of a node around a pipeline (exchange_pipeline.h) whose ranks are the nodes.  Owner i
 * of every node exchanges its part of each chunk with owner i of the others; the chunks are those
 * of the exchange, too (exchange_layout.h):
 *
 *   in the node     stage k, reduce k                                   publish k, gather k
 *   exchange              +-- allow k --> segments k of all shards --> complete k --+
 *
 * A window of the exchange has half of the chunks that fit into an arena, so that the next ones can
 * be staged meanwhile.
 *
 * Nobody waits for ever: a chunk becomes available by what is done in the node alone, as long as
 * its slot is free, which it is for all chunks of a window (lowlat_parts.h has the rest of the
 * argument, exchange_pipeline.h that of the exchange).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PIPED_H
#define LOWLAT_PIPED_H

#include "exchange_pipeline.h"
#include "lowlat.h"

typedef struct lowlat_piped {
    arc_task_t *exchange; /* the pipeline */
    bool running;         /* in this call */
} lowlat_piped_t;

/*
 * Begin a call as lowlat_parts_begin() does.  Owners pass a `piped`, whose exchange they start
 * afterwards; other ranks may pass NULL.
 */
void lowlat_piped_begin(lowlat_task_t *task, lowlat_piped_t *piped, size_t chunk_bytes,
                        unsigned owners, size_t row_elems);

/* Start the exchange of our parts, of lowlat_own_elems() elements in all, cut as they are. */
void lowlat_piped_start(lowlat_task_t *task, exchange_operation_t operation);

/*
 * We own a part of each chunk.  The elements of our parts are numbered from 0, chunk after chunk:
 * how many there are, which element of the vector number `number` is, where it and the next ones of
 * the same chunk lie in our arena, and, where the group has a sum_error, how far the node's sums of
 * these may be off.
 */
size_t lowlat_own_elems(const lowlat_task_t *task);
size_t lowlat_own_element(const lowlat_task_t *task, size_t number);
unsigned char *lowlat_own_at(const lowlat_task_t *task, size_t number);
float lowlat_own_error(const lowlat_task_t *task, size_t number);

/* The operations (arc_task_ops_t) of a task without phases, whose exchange is task->piped. */
arc_status_t lowlat_piped_drive(arc_task_t *base) ARC_MUST_CHECK;
unsigned lowlat_piped_awaits(const arc_task_t *base);
void lowlat_piped_abort(arc_task_t *base);

#endif
