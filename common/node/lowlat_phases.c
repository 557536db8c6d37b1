/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lowlat_parts.h"
#include "lowlat_phases.h"

static bool reduce_and_begin(lowlat_task_t *task, const lowlat_between_t *between)
{
    const size_t chunk = task->reduced;

    task->peer = 0;
    if (!lowlat_parts_reduce(task)) {
        return false;
    }
    between->begin(task, chunk);
    return true;
}

/* Each action begins its wait anew: others may have come between. */
static bool try_action(lowlat_task_t *task, bool (*action)(lowlat_task_t *))
{
    task->peer = 0;
    return action(task);
}

/* Publish the chunks that are complete, in order. */
static bool publish_completed(lowlat_task_t *task, size_t completed)
{
    const size_t before = task->exchanged;

    for (; task->exchanged < completed; ++task->exchanged) {
        lowlat_parts_publish(task, task->exchanged);
        task->task.steps += 1;
    }
    return task->exchanged > before;
}

static bool do_what_can_be_done(lowlat_task_t *task, const lowlat_between_t *between)
{
    bool moved = publish_completed(task, between->completed(task));

    /*
     * A slot of ours is free when we have gathered its chunk ourselves: the others' flags tell that
     * of an exchange of ours only if there are others on the node.
     */
    if (task->staged < task->pieces && task->staged <= task->reduced + 1 &&
        task->staged < task->gathered + task->slots) {
        moved = try_action(task, lowlat_parts_stage) || moved;
    }
    if (task->reduced < task->staged && between->has_room(task)) {
        moved = reduce_and_begin(task, between) || moved;
    }
    if (task->gathered < task->exchanged) {
        moved = try_action(task, lowlat_parts_gather) || moved;
    }
    return moved;
}

arc_status_t lowlat_phases_progress(lowlat_task_t *task, const lowlat_between_t *between)
{
    for (;;) {
        const arc_status_t status = between->drive(task);
        if (ARC_OK != status && ARC_IN_PROGRESS != status) {
            arc_task_abort(&task->task);
            return status;
        }
        const bool moved = do_what_can_be_done(task, between);
        if (task->gathered == task->pieces && ARC_OK == status) {
            return ARC_OK;
        }
        if (!moved) {
            task->task.memory_only = ARC_OK == status;
            return ARC_IN_PROGRESS;
        }
    }
}
