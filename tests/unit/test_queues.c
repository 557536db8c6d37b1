/*
 * Queues of pending operations (queue.h), one rank alone: in which floating-point mode operations
 * run, who may start them when, and where their stacks come from.  What several ranks see of them
 * is in sim/test_queue.c.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>

#include "unit.h"
#include "queue.h"

enum { QUEUES = 12, POLLS = 100, RESULT = 5, GIVEN_UP = 7 };

/* An operation that takes some polls, as a task or in a fiber. */
typedef struct operation {
    arc_pending_t pending; /* first */
    arc_task_t task;
    bool in_fiber;
    unsigned polls_left;
    int rounding; /* as it was in its polls; -1: in no poll so far, -2: not always the same */
    void (*poll)(struct operation *operation); /* called in each poll; may be NULL */
    struct job *job;
    void *context; /* of `poll` */
    bool has_ended;
} operation_t;

typedef struct job {
    arc_queues_t queues; /* first */
    arc_queue_t queue[QUEUES];
    operation_t operation[QUEUES];
    bool driven;
} job_t;

static unsigned fibers_made;
static unsigned fibers_at_most;

arc_fiber_t *__real_arc_fiber_new(unsigned spare_stacks);
arc_fiber_t *__wrap_arc_fiber_new(unsigned spare_stacks);

arc_fiber_t *__wrap_arc_fiber_new(unsigned spare_stacks)
{
    if (fibers_made == fibers_at_most) {
        return NULL;
    }
    ++fibers_made;
    return __real_arc_fiber_new(spare_stacks);
}

/* ---- operations ---- */

static arc_status_t progress(arc_task_t *task)
{
    operation_t *operation = (operation_t *) ((char *) task - offsetof(operation_t, task));
    const int rounding = fegetround();

    operation->rounding =
        -1 == operation->rounding || rounding == operation->rounding ? rounding : -2;
    if (NULL != operation->poll) {
        operation->poll(operation);
    }
    return 0 == operation->polls_left-- ? ARC_OK : ARC_IN_PROGRESS;
}

static const arc_task_ops_t task_ops = {.progress = progress};

static arc_task_t *begin_task(arc_queue_t *queue, const void *call)
{
    operation_t *operation = (operation_t *) call;
    return operation->in_fiber ? NULL : &operation->task;
}

static int end_task(arc_queue_t *queue, arc_status_t status)
{
    return ARC_OK == status ? RESULT : -1;
}

static int run_blocking(arc_queue_t *queue, const void *call)
{
    return end_task(queue, arc_wait_run(queue->wait, &((operation_t *) call)->task));
}

static int give_up(arc_queue_t *queue, const void *call)
{
    return GIVEN_UP;
}

static const arc_queue_ops_t queue_ops = {begin_task, end_task, run_blocking, give_up};
static const arc_wait_t a_wait = {.spins = 0};

static void drive(arc_queues_t *queues, bool on)
{
    ((job_t *) queues)->driven = on;
}

/* ---- a rank ---- */

static job_t *make_job(void)
{
    job_t *job = test_zeros(sizeof *job);

    arc_queues_open(&job->queues, drive);
    for (unsigned i = 0; i < QUEUES; ++i) {
        job->queue[i] = (arc_queue_t){.ops = &queue_ops, .wait = &a_wait};
        job->operation[i] = (operation_t){.task = {.ops = &task_ops},
                                          .rounding = -1,
                                          .polls_left = 3,
                                          .pending = {.call = &job->operation[i]},
                                          .job = job};
    }
    fibers_made = 0;
    fibers_at_most = QUEUES + 1;
    return job;
}

static void free_job(job_t *job)
{
    arc_queues_close(&job->queues);
    assert_false(job->driven);
    free(job);
}

static void append(job_t *job, unsigned i)
{
    arc_queue_append(&job->queues, &job->queue[i], &job->operation[i].pending);
}

