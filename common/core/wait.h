/*
 * The one place that waits.
 *
 * A wait polls the task, a bounded number of times with a short delay in between, and then calls
 * the progress function on every poll.  The progress function is Open MPI's opal_progress(): a peer
 * may need us for a message it started before the collective, and when cores are short it is what
 * yields.  It may look into every connection, though, and where cores are shared that time is taken
 * from the rank we wait for: so a rank that waits only for memory then mostly yields and seldom
 * calls it.  With a time limit the wait ends in ARC_ERR_TIMEOUT instead of hanging; the caller then
 * says who is missing (arc_task_ops_t.waits_for).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WAIT_H
#define ARC_WAIT_H

#include <stdint.h>
#include <time.h>

#include "task.h"

#define ARC_NS_PER_SECOND INT64_C(1000000000)

/* What a task waits for: ranks of the node that have not begun it, messages, or other memory. */
typedef enum arc_wait_cause {
    ARC_WAIT_MEMORY,
    ARC_WAIT_LATE,
    ARC_WAIT_MESSAGES,
    ARC_WAIT_CAUSES
} arc_wait_cause_t;

/* Where the time of waits goes; fibers do not count. */
typedef struct arc_wait_times {
    /* What, and for whom, does the task wait for?  *rank UINT_MAX: nobody knows. */
    arc_wait_cause_t (*cause)(const struct arc_wait_times *times, const arc_task_t *task,
                              unsigned *rank);
    int64_t for_ns[ARC_WAIT_CAUSES]; /* after the spins, work in between included */
    int64_t longest_ns;              /* that a task has stood still */
    unsigned rank;                   /* for whom, then */
} arc_wait_times_t;

typedef struct arc_wait {
    void (*progress)(void); /* drives everything else in this process; may yield */
    unsigned spins;         /* polls before the first call of progress */
    unsigned yields;    /* polls that only yield, for each that calls progress: waits for memory */
    int64_t timeout_ns; /* without a step forward; 0: wait for ever */
    /*
     * Steps of the task, but for spins, run in C's default floating-point environment, whatever the
     * program has set, and what they raise is not shown to it.  Calls of `progress` do not: there
     * Open MPI may call functions of the program.
     */
    bool sheltered;
    arc_wait_times_t *times; /* NULL: nobody asks */
} arc_wait_t;

/*
 * A clock that only goes forward: the kernel's, which knows whether a processor's counters agree.
 * Integers: floating point would raise exceptions, and the program may have asked for traps.
 */
static inline int64_t arc_now_ns(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * ARC_NS_PER_SECOND + now.tv_nsec;
}

static inline void arc_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/*
 * Between two polls: about 25 ns.  Polls without a delay take the cache line from the rank that is
 * about to write it.  The pause hint would be longer than needed: on an AMD Zen 5 it takes 45 ns,
 * as long as a line takes from one core to the next, and a poll that comes just too early costs
 * that.  A delay before the first poll, too, would make short calls in lock-step 1.1 to 1.4 times
 * as fast, and each call by so much slower whose peers have come before: in programs that is the
 * call that all wait for.
 */
static inline void arc_wait_moment(void)
{
    enum { TURNS = 100 }; /* about a cycle each */

    for (unsigned turn = 0; turn < TURNS; ++turn) {
        __asm__ volatile("" : "+r"(turn)); /* or there would be no loop */
    }
}

/*
 * For how long a task that is polled has stood still.  What passes between two looks at the clock
 * counts as an eighth of the limit at most: a program that computed meanwhile, and polled nothing,
 * must see first what has come.
 */
typedef struct arc_wait_watch {
    int64_t looked_ns;
    int64_t stood_ns;
    unsigned long steps;
    unsigned polls;
    int64_t noted_ns; /* until then its time is in `times` */
    arc_wait_cause_t cause;
} arc_wait_watch_t;

void arc_wait_watch(arc_wait_watch_t *watch, const arc_wait_t *wait, const arc_task_t *task);

/*
 * After a poll that did not end the task: ARC_IN_PROGRESS, or ARC_ERR_TIMEOUT.  Between two looks
 * at the clock are many polls: a rank that was busy with something else sees what has come
 * meanwhile.
 */
arc_status_t arc_wait_check(arc_wait_watch_t *watch, const arc_wait_t *wait,
                            const arc_task_t *task) ARC_MUST_CHECK;

/* The part of arc_wait_run() after the spinning; out of line, because it need not be fast. */
arc_status_t arc_wait_slow(const arc_wait_t *wait, arc_task_t *task) ARC_MUST_CHECK;

/* Drive `task` to its end.  Returns its status, or ARC_ERR_TIMEOUT. */
static inline ARC_MUST_CHECK arc_status_t arc_wait_run(const arc_wait_t *wait, arc_task_t *task)
{
    for (unsigned spin = 0; spin < wait->spins; ++spin) {
        arc_status_t status = task->ops->progress(task);
        if (ARC_IN_PROGRESS != status) {
            return status;
        }
        arc_wait_moment();
    }
    return arc_wait_slow(wait, task);
}

#endif
