/*
 * Waiting: bounded spinning, progress on every later poll, a time limit that
 * ends the wait; the longest wait, and what the time goes to.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <time.h>

#include "unit.h"
#include "wait.h"

/* A task that ends with `status` after so many polls. */
typedef struct counted {
    arc_task_t task;
    unsigned polls;
    unsigned end_after;
    arc_status_t status;
    unsigned step_every; /* polls from one step forward to the next; 0: none */
} counted_t;

static unsigned progress_calls;

static void count_progress(void)
{
    progress_calls += 1;
}

/* One millisecond in every 256 calls: the clock is read as often. */
static const struct timespec *slow_poll;

static void count_progress_slowly(void)
{
    progress_calls += 1;
    if (0 == progress_calls % 256) {
        (void) nanosleep(slow_poll, NULL);
    }
}

static arc_status_t counted_progress(arc_task_t *base)
{
    counted_t *task = (counted_t *) base;
    task->polls += 1;
    base->steps += task->step_every > 0 && 0 == task->polls % task->step_every;
    return task->end_after > 0 && task->polls >= task->end_after ? task->status : ARC_IN_PROGRESS;
}

static const arc_task_ops_t counted_ops = {.progress = counted_progress};

/* How often progress is called. */
TEST(spins_first_then_makes_progress_on_every_poll)
{
    static const struct {
        unsigned polls;
        arc_status_t status;
        arc_wait_t wait;
        bool memory_only;
        unsigned progress_calls;
    } rows[] = {
        {1, ARC_OK, {.spins = 100}, false, 0},
        {150, ARC_OK, {.spins = 100}, false, 49},
        {3, ARC_ERR_PROTOCOL, {.spins = 10}, false, 0},
        {30, ARC_ERR_TRANSPORT, {.spins = 10}, false, 19},
        {100, ARC_OK, {.yields = 3}, true, 24},
        /* Messages need progress on every poll. */
        {100, ARC_OK, {.yields = 3}, false, 99},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        counted_t task = {.task = {.ops = &counted_ops, .memory_only = rows[i].memory_only},
                          .end_after = rows[i].polls,
                          .status = rows[i].status};
        arc_wait_t wait = rows[i].wait;
        wait.progress = count_progress;
        progress_calls = 0;
        assert_int_equal(rows[i].status, arc_wait_run(&wait, &task.task));
        assert_int_equal(rows[i].polls, task.polls);
        assert_int_equal(rows[i].progress_calls, progress_calls);
    }
}

TEST(a_time_limit_ends_the_wait)
{
    counted_t never = {.task.ops = &counted_ops};
    const arc_wait_t wait = {
        .progress = count_progress, .spins = 10, .timeout_ns = ARC_NS_PER_SECOND / 20};

    progress_calls = 0;
    assert_int_equal(ARC_ERR_TIMEOUT, arc_wait_run(&wait, &never.task));
    assert_true(progress_calls > 0);
}

/* Ten times the limit in all, but never that long without a step. */
TEST(a_long_task_that_moves_is_not_timed_out)
{
    enum { POLLS = 200, STEP_EVERY = 4 };
    const struct timespec a_poll = {.tv_nsec = 1000000};
    counted_t slow = {.task.ops = &counted_ops,
                      .end_after = POLLS * 256,
                      .status = ARC_OK,
                      .step_every = STEP_EVERY * 256};

    slow_poll = &a_poll;
    const arc_wait_t wait = {
        .progress = count_progress_slowly, .spins = 0, .timeout_ns = ARC_NS_PER_SECOND / 20};
    assert_int_equal(ARC_OK, arc_wait_run(&wait, &slow.task));
}

/* A task waits for a late rank at first, then for messages; the rank is the number of its polls. */
static unsigned late_polls;

static arc_wait_cause_t cause_asked(const arc_wait_times_t *times, const arc_task_t *task,
                                    unsigned *rank)
{
    *rank = ((const counted_t *) task)->polls;
    return *rank <= late_polls ? ARC_WAIT_LATE : ARC_WAIT_MESSAGES;
}

TEST(times_of_waits_are_told)
{
    enum { SLEEPS_AT = 256, POLLS = 300 };
    const struct timespec a_poll = {.tv_nsec = 20000000};
    arc_wait_times_t times = {.cause = cause_asked, .rank = UINT_MAX};
    counted_t task = {.task.ops = &counted_ops, .end_after = POLLS, .status = ARC_OK};
    const arc_wait_t wait = {.progress = count_progress_slowly, .times = &times};

    slow_poll = &a_poll;
    progress_calls = 0;
    late_polls = SLEEPS_AT; /* what came while it slept is seen after that */
    assert_int_equal(ARC_OK, arc_wait_run(&wait, &task.task));
    assert_in_range(times.longest_ns, a_poll.tv_nsec, 60 * ARC_NS_PER_SECOND);
    assert_int_equal(SLEEPS_AT, times.rank);
    assert_true(times.for_ns[ARC_WAIT_LATE] >= a_poll.tv_nsec);
    assert_true(times.for_ns[ARC_WAIT_MESSAGES] > 0);
    /* A shorter wait is not the longest, nor is that of a task that moves; a longer one is. */
    times = (arc_wait_times_t){
        .cause = cause_asked, .rank = UINT_MAX, .longest_ns = 60 * ARC_NS_PER_SECOND};
    late_polls = 0;
    progress_calls = 0;
    task.polls = 0;
    assert_int_equal(ARC_OK, arc_wait_run(&wait, &task.task));
    assert_int_equal(60 * ARC_NS_PER_SECOND, times.longest_ns);
    assert_true(times.for_ns[ARC_WAIT_MESSAGES] >= a_poll.tv_nsec);
    assert_int_equal(0, times.for_ns[ARC_WAIT_LATE]);
    times.longest_ns = 0;
    task.polls = 0;
    task.step_every = 100;
    assert_int_equal(ARC_OK, arc_wait_run(&wait, &task.task));
    assert_int_equal(0, times.longest_ns);
    assert_int_equal(UINT_MAX, times.rank);
}

TEST(every_status_has_a_text)
{
#define X(_code, _value, _text) assert_string_equal(_text, arc_status_text(_code));
    ARC_STATUS_TABLE(X)
#undef X
    assert_string_equal("unknown status", arc_status_text((arc_status_t) 1000));
}
