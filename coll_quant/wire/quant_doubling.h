/*
 * An allreduce of a short vector in few messages: no rank owns a part of it.  In each phase the
 * ranks of a group send their whole partial sums to each other, coded; each of them decodes
 * all, its own one too, and adds them in one order.  docs/algorithms_quant.md, "Short vectors:
 * doubling", has the picture, the cost and the error.
 *
 * Equal bits.  All ranks that are to have a sum decode the same messages and add the values in the
 * order of the places of their senders.  Ranks that have the same sum make the same message of it.
 *
 * In place.  The own part is encoded before anything is stored, and partial sums are where the
 * result is made.  Why nobody waits for ever: steps.h, each phase a step.
 *
 * Source: recursive doubling; groups of more than two as in Bruck's algorithms of any radix.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_DOUBLING_H
#define QUANT_DOUBLING_H

#include "quant_coder.h"
#include "stream.h"
#include "task.h"

/*
 * Phases between nodes, or ranks without levels, each of which codes all sums; 0: nothing goes
 * this way.  The way is for configurations that code both stages in one format, with a fixed
 * block, without error feedback (which residual keeps what was lost of a sum that several
 * ranks encode?), without a limit for elements (quant_fit.h reckons with a tree), and for numbers
 * of ranks with at most twice the messages of recursive doubling: not 11, 13, 17, 19, 22.
 */
unsigned quant_doubling_phases(const quant_config_t *config, unsigned ranks);

/* Does this operation go this way, where there are phases? */
bool quant_doubling_takes(const quant_config_t *config, const quant_operation_t *operation);

/* As quant_pipeline_init() (quant_pipeline.h), where there are phases. */
arc_task_t *quant_doubling_init(const quant_config_t *config, quant_coder_t *coder,
                                arc_stream_t *stream, arc_room_t *room);
void quant_doubling_start(arc_task_t *task, const quant_operation_t *operation);

#endif
