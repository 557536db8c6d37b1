/*
 * Exact numbers as the coder of an exchange (exchange_coder.h), in the two ways in which a pipe
 * sends partial sums (lowlat_pipe.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PIPE_CODER_H
#define LOWLAT_PIPE_CODER_H

#include "exchange_fold.h"
#include "lowlat.h"
#include "lowlat_order.h"

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

extern const exchange_coder_ops_t lowlat_pipe_direct_ops;
extern const exchange_coder_ops_t lowlat_pipe_ring_ops;

/* Element `elem` of our parts, one chunk's after the other: where it is in our arena. */
unsigned char *lowlat_pipe_slot(const lowlat_pipe_t *pipe, size_t chunk, size_t elem);

/* Our parts in the call of `pipe`, for an exchange that is not ours, cut as the operation says. */
exchange_parts_t lowlat_pipe_parts(const lowlat_pipe_t *pipe,
                                   const exchange_operation_t *operation);

#endif
