/*
 * A resumable operation: the shape every algorithm has.
 *
 * An algorithm is a state machine that never blocks.  `progress` does what can
 * be done now and returns; somebody else (arc_wait_run() in a real call, the
 * scheduler of a simulation in a test) decides when to call it again.
 * The same code therefore runs in MPI programs and in one-process tests.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TASK_H
#define ARC_TASK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "status.h"

typedef struct arc_task arc_task_t;

typedef struct arc_task_ops {
    /*
     * Do all that can be done now.  ARC_IN_PROGRESS: call again later; ARC_OK:
     * the operation is complete and the result is in place; an error: the
     * operation is lost and must not be resumed.
     */
    arc_status_t (*progress)(arc_task_t *task) ARC_MUST_CHECK;

    /* Is the task at present waiting for `rank`?  Only for messages: it may be slow. */
    bool (*waits_for)(const arc_task_t *task, unsigned rank);

    /*
     * Of a task between nodes: the node whose message it waits for at present, or a number that no
     * node has.  NULL: it waits for none.
     */
    unsigned (*awaits)(const arc_task_t *task);

    /*
     * Give all started messages up, after a time limit; after an error `progress` has done so.
     * NULL: there are none.
     */
    void (*abort)(arc_task_t *task);
} arc_task_ops_t;

/* Embedded as the first member of every algorithm's own state. */
struct arc_task {
    const arc_task_ops_t *ops;
    /* Counts steps forward.  A time limit is for a task that stands still, not for a long one. */
    unsigned long steps;
    /* At present it waits only for memory that others write, not for messages. */
    bool memory_only;
};

static inline unsigned arc_task_awaits(const arc_task_t *task)
{
    return NULL == task->ops->awaits ? UINT_MAX : task->ops->awaits(task);
}

static inline void arc_task_abort(arc_task_t *task)
{
    if (NULL != task->ops->abort) {
        task->ops->abort(task);
    }
}

#endif
