/*
 * What every algorithm, stage and doubling do when the network or a peer fails: the right status on
 * the rank that notices, no request left behind, no hang, no write out of bounds.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "quant_wire.h"
#include "quant_job.h"

/* Three groups of two segments per shard at depth 5: all parts of the pipeline are passed. */
enum {
    SEED = 1234567,
    RANKS = 4,
    SEGMENT = 8 * QUANT_LANES,
    SEGMENTS = 6,
    BLOCK = SEGMENTS * SEGMENT - 77,
    COUNT = SEGMENTS * RANKS * SEGMENT - 77,
    MESSAGES = (RANKS - 1) * RANKS * SEGMENTS, /* of a stage */
};

/* What one call of it is, and its messages. */
static const struct kind {
    const char *name;
    exchange_collective_t collective;
    size_t count;
    size_t doubling_bytes;
    uint64_t messages;
} kinds[] = {
    {"allreduce", EXCHANGE_ALLREDUCE, COUNT, 0, 2 * MESSAGES},
    {"reduce-scatter", EXCHANGE_REDUCE_SCATTER, BLOCK, 0, MESSAGES},
    {"allgather", EXCHANGE_ALLGATHER, BLOCK, 0, MESSAGES},
    /* the same whatever the algorithm */
    {"doubling", EXCHANGE_ALLREDUCE, SEGMENT, SEGMENT * sizeof(float), 2 * RANKS},
};
enum { DOUBLING = sizeof(kinds) / sizeof(kinds[0]) - 1 };

typedef struct row {
    const quant_algo_t *algo;
    const struct kind *kind;
} row_t;

typedef struct fixture {
    const struct kind *kind;
    float **inputs;
    float *result;
    quant_job_t job;
} fixture_t;

static int setup(void **state)
{
    const row_t *row = *state;
    fixture_t *fixture = test_alloc(sizeof(*fixture));
    quant_job_t job = quant_job_new(row->algo, RANKS, row->kind->count, NULL, SEED);

    job.collective = row->kind->collective;
    job.network = (sim_options_t){.seed = SEED, .delay_max = 5, .eager_max = 1};
    job.config.doubling_bytes = row->kind->doubling_bytes;
    job.config.block_rows = 8;
    job.config.segment_elems = SEGMENT;
    job.config.depth = 5;
    *fixture = (fixture_t){
        .kind = row->kind,
        .inputs = quant_inputs_new(RANKS, quant_job_in_count(&job), SEED),
        .result = test_alloc(quant_job_result_count(&job) * sizeof(float)),
        .job = job,
    };
    fixture->job.inputs = fixture->inputs;
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    fixture_t *fixture = *state;

    free(fixture->inputs);
    free(fixture->result);
    free(fixture);
    return 0;
}

static void every_failing_operation_of_the_network_is_reported(void **state)
{
    fixture_t *fixture = *state;
    uint64_t k = 1;

    for (;; ++k) {
        fixture->job.network.fail_at = k;
        fixture->job.network.seed = SEED + k % 3;
        fixture->job.in_place = 0 == k % 2;
        quant_outcome_t outcome = quant_job_run(&fixture->job, 1, fixture->result);
        if (!outcome.fault_happened) {
            assert_true(quant_outcome_is_clean(&outcome));
            break;
        }
        quant_outcome_assert_failed(&outcome, RANKS, ARC_ERR_TRANSPORT);
    }
    /* Every message is a send, a receive and their two ends: each of the four failed once. */
    assert_int_equal(4 * fixture->kind->messages + 1, k);
}

static void every_changed_byte_before_the_bound_is_noticed(void **state)
{
    static const uint64_t messages[] = {1, 2, 8, 17, 50, 72, 100, 144};
    fixture_t *fixture = *state;

    for (size_t m = 0; m < sizeof(messages) / sizeof(messages[0]); ++m) {
        const bool exists = messages[m] <= fixture->kind->messages;
        for (size_t byte = 0; exists && byte < offsetof(quant_wire_header_t, bound); ++byte) {
            fixture->job.network.garble_at = messages[m];
            fixture->job.network.garble_byte = byte;
            quant_outcome_t outcome = quant_job_run(&fixture->job, 1, fixture->result);
            quant_outcome_assert_failed(&outcome, RANKS, ARC_ERR_PROTOCOL);
        }
    }
}