static void poll(job_t *job)
{
    arc_pending_t *ended = NULL;
    int count = arc_queues_poll(&job->queues, &ended);

    for (; NULL != ended; ended = ended->next) {
        ((operation_t *) ended)->has_ended = true;
        --count;
    }
    assert_int_equal(0, count);
}

static void poll_to_the_end(job_t *job, unsigned operations, int result)
{
    for (unsigned polls = 0; polls < POLLS; ++polls) {
        poll(job);
    }
    for (unsigned i = 0; i < operations; ++i) {
        assert_true(job->operation[i].has_ended);
        assert_int_equal(result, job->operation[i].pending.result);
        assert_true(arc_queue_is_idle(&job->queue[i]));
    }
}

/* ---- the floating-point mode ---- */

TEST(an_operation_runs_in_the_mode_of_its_start)
{
    job_t *job = make_job();

    for (unsigned i = 0; i < 4; ++i) {
        job->operation[i].in_fiber = 0 != i % 2;
        (void) fesetround(i < 2 ? FE_UPWARD : FE_TONEAREST);
        append(job, i);
    }
    (void) fesetround(FE_DOWNWARD);
    poll_to_the_end(job, 4, RESULT);
    assert_int_equal(FE_DOWNWARD, fegetround());
    (void) fesetround(FE_TONEAREST);
    for (unsigned i = 0; i < 4; ++i) {
        assert_int_equal(i < 2 ? FE_UPWARD : FE_TONEAREST, job->operation[i].rounding);
    }
    free_job(job);
}

TEST(what_was_raised_stays_raised)
{
    job_t *job = make_job();

    (void) fesetround(FE_UPWARD);
    append(job, 0);
    (void) fesetround(FE_TONEAREST);
    (void) feraiseexcept(FE_INVALID);
    poll_to_the_end(job, 1, RESULT);
    assert_int_equal(FE_INVALID, fetestexcept(FE_INVALID));
    (void) feclearexcept(FE_ALL_EXCEPT);
    free_job(job);
}

/* ---- who may start what when ---- */

/* Within an operation, and in another thread, for which the operation waits. */
static void *start_another(void *context)
{
    job_t *job = context;
    int result = 0;

    job->operation[1].polls_left = 0; /* it would end at once */
    assert_false(arc_queue_try(&job->queues, &job->queue[1], &job->operation[1], &result));
    append(job, 1);
    return NULL;
}

static void start_another_in_a_thread(operation_t *operation)
{
    pthread_t thread;

    operation->poll = NULL;
    assert_int_equal(0, pthread_create(&thread, NULL, start_another, operation->job));
    assert_int_equal(0, pthread_join(thread, NULL));
}

static void start_another_here(operation_t *operation)
{
    operation->poll = NULL;
    (void) start_another(operation->job);
}

static void poll_within(operation_t *operation)
{
    poll(operation->job);
}

TEST(a_start_does_not_wait_for_an_operation)
{
    static void (*const polls[])(operation_t *) = {start_another_in_a_thread, start_another_here};

    for (size_t i = 0; i < sizeof polls / sizeof polls[0]; ++i) {
        for (int in_fiber = 0; in_fiber < 2; ++in_fiber) {
            job_t *job = make_job();
            job->operation[0].in_fiber = 0 != in_fiber;
            job->operation[0].poll = polls[i];
            append(job, 0);
            poll_to_the_end(job, 2, RESULT);
            free_job(job);
        }
    }
}

TEST(a_poll_within_an_operation_does_nothing)
{
    job_t *job = make_job();

    job->operation[0].poll = poll_within;
    append(job, 0);
    append(job, 1);
    poll_to_the_end(job, 2, RESULT);
    free_job(job);
}

/* ---- stacks ---- */

TEST(queues_share_a_stack_one_after_the_other)
{
    job_t *job = make_job();

    for (unsigned i = 0; i < QUEUES; ++i) {
        job->operation[i].in_fiber = true;
        append(job, i);
        poll_to_the_end(job, i + 1, RESULT);
    }
    assert_int_equal(1, fibers_made);
    free_job(job);
}

