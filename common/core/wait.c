/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <sched.h>

#include "wait.h"

/* Reading the clock costs about as much as a poll: look at it once in so many polls. */
enum { POLLS_PER_CLOCK_READ = 256 };

arc_status_t arc_wait_slow(const arc_wait_t *wait, arc_task_t *task)
{
    int64_t start_ns = wait->timeout_ns > 0 ? arc_now_ns() : 0;
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
        if (wait->timeout_ns <= 0 || 0 != poll % POLLS_PER_CLOCK_READ) {
            continue;
        }
        const int64_t at_ns = arc_now_ns();
        if (steps != task->steps) {
            steps = task->steps;
            start_ns = at_ns;
        } else if (at_ns - start_ns > wait->timeout_ns) {
            return ARC_ERR_TIMEOUT;
        }
    }
}
