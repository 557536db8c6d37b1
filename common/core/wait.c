/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <sched.h>
#include <time.h>

#include "wait.h"

/* Reading the clock costs about as much as a poll: look at it once in so many polls. */
enum { POLLS_PER_CLOCK_READ = 256 };

static double now_seconds(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

arc_status_t arc_wait_slow(const arc_wait_t *wait, arc_task_t *task)
{
    double start = wait->timeout_seconds > 0 ? now_seconds() : 0;
    unsigned long steps = task->steps;

    for (unsigned poll = 1;; ++poll) {
        arc_status_t status = task->ops->progress(task);
        if (ARC_IN_PROGRESS != status) {
            return status;
        }
        if (task->memory_only && 0 != poll % (wait->yields + 1)) {
            (void) sched_yield();
        } else {
            wait->progress();
        }
        if (wait->timeout_seconds <= 0 || 0 != poll % POLLS_PER_CLOCK_READ) {
            continue;
        }
        const double now = now_seconds();
        if (steps != task->steps) {
            steps = task->steps;
            start = now;
        } else if (now - start > wait->timeout_seconds) {
            return ARC_ERR_TIMEOUT;
        }
    }
}
