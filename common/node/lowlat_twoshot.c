/*
 * Two-shot allreduce through mapped memory: a direct reduce-scatter, then a
 * direct allgather; lowlat_parts.h has the parts, slots and waits.
 *
 *   cost      2 alpha + 2 (P-1)/P n beta + (P-1)/P n gamma
 *   good for  long n: the bytes moved do not grow with P
 *
 *   order     stage 0 | stage 1, reduce 0 | stage 2, reduce 1, gather 0 | ...
 *
 * A part is published as soon as it is reduced.
 *
 * Why nobody waits for ever.  Take the rank whose next action comes first in the
 * order above; all others have done every action before it.  Reduce k and
 * gather k find their flags set.  Stage k+1 needs gather k+1-S of the others;
 * they have done all before stage k+1, gather k-2 among it: S >= 3 suffices.
 *
 * The reduction runs in rank order, so the result is the same, bit for bit, as
 * that of one-shot; so it is on a node with levels, where both go by these
 * (lowlat_by_levels.h).
 *
 * Source: algorithm 2 of "Latency-optimal allreduce and cuda graph
 * optimization"; its barriers are the flags here.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "lowlat_by_levels.h"
#include "lowlat_memory.h"
#include "lowlat_parts.h"
#include "lowlat_twoshot.h"

/* The next action in the order of the picture; every wait is a return. */
static arc_status_t twoshot_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;

    while (task->gathered < task->pieces) {
        if (task->staged < task->pieces && task->staged <= task->reduced + 1 &&
            task->staged <= task->gathered + 2) {
            if (!lowlat_parts_stage(task)) {
                return ARC_IN_PROGRESS;
            }
        } else if (task->reduced < task->pieces && task->reduced <= task->gathered + 1) {
            if (!lowlat_parts_complete(task)) {
                return ARC_IN_PROGRESS;
            }
        } else if (!lowlat_parts_gather(task)) {
            return ARC_IN_PROGRESS;
        }
    }
    return ARC_OK;
}

void lowlat_twoshot_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = twoshot_progress,
                                       .waits_for = lowlat_parts_waits_for};

    if (lowlat_goes_by_levels(task)) {
        lowlat_shared_start(task, &task->group->levels);
        return;
    }
    lowlat_parts_begin(task, &ops, task->group->chunk_bytes, task->group->ranks,
                       lowlat_line_elems(task->reducer->stride_bytes));
    (void) lowlat_parts_stage(task);
}
