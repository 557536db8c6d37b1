/*
 * Short vectors, which go by doubling: equal bits everywhere, in the messages that the
 * schedule has and no more, within the bound, with the predicted error, under every schedule of the
 * network; longer ones go as the algorithm says.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_error.h"
#include "quant_job.h"

enum { SEED = 20261122, MANY = 1 << 18 };

/* The prime factors by hand: how many there are, and the sum of each less one. */
static const struct ways {
    unsigned ranks;
    unsigned phases;
    unsigned messages; /* a rank sends */
} ways[] = {
    {2, 1, 1}, {3, 1, 2}, {4, 2, 2},  {5, 1, 4},  {6, 2, 3},  {7, 1, 6},
    {8, 3, 3}, {9, 2, 4}, {10, 2, 5}, {12, 3, 4}, {14, 2, 7}, {16, 4, 4},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static const size_t counts[] = {0, 1, 63, 64, 65, 1000, 4095, 4096, 4097, 10007};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

static quant_job_t job_of(unsigned ranks, size_t count, float **inputs)
{
    quant_job_t job = quant_job_new(quant_algo_at(0), ranks, count, inputs, SEED);

    job.config.doubling_bytes = (count + 1) * sizeof(double);
    return job;
}

static double largest_of(const quant_job_t *job)
{
    double largest = 0;

    for (unsigned rank = 0; rank < job->ranks; ++rank) {
        for (size_t i = 0; i < job->count; ++i) {
            largest = fmax(largest, fabs((double) job->inputs[rank][i]));
        }
    }
    return largest;
}

/* A phase rounds N/s sums of at most s times the largest number, by half of a 127th of it each. */
static double most_error(const quant_job_t *job, unsigned phases)
{
    return phases * job->ranks * largest_of(job) / 127 / 2 * 1.1;
}

static void sums_are_equal_everywhere_in_few_messages(void **state)
{
    static const quant_variant_t variants[] = {
        {64, 3, false, false, 0, 0, 0},
        {64, 3, true, true, 1, 0, 0},
        {64, 8, false, true, 2, 0, 0},
        {64, 16, true, false, 4, 0, 0},
    };
    enum { VARIANTS = sizeof(variants) / sizeof(variants[0]), CALLS = 3 };
    const struct ways *way = *state;

    for (unsigned c = 0; c < COUNTS; ++c) {
        SCOPED float **inputs = quant_inputs_new(way->ranks, counts[c], SEED);
        SCOPED float *result = test_alloc(counts[c] * sizeof(float));
        SCOPED float *first = test_alloc(counts[c] * sizeof(float));
        for (unsigned v = 0; v < VARIANTS; ++v) {
            quant_job_t job = job_of(way->ranks, counts[c], inputs);
            quant_job_vary(&job, &variants[v], SEED + v);
            const quant_outcome_t outcome = quant_job_clean(&job, CALLS, result);
            assert_int_equal(0 == counts[c] ? 0 : CALLS * way->ranks * way->messages,
                             outcome.messages);
            assert_true(quant_oracle_worst_error(&job, result) <= (double) outcome.bound);
            assert_true((double) outcome.bound <= most_error(&job, way->phases));
            if (0 == v) {
                memcpy(first, result, counts[c] * sizeof(float));
            }
            assert_memory_equal(first, result, counts[c] * sizeof(float));
        }
    }
}

/* Relative to the result the error is c for each phase. */
static void the_error_is_that_of_one_rounding_for_each_phase(void **state)
{
    static const struct {
        const quant_format_t *format;
        double c;         /* docs/format.md */
        double tolerance; /* the chance of a sample */
    } rows[] = {
        {&quant_format_int8, 3.546e-5, 0.03},
        {&quant_format_int6, 5.90e-4, 0.03},
        {&quant_format_int16, 5.41e-10, 0.03},
        /* Sums of two such numbers often lie half-way between two. */
        {&quant_format_bf16, 2.75e-6, 0.15},
    };
    enum { COUNT = MANY };
    const struct ways *way = *state;
    SCOPED float **inputs = quant_inputs_new(way->ranks, COUNT, SEED);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        quant_job_t job = job_of(way->ranks, COUNT, inputs);
        job.config.reduce_format = rows[i].format;
        job.config.gather_format = rows[i].format;
        const double measured = quant_oracle_mse(&job) / job.ranks;
        const double predicted = quant_error_doubling_nmse(&job.config, way->ranks);
        printf("# %u ranks, %s: nmse %.4e, predicted %.4e\n", way->ranks, rows[i].format->name,
               measured, predicted);
        assert_true(fabs(measured / predicted - 1) < rows[i].tolerance);
        assert_true(fabs(predicted / (rows[i].c * way->phases) - 1) < 0.02);
    }
}

/* ---- types ---- */

