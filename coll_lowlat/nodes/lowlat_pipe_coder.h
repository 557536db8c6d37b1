/*
 * Exact numbers as the coder of an exchange (exchange_coder.h), in the two ways in which a pipe
 * sends partial sums (lowlat_pipe.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PIPE_CODER_H
#define LOWLAT_PIPE_CODER_H

#include "lowlat_order.h"
#include "lowlat_piped.h"

/* The coder of exact numbers, and the exchange that it is for. */
typedef struct lowlat_pipe {
    exchange_coder_t base; /* first: the exchange is handed this */
    lowlat_piped_t piped;
    size_t message_bytes; /* of its buffers, and of a place for a partial sum */
    lowlat_order_t order; /* of direct */
    lowlat_task_t *task;  /* of the call */
    bool unstaged;        /* from `in` to `out`: no rank shares our node */
} lowlat_pipe_t;

extern const exchange_coder_ops_t lowlat_pipe_direct_ops;
extern const exchange_coder_ops_t lowlat_pipe_ring_ops;

#endif
