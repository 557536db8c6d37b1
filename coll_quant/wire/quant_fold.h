/*
 * hierarchical where the ranks of a node add up in shared memory: the phases of lowlat_piped.h with
 * an exchange of quantized numbers.  Owner i of every node exchanges its part of the node's sum,
 * which is made flat or by the group's levels, with owner i of the others.  Messages between nodes
 * are those of quant_pipeline.h, fewer and longer; on the node there are none.
 *
 * Not for what else a call may have: 16-bit floats, limits of the error of elements, stages,
 * minishards or microshards.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_FOLD_H
#define QUANT_FOLD_H

#include "lowlat.h"
#include "quant_algos.h"
#include "reduce.h"
#include "sizes.h"
#include "stream.h"

typedef struct quant_fold quant_fold_t;

/* Is it for this configuration, and this operation?  The same on all ranks. */
bool quant_fold_takes(const quant_config_t *config, const quant_operation_t *operation);

/*
 * For the ranks of a node, `group`, who add up with `kernels`; the configuration has levels.  The
 * fold is in memory of `room`; what config points to, the group, the stream and the memory outlive
 * it.  NULL: counted.
 */
quant_fold_t *quant_fold_init(const quant_config_t *config, lowlat_group_t *group,
                              const arc_reduce_table_t *kernels, arc_stream_t *stream,
                              size_t most_arena_bytes, arc_room_t *room);

/*
 * Bytes of arenas for an operation on `ranks` ranks: without how many it is not served, and *best.
 * Chunks have a message for each owner of all nodes, as long as is best or of one tile.  Where
 * `most_arena_bytes` have no room for that, fewer ranks of each node own a part, at least one.
 */
size_t quant_fold_arena_bytes(const quant_config_t *config, unsigned ranks,
                              const quant_operation_t *operation, size_t most_arena_bytes,
                              size_t *best);

/* Begin a call, on all ranks: a task, to be driven to its end, which is the fold's first member. */
lowlat_task_t *quant_fold_start(quant_fold_t *fold, const quant_operation_t *operation);

/*
 * After that, likewise: *bound, which no element of the result is farther from the exact sum than,
 * unless it is infinity, which says nothing.
 */
lowlat_task_t *quant_fold_start_bound(quant_fold_t *fold, float *bound);

#endif