static void doubles_are_summed_like_floats(void **state)
{
    enum { COUNT = 5003, RANKS = 6 };
    SCOPED float **floats = quant_inputs_new(RANKS, COUNT, SEED);
    double *inputs[RANKS];
    SCOPED double *result = test_alloc(COUNT * sizeof(double));
    SCOPED float *expected = test_alloc(COUNT * sizeof(float));

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        inputs[rank] = test_alloc(COUNT * sizeof(double));
        for (size_t i = 0; i < COUNT; ++i) {
            inputs[rank][i] = (double) floats[rank][i];
        }
    }
    quant_job_t job = job_of(RANKS, COUNT, floats);
    quant_outcome_t outcome = quant_job_clean(&job, 1, expected);
    job.config.doubles = true;
    job.inputs = (float *const *) inputs;
    outcome = quant_job_clean(&job, 2, result);
    assert_int_equal(2 * RANKS * 3, outcome.messages);
    for (size_t i = 0; i < COUNT; ++i) {
        double sum = 0;
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            sum += inputs[rank][i];
        }
        assert_true(fabs(result[i] - sum) <= (double) outcome.bound);
        /* Sums that round differently may be coded one step apart. */
        assert_true(fabs(result[i] - (double) expected[i]) <= (double) outcome.bound);
    }
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        free(inputs[rank]);
    }
}

static void halves_are_summed_as_floats_are(void **state)
{
    enum { COUNT = 5003, RANKS = 4 };
    SCOPED float **floats = quant_inputs_new(RANKS, COUNT, SEED);
    uint16_t *halves[RANKS];
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED uint16_t *expected = test_alloc(COUNT * sizeof(uint16_t));
    SCOPED uint16_t *got = test_alloc(COUNT * sizeof(uint16_t));

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        halves[rank] = test_alloc(COUNT * sizeof(uint16_t));
        quant_job_bf16.narrow(floats[rank], halves[rank], COUNT);
        quant_job_bf16.widen(halves[rank], floats[rank], COUNT);
    }
    for (unsigned in_place = 0; in_place < 2; ++in_place) {
        quant_job_t job = job_of(RANKS, COUNT, floats);
        job.in_place = 0 != in_place;
        const quant_outcome_t plain = quant_job_run(&job, 2, result);
        quant_job_bf16.narrow(result, expected, COUNT);
        job.config.storage = true;
        job.storage = &quant_job_bf16;
        job.inputs = (float *const *) halves;
        const quant_outcome_t outcome = quant_job_clean(&job, 2, got);
        assert_int_equal(2 * RANKS * 2, outcome.messages);
        assert_true(plain.bound == outcome.bound);
        assert_memory_equal(expected, got, COUNT * sizeof(uint16_t));
    }
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        free(halves[rank]);
    }
}

static void non_finite_values_stay_where_they_are(void **state)
{
    enum { COUNT = 20001, RANKS = 6, NAN_AT = 5000, INFINITY_AT = COUNT - 1, BOTH_AT = 0 };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));

    inputs[1][NAN_AT] = NAN;
    inputs[2][INFINITY_AT] = -INFINITY;
    inputs[3][BOTH_AT] = INFINITY;
    inputs[5][BOTH_AT] = -INFINITY;
    quant_job_t job = job_of(RANKS, COUNT, inputs);
    job.mixed_isa = true;
    const quant_outcome_t outcome = quant_job_clean(&job, 1, result);
    assert_true(isinf(outcome.bound));
    for (size_t i = 0; i < COUNT; ++i) {
        assert_int_equal(NAN_AT == i || BOTH_AT == i, 0 != isnan(result[i]));
        assert_int_equal(INFINITY_AT == i, 0 != isinf(result[i]));
    }
    assert_true(result[INFINITY_AT] < 0);
}

/* ---- levels ---- */

static void numbers_stay_exact_on_a_node(void **state)
{
    static const struct {
        unsigned nodes;
        unsigned per_node;
        unsigned phases; /* between nodes */
        unsigned messages;
    } rows[] = {{4, 2, 2, 3}, {2, 4, 1, 3}, {3, 2, 1, 3}, {4, 4, 2, 4}, {2, 6, 1, 4}};
    enum { COUNT = MANY };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        const unsigned ranks = rows[i].nodes * rows[i].per_node;
        SCOPED float **inputs = quant_inputs_new(ranks, COUNT, SEED);
        SCOPED float *result = test_alloc(COUNT * sizeof(float));
        quant_job_t job = job_of(ranks, COUNT, inputs);
        job.config.algo = quant_algo_by_name("hierarchical");
        quant_job_group(&job, rows[i].per_node);
        assert_int_equal(rows[i].phases, quant_doubling_phases(&job.config, ranks));
        const quant_outcome_t outcome = quant_job_run(&job, 1, result);
        assert_int_equal(ranks * rows[i].messages, outcome.messages);
        assert_true(fabs(quant_oracle_mse(&job) / job.ranks / (3.546e-5 * rows[i].phases) - 1) <
                    0.03);
    }
}

/* ---- what goes another way ---- */

