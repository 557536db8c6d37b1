/*
 * What the algorithms for several nodes do when a network fails: an error on the rank
 * that notices, no request left behind, no hang, no write out of bounds.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "lowlat_select.h"
#include "nodes_job.h"

enum {
    SEED = 424242,
    NODES = 3,
    OWNERS = 2,
    CHUNK_BYTES = NODES * OWNERS * LOWLAT_CACHE_LINE_BYTES,
    CHUNKS = 9,
    STEPS = 2000000,
    STEPS_AFTER_FAULT = 20000,
};

typedef struct outcome {
    bool fault_happened;
    bool finished;
    unsigned failed; /* ranks with ARC_ERR_TRANSPORT */
    unsigned other;  /* ... with another error: of a message */
} outcome_t;

/* All ranks that still run are given up, as at a time limit. */
static void give_up(sim_nodes_t *nodes)
{
    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        if (nodes->actors[rank].running) {
            arc_task_abort(&nodes->actors[rank].task.task);
            assert_true(test_buffer_intact(&nodes->actors[rank].out));
            actor_release(&nodes->actors[rank]);
        }
    }
}

static outcome_t run_with_fault(unsigned algorithm, unsigned exchange, uint64_t fail_at,
                                uint64_t cut_at)
{
    const nodes_options_t options = {.nodes = NODES,
                                     .size = {2, 3, 2},
                                     .loops = LOWLAT_ALGORITHM_RING == algorithm,
                                     .chunk_bytes = CHUNK_BYTES,
                                     .seed = SEED + fail_at % 3,
                                     .faulty = exchange,
                                     .fail_at = fail_at,
                                     .cut_at = cut_at};
    const operation_t operation = {.algorithm = algorithm,
                                   .reducer = lowlat_job_reducer(1),
                                   .count = CHUNKS * CHUNK_BYTES / sizeof(double),
                                   .span_bytes = CHUNKS * CHUNK_BYTES,
                                   .seed = SEED};
    sim_nodes_t *nodes = sim_nodes_new(&options);
    test_random_t random = test_random_of(SEED, fail_at + cut_at);
    job_t job = sim_nodes_job(nodes, &operation, 1);
    outcome_t outcome = {.failed = 0};

    job.on_error = sim_nodes_down;
    /* Ranks that only wait for one that failed never end by themselves. */
    outcome.finished = job_run(&job, &random, 0 == fail_at + cut_at ? STEPS : STEPS_AFTER_FAULT);
    give_up(nodes);
    outcome.fault_happened = sim_network_counts(nodes->network[exchange])->fault_happened;
    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        const arc_status_t status = nodes->actors[rank].status;
        outcome.failed += ARC_ERR_TRANSPORT == status;
        outcome.other += ARC_ERR_TRANSPORT != status && ARC_OK != status;
    }
    assert_int_equal(0, sim_nodes_outstanding(nodes));
    assert_true(sim_nodes_intact(nodes));
    sim_nodes_free(nodes);
    return outcome;
}

/*
 * Starts and completions of messages in one exchange.  Schedules deal their chunks to the exchanges
 * in turn; a pipe has the first one alone, and its own chunks: of 88 numbers, a message each
 * owner, node and round.
 */
static uint64_t operations_of(unsigned algorithm, unsigned exchange)
{
    enum { PIPE_CHUNKS = 5, PIPE_MESSAGES = 2 * (NODES - 1) * NODES };
    const uint64_t chunks =
        CHUNKS / LOWLAT_EXCHANGES + (exchange < (unsigned) CHUNKS % LOWLAT_EXCHANGES);
    /* Of three nodes one is folded: give, exchange both ways (halving: twice), get. */
    const uint64_t messages = LOWLAT_ALGORITHM_HALVING == algorithm ? 6 : 4;

    if (LOWLAT_ALGORITHM_DIRECT == algorithm || LOWLAT_ALGORITHM_RING == algorithm) {
        return 0 == exchange ? (uint64_t) 4 * PIPE_MESSAGES * PIPE_CHUNKS * OWNERS : 0;
    }
    /* A send, a receive and their two ends. */
    return 4 * messages * chunks * OWNERS;
}

static void every_failing_operation_of_a_network_is_reported(void **state)
{
    const unsigned algorithm = *(const unsigned *) *state;

    for (unsigned exchange = 0; exchange < LOWLAT_EXCHANGES; ++exchange) {
        const outcome_t clean = run_with_fault(algorithm, exchange, 0, 0);
        assert_true(clean.finished && 0 == clean.failed && 0 == clean.other);
        uint64_t k = 1;
        for (;; ++k) {
            const outcome_t outcome = run_with_fault(algorithm, exchange, k, 0);
            if (!outcome.fault_happened) {
                assert_true(outcome.finished && 0 == outcome.failed);
                break;
            }
            assert_true(outcome.failed >= 1);
            assert_int_equal(0, outcome.other);
        }
        assert_int_equal(operations_of(algorithm, exchange) + 1, k);
    }
}

/* Whoever gets it says so, and nobody takes what it lacks for a result (job_run). */
static void every_message_that_is_too_short_is_reported(void **state)
{
    const unsigned algorithm = *(const unsigned *) *state;

    for (unsigned exchange = 0; exchange < LOWLAT_EXCHANGES; ++exchange) {
        uint64_t k = 1;
        for (;; ++k) {
            const outcome_t outcome = run_with_fault(algorithm, exchange, 0, k);
            if (!outcome.fault_happened) {
                assert_true(outcome.finished);
                break;
            }
            assert_true(outcome.other >= 1);
        }
        /* Each message is two operations that start and two that end. */
        assert_int_equal(operations_of(algorithm, exchange) / 4 + 1, k);
    }
}

int main(void)
{
    static const unsigned algorithms[] = {LOWLAT_ALGORITHM_DOUBLING, LOWLAT_ALGORITHM_HALVING,
                                          LOWLAT_ALGORITHM_DIRECT, LOWLAT_ALGORITHM_RING};
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(every_failing_operation_of_a_network_is_reported),
        cmocka_unit_test(every_message_that_is_too_short_is_reported),
    };

    printf("# seed %d\n", SEED);
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; ++i) {
        unit_add_of(lowlat_algorithms[algorithms[i]].name, &algorithms[i], UNIT_TESTS(each));
    }
    return unit_run("faults between simulated nodes");
}
