/*
 * Exact numbers as the coder of an exchange (exchange_coder.h), in the two ways in which a pipe
 * sends partial sums (lowlat_pipe.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PIPE_CODER_H
#define LOWLAT_PIPE_CODER_H

#include "lowlat_pipe.h"

extern const exchange_coder_ops_t lowlat_pipe_direct_ops;
extern const exchange_coder_ops_t lowlat_pipe_ring_ops;

/* Element `elem` of our parts, one chunk's after the other: where it is in our arena. */
unsigned char *lowlat_pipe_slot(const lowlat_pipe_t *pipe, size_t chunk, size_t elem);

/* Our parts in the call of `pipe`, for an exchange that is not ours, cut as the operation says. */
exchange_parts_t lowlat_pipe_parts(const lowlat_pipe_t *pipe,
                                   const exchange_operation_t *operation);

#endif
