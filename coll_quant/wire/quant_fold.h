/*
 * hierarchical where the ranks of a node add up in shared memory (exchange_fold.h): rank i of every
 * node exchanges its part of the node's sum with rank i of the others.  Messages between nodes
 * are those of quant_pipeline.h, fewer and longer; on the node there are none.
 *
 * Not for what else a call may have: 16-bit floats, limits of the error of elements, stages,
 * minishards or microshards.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_FOLD_H
#define QUANT_FOLD_H

#include "quant_algos.h"
#include "stream.h"

typedef struct quant_fold quant_fold_t;

/* Is it for this configuration, and this operation?  The same on all ranks. */
bool quant_fold_takes(const quant_config_t *config, const quant_operation_t *operation);

/* The memory of one rank of `ranks`; the configuration has levels. */
size_t quant_fold_memory_bytes(const quant_config_t *config, unsigned ranks);

/*
 * `memory` is aligned to EXCHANGE_ALIGN_BYTES and has as many bytes as the function above says for
 * the ranks of `stream`; what config points to, the stream and the memory outlive the fold, which
 * is part of the memory.
 */
quant_fold_t *quant_fold_init(const quant_config_t *config, arc_stream_t *stream, void *memory);

/* Numbers of a message, as it is best, of a vector of `count` elements on `ranks` ranks. */
size_t quant_fold_message_elems(const quant_config_t *config, unsigned ranks, size_t count);

/* The exchange of a call: of `operation`, without what it says of memory. */
exchange_fold_t *quant_fold_prepare(quant_fold_t *fold, const quant_operation_t *operation);

/*
 * After a call: no element of our parts is farther from the exact sum than this, unless it is
 * infinity, which says nothing.
 */
float quant_fold_bound(const quant_fold_t *fold);

#endif
