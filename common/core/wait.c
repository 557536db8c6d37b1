/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <sched.h>
#include <stddef.h>

#include "fiber.h"
#include "float_env.h"
#include "wait.h"

enum {
    /* Reading the clock costs about as much as a poll: look at it once in so many polls. */
    POLLS_PER_CLOCK_READ = 256,
    /* To ask what a task waits for takes longer, and reads what others are about to write. */
    NS_PER_CAUSE = 2000,
};

void arc_wait_watch(arc_wait_watch_t *watch, const arc_wait_t *wait, const arc_task_t *task)
{
    const bool looks = wait->timeout_ns > 0 || NULL != wait->times;

    *watch = (arc_wait_watch_t){.looked_ns = looks ? arc_now_ns() : 0,
                                .steps = NULL == task ? 0 : task->steps};
    watch->noted_ns = watch->looked_ns;
}

arc_status_t arc_wait_check(arc_wait_watch_t *watch, const arc_wait_t *wait, const arc_task_t *task)
{
    enum { LOOKS = 8 }; /* at least, until the limit is reached */
    const bool limited = wait->timeout_ns > 0;
    arc_wait_times_t *times = wait->times;

    if ((!limited && NULL == times) || 0 != ++watch->polls % POLLS_PER_CLOCK_READ) {
        return ARC_IN_PROGRESS;
    }
    const int64_t at_ns = arc_now_ns();
    const int64_t since_ns = at_ns - watch->looked_ns;
    const int64_t most_ns = limited ? wait->timeout_ns / LOOKS : INT64_MAX;
    watch->looked_ns = at_ns;
    if (watch->steps != task->steps) {
        watch->steps = task->steps;
        watch->stood_ns = 0;
        return ARC_IN_PROGRESS;
    }
    watch->stood_ns += since_ns < most_ns ? since_ns : most_ns;
    if (NULL != times && watch->stood_ns > times->longest_ns) {
        times->longest_ns = watch->stood_ns;
        (void) times->cause(times, task, &times->rank);
    }
    return limited && watch->stood_ns >= most_ns * LOOKS ? ARC_ERR_TIMEOUT : ARC_IN_PROGRESS;
}

static arc_status_t step(const arc_wait_t *wait, arc_task_t *task)
{
    if (!wait->sheltered) {
        return task->ops->progress(task);
    }
    ARC_IN_DEFAULT_FLOAT_ENV;
    return task->ops->progress(task);
}

/* A wait in a fiber. */
typedef struct awaited {
    const arc_wait_t *wait;
    arc_task_t *task;
    arc_wait_watch_t watch;
    arc_status_t status;
} awaited_t;

static bool has_ended(void *context)
{
    awaited_t *awaited = context;

    awaited->status = step(awaited->wait, awaited->task);
    if (ARC_IN_PROGRESS == awaited->status) {
        awaited->status = arc_wait_check(&awaited->watch, awaited->wait, awaited->task);
    }
    return ARC_IN_PROGRESS != awaited->status;
}

static arc_status_t wait_in_fiber(const arc_wait_t *wait, arc_task_t *task)
{
    arc_wait_t own = *wait; /* the wait that is timed is another one's */
    awaited_t awaited = {.wait = &own, .task = task};

    own.times = NULL;
    arc_wait_watch(&awaited.watch, &own, task);
    arc_fiber_await(has_ended, &awaited);
    return awaited.status;
}

/* Until now the task, NULL: one that has ended, has waited for watch->cause. */
static void note(arc_wait_watch_t *watch, arc_wait_times_t *times, const arc_task_t *task)
{
    const int64_t at_ns = arc_now_ns();
    unsigned rank = 0;

    if (NULL != task && 0 != watch->polls && at_ns - watch->noted_ns < NS_PER_CAUSE) {
        return;
    }
    times->for_ns[watch->cause] += at_ns - watch->noted_ns;
    watch->noted_ns = at_ns;
    if (NULL != task) {
        watch->cause = times->cause(times, task, &rank);
    }
}

arc_status_t arc_wait_slow(const arc_wait_t *wait, arc_task_t *task)
{
    arc_wait_watch_t watch;

    if (arc_fiber_inside()) {
        return wait_in_fiber(wait, task);
    }
    arc_wait_watch(&watch, wait, task);
    for (unsigned poll = 1;; ++poll) {
        arc_status_t status = step(wait, task);
        if (NULL != wait->times) {
            note(&watch, wait->times, ARC_IN_PROGRESS == status ? task : NULL);
        }
        if (ARC_IN_PROGRESS != status) {
            return status;
        }
        if (task->memory_only && 0 != poll % (wait->yields + 1)) {
            (void) sched_yield();
        } else {
            wait->progress();
        }
        status = arc_wait_check(&watch, wait, task);
        if (ARC_IN_PROGRESS != status) {
            return status;
        }
    }
}