static void what_is_long_goes_as_the_algorithm_says(void **state)
{
    enum { RANKS = 4, COUNT = 8192 };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT + 1, SEED);
    SCOPED float *result = test_alloc((COUNT + 1) * sizeof(float));

    for (unsigned more = 0; more < 2; ++more) {
        quant_job_t job = job_of(RANKS, COUNT + more, inputs);
        job.config.doubling_bytes = COUNT * sizeof(float);
        const quant_outcome_t outcome = quant_job_clean(&job, 3, result);
        assert_int_equal(3 * RANKS * (0 == more ? 2 : 2 * (RANKS - 1)), outcome.messages);
    }
}

static void what_it_is_not_for_goes_as_the_algorithm_says(void **state)
{
    static const unsigned many[] = {1, 11, 13, 17, 19, 22, 23, 26, 39, 1009};
    const quant_job_t job = job_of(4, 0, NULL);
    const quant_config_t open = job.config;
    quant_config_t config = open;

    for (unsigned i = 0; i < WAYS; ++i) {
        assert_int_equal(ways[i].phases, quant_doubling_phases(&open, ways[i].ranks));
    }
    assert_int_equal(10, quant_doubling_phases(&open, 1024));
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); ++i) {
        assert_int_equal(0, quant_doubling_phases(&open, many[i]));
        assert_true(0 == quant_error_doubling_nmse(&open, many[i]));
    }
    config.doubling_bytes = 0;
    assert_int_equal(0, quant_doubling_phases(&config, 4));
    config = open;
    config.feedback = true;
    assert_int_equal(0, quant_doubling_phases(&config, 4));
    config = open;
    config.gather_format = &quant_format_fp32;
    assert_int_equal(0, quant_doubling_phases(&config, 4));
    config.reduce_format = &quant_format_fp32;
    assert_int_equal(0, quant_doubling_phases(&config, 4));
    config = open;
    config.minishards = 1;
    assert_int_equal(0, quant_doubling_phases(&config, 4));
    quant_operation_t operation = {.count = 1, .collective = EXCHANGE_ALLREDUCE};
    assert_true(quant_doubling_takes(&open, &operation));
    operation.collective = EXCHANGE_ALLGATHER;
    assert_false(quant_doubling_takes(&open, &operation));
    operation.collective = EXCHANGE_REDUCE_SCATTER;
    assert_false(quant_doubling_takes(&open, &operation));
}

/* ---- a rank that does not come ---- */

enum { FAULT_RANKS = 6, FAULT_COUNT = 1000 };

/* Rank 0 never comes: its partner of the first phase waits for it, others for those that wait. */
static void a_late_rank_is_named(void **state)
{
    SCOPED float **inputs = quant_inputs_new(FAULT_RANKS, FAULT_COUNT, SEED);
    SCOPED float *result = test_alloc(FAULT_COUNT * sizeof(float));
    quant_job_t job = job_of(FAULT_RANKS, FAULT_COUNT, inputs);

    job.first_is_absent = true;
    const quant_outcome_t outcome = quant_job_run(&job, 1, result);
    assert_false(outcome.finished);
    assert_int_equal(FAULT_RANKS, quant_outcome_ranks(&outcome, FAULT_RANKS, ARC_IN_PROGRESS));
    for (unsigned rank = 1; rank < FAULT_RANKS; ++rank) {
        for (unsigned peer = 0; peer < FAULT_RANKS; ++peer) {
            /* 0 | 1, then {0, 2, 4} and {1, 3, 5}; 2 and 4 have what each other sent. */
            const bool waits = 1 == rank ? 0 == peer : 0 == rank % 2 ? 0 == peer : 1 == peer;
            assert_int_equal(waits, outcome.waits[rank][peer]);
        }
    }
    assert_int_equal(0, outcome.outstanding);
    assert_true(outcome.intact);
}

int main(void)
{
    static const struct CMUnitTest of_ways[] = {
        cmocka_unit_test(sums_are_equal_everywhere_in_few_messages),
        cmocka_unit_test(the_error_is_that_of_one_rounding_for_each_phase),
    };
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(doubles_are_summed_like_floats),
        cmocka_unit_test(halves_are_summed_as_floats_are),
        cmocka_unit_test(non_finite_values_stay_where_they_are),
        cmocka_unit_test(numbers_stay_exact_on_a_node),
        cmocka_unit_test(what_is_long_goes_as_the_algorithm_says),
        cmocka_unit_test(what_it_is_not_for_goes_as_the_algorithm_says),
        cmocka_unit_test(a_late_rank_is_named),
    };

    printf("# seed %d\n", SEED);
    for (unsigned i = 0; i < WAYS; ++i) {
        char name[JOB_NAME_BYTES];
        (void) snprintf(name, sizeof name, "%u ranks", ways[i].ranks);
        unit_add_of(name, &ways[i], UNIT_TESTS(of_ways));
    }
    unit_add(UNIT_TESTS(others));
    return unit_run("doubling");
}