static void every_short_message_is_noticed(void **state)
{
    static const size_t cuts[] = {1, 64, 500, 640, 656, 1 << 20};
    fixture_t *fixture = *state;

    for (size_t c = 0; c < sizeof(cuts) / sizeof(cuts[0]); ++c) {
        for (uint64_t message = 1; message <= fixture->kind->messages; message += 11) {
            fixture->job.network.garble_at = message;
            fixture->job.network.garble_cut = cuts[c];
            quant_outcome_t outcome = quant_job_run(&fixture->job, 1, fixture->result);
            quant_outcome_assert_failed(&outcome, RANKS, ARC_ERR_PROTOCOL);
        }
    }
}

static void a_peer_in_another_call_is_noticed(void **state)
{
    fixture_t *fixture = *state;

    fixture->job.odd_sequence_skew = 1;
    quant_outcome_t outcome = quant_job_run(&fixture->job, 1, fixture->result);
    assert_true(outcome.finished);
    assert_false(outcome.ok);
    assert_true(quant_outcome_ranks(&outcome, RANKS, ARC_ERR_PROTOCOL) >= 1);
    assert_int_equal(0, outcome.outstanding);
    assert_true(outcome.intact);
}

/*
 * A vector of one element has one message per step, so a lost one stops the full loop: the caller's
 * time limit passes, it asks for whom each rank waits, and gives up.
 */
static void a_stopped_ring_names_whom_it_waits_for_and_can_be_aborted(void **state)
{
    fixture_t *fixture = *state;

    fixture->job.count = 1;
    fixture->job.network.garble_at = 1;
    fixture->job.network.garble_discard = true;
    quant_outcome_t outcome = quant_job_run(&fixture->job, 1, fixture->result);
    assert_false(outcome.finished);
    assert_int_equal(RANKS, quant_outcome_ranks(&outcome, RANKS, ARC_IN_PROGRESS));
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        const unsigned left = (rank + RANKS - 1) % RANKS;

        for (unsigned peer = 0; peer < RANKS; ++peer) {
            assert_int_equal(left == peer, outcome.waits[rank][peer]);
        }
    }
    assert_int_equal(0, outcome.outstanding);
}

/*
 * Rank 0 never comes.  The others do what they can and then wait, unless they need nothing of it;
 * somebody waits for rank 0, and each that waits for somebody.
 */
static void a_late_rank_is_named(void **state)
{
    fixture_t *fixture = *state;
    unsigned name_it = 0;

    fixture->job.first_is_absent = true;
    quant_outcome_t outcome = quant_job_run(&fixture->job, 1, fixture->result);
    assert_false(outcome.finished);
    assert_true(EXCHANGE_ALLREDUCE != fixture->job.collective ||
                RANKS == quant_outcome_ranks(&outcome, RANKS, ARC_IN_PROGRESS));
    for (unsigned rank = 1; rank < RANKS; ++rank) {
        unsigned names = 0;
        for (unsigned peer = 0; peer < RANKS; ++peer) {
            names += outcome.waits[rank][peer];
        }
        assert_true(names >= 1 || ARC_OK == outcome.statuses[rank]);
        assert_false(outcome.waits[rank][rank]);
        name_it += outcome.waits[rank][0];
    }
    assert_true(name_it >= 1);
    assert_int_equal(0, outcome.outstanding);
    assert_true(outcome.intact);
}

int main(void)
{
#define FAULT_TEST(_name) cmocka_unit_test_setup_teardown(_name, setup, teardown)
    static const struct CMUnitTest of_each[] = {
        FAULT_TEST(every_failing_operation_of_the_network_is_reported),
        FAULT_TEST(every_changed_byte_before_the_bound_is_noticed),
        FAULT_TEST(every_short_message_is_noticed),
        FAULT_TEST(a_peer_in_another_call_is_noticed),
        FAULT_TEST(a_late_rank_is_named),
    };
    static const struct CMUnitTest of_ring[] = {
        FAULT_TEST(a_stopped_ring_names_whom_it_waits_for_and_can_be_aborted)};
    static row_t rows[JOB_ALGOS * DOUBLING + 1];
    static row_t full_loop = {.kind = &kinds[0]};
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

    printf("# seed %d\n", SEED);
    full_loop.algo = quant_algo_at(QUANT_ALGO_full_loop);
    unit_add_of("full_loop", &full_loop, UNIT_TESTS(of_ring));
    for (size_t i = 0; i < ROWS; ++i) {
        char name[JOB_NAME_BYTES];
        rows[i].algo = i + 1 < ROWS ? quant_algo_at(i / DOUBLING) : full_loop.algo;
        rows[i].kind = &kinds[i + 1 < ROWS ? i % DOUBLING : DOUBLING];
        (void) snprintf(name, sizeof name, "%s, %s", rows[i].algo->name, rows[i].kind->name);
        unit_add_of(name, &rows[i], UNIT_TESTS(of_each));
    }
    return unit_run("faults");
}