/* One is left for the oldest operation; where there are fewer, operations wait for each other. */
TEST(stacks_are_kept_up_to_a_few)
{
    static const unsigned most[] = {QUEUES + 1, 2};

    for (size_t m = 0; m < sizeof most / sizeof most[0]; ++m) {
        job_t *job = make_job();

        fibers_at_most = most[m];
        for (unsigned i = 0; i < QUEUES; ++i) {
            job->operation[i].in_fiber = true;
            append(job, i);
        }
        poll_to_the_end(job, QUEUES, RESULT);
        assert_int_equal(most[m], fibers_made);
        assert_int_equal(0, job->queues.fibers_out);
        assert_true(job->queues.idle_fibers < QUEUES);
        free_job(job);
    }
}

/* As the ranks that have one wait for those that have none. */
static void wait_for_the_second_operation(operation_t *operation)
{
    operation->polls_left += !operation->job->operation[1].has_ended;
}

TEST(the_oldest_operation_gets_a_stack)
{
    for (unsigned at_most = 1; at_most <= 3; ++at_most) {
        job_t *job = make_job();

        fibers_at_most = at_most;
        append(job, 0); /* a task, and behind it the second operation */
        job->operation[1].in_fiber = true;
        arc_queue_append(&job->queues, &job->queue[0], &job->operation[1].pending);
        for (unsigned i = 2; i < QUEUES; ++i) {
            job->operation[i].in_fiber = true;
            job->operation[i].poll = wait_for_the_second_operation;
            append(job, i);
        }
        poll_to_the_end(job, QUEUES, RESULT);
        free_job(job);
    }
}

TEST(without_any_stack_it_ends_in_an_error)
{
    job_t *job = make_job();

    fibers_at_most = 0;
    job->operation[0].in_fiber = true;
    append(job, 0);
    poll_to_the_end(job, 1, GIVEN_UP);
    free_job(job);
}

/* ---- threads ---- */

enum { THREADS = 3, ROUNDS = 300 };

static unsigned threads_left; /* atomic */

typedef struct starter {
    job_t *job;
    unsigned number; /* the last thread does not poll: others run what it starts */
    unsigned written;
} starter_t;

static void write_in_poll(operation_t *operation)
{
    ++((starter_t *) operation->context)->written;
}

/* What polls of any thread have written is there as soon as nothing is pending. */
static void *start_and_look(void *context)
{
    enum { POLLS_EACH = 4 };
    starter_t *starter = context;
    job_t *job = starter->job;
    operation_t *operation = &job->operation[starter->number];

    for (unsigned round = 1; round <= ROUNDS; ++round) {
        operation->poll = write_in_poll;
        operation->context = starter;
        operation->polls_left = POLLS_EACH - 1;
        append(job, starter->number);
        while (!arc_queue_is_idle(&job->queue[starter->number])) {
            arc_pending_t *ended = NULL;
            if (starter->number + 1 < THREADS) {
                (void) arc_queues_poll(&job->queues, &ended);
            }
            (void) sched_yield();
        }
        assert_int_equal(round * POLLS_EACH, starter->written);
    }
    (void) __atomic_sub_fetch(&threads_left, 1, __ATOMIC_RELAXED);
    return NULL;
}

TEST(threads_start_and_poll_at_once)
{
    job_t *job = make_job();
    starter_t starter[THREADS];
    pthread_t thread[THREADS];

    threads_left = THREADS;
    for (unsigned i = 0; i < THREADS; ++i) {
        starter[i] = (starter_t){.job = job, .number = i};
        assert_int_equal(0, pthread_create(&thread[i], NULL, start_and_look, &starter[i]));
    }
    while (0 != __atomic_load_n(&threads_left, __ATOMIC_RELAXED)) {
        arc_pending_t *ended = NULL;
        (void) arc_queues_poll(&job->queues, &ended);
        (void) sched_yield();
    }
    for (unsigned i = 0; i < THREADS; ++i) {
        assert_int_equal(0, pthread_join(thread[i], NULL));
    }
    free_job(job);
}
