/*
 * What the queues of pending operations promise (queue.h), under random schedules of several ranks
 * (queue_job.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "queue_job.h"

enum {
    SEED = 20261123,
    OPERATIONS = 150,
    ROUNDS = 3,  /* with other plans */
    FAULTS = 40, /* at polls that are further and further apart */
    STEPS_PER_OPERATION_AND_RANK = 20000,
};

/* Plans that are drawn, run; how many operations have failed. */
static size_t run_job(const queue_job_options_t *options, test_random_t *random)
{
    SCOPED plan_t *plans = test_alloc(OPERATIONS * sizeof *plans);

    queue_job_draw(options, random, plans, OPERATIONS);
    queue_job_t *job = queue_job_new(options, plans, OPERATIONS);
    assert_true(queue_job_run(job, random,
                              (size_t) STEPS_PER_OPERATION_AND_RANK * OPERATIONS * options->ranks));
    const size_t failures = queue_job_failures(job);
    queue_job_free(job);
    return failures;
}

static void runs_one_at_a_time_in_order_under_any_schedule(void **state)
{
    queue_job_options_t options = *(const queue_job_options_t *) *state;
    test_random_t random = test_random_start(SEED + options.ranks);

    for (unsigned round = 0; round < ROUNDS; ++round) {
        options.seed = test_random_bits(&random);
        assert_int_equal(0, run_job(&options, &random));
    }
}

/*
 * From an error on, all operations of the communicator end in one, on all ranks, and none is left
 * over.  Those of the other communicator go on, with results that each rank checks.
 */
static void ends_all_when_one_fails(void **state)
{
    enum { STRETCH_PERCENT = 125, PERCENT = 100 };
    queue_job_options_t options = *(const queue_job_options_t *) *state;
    test_random_t random = test_random_start(SEED);
    size_t failed = 0;
    uint64_t at = 1;

    for (unsigned fault = 0; fault < FAULTS; ++fault) {
        options.seed = test_random_bits(&random);
        options.fail_at = at;
        failed += run_job(&options, &random) >= options.ranks;
        at += 1 + at * (STRETCH_PERCENT - PERCENT) / PERCENT;
    }
    assert_true(failed > FAULTS / 2);
}

int main(void)
{
    static const unsigned pending[] = {1, 2, 9, QUEUE_JOB_PENDING};
    enum { PENDINGS = sizeof pending / sizeof pending[0], FAULTY = 2 };

    for (unsigned ranks = 2; ranks <= QUEUE_JOB_RANKS; ++ranks) {
        for (unsigned i = 0; i < QUEUE_JOB_COMMS * PENDINGS; ++i) {
            const unsigned comms = 1 + i / PENDINGS;
            const queue_job_options_t options = {.ranks = ranks,
                                                 .comms = comms,
                                                 .over_nodes = comms / 2,
                                                 .pending = pending[i % PENDINGS]};
            unit_add_row(runs_one_at_a_time_in_order_under_any_schedule, &options, sizeof options,
                         "runs_one_at_a_time_in_order_under_any_schedule %u ranks, "
                         "%u communicators, %u pending",
                         ranks, comms, options.pending);
        }
    }
    for (unsigned ranks = 2; ranks < 2 + FAULTY; ++ranks) {
        const queue_job_options_t options = {
            .ranks = ranks, .comms = 2, .pending = QUEUE_JOB_PENDING};
        unit_add_row(ends_all_when_one_fails, &options, sizeof options,
                     "ends_all_when_one_fails %u ranks", ranks);
    }
    return unit_run("queues of pending operations");
}
