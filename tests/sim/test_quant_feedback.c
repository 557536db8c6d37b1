/*
 * Error feedback: over many calls the error of the sum of the results stays that of one call, for
 * every algorithm and stage; what is carried never breaks a bound, and not-a-numbers are not
 * carried.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_job.h"

enum { SEED = 20261121, CALLS = 32, RANKS = 5, COUNT = 3 * 64 * QUANT_LANES * RANKS + 77 };

typedef struct feedback_case {
    const quant_algo_t *algo;
    const quant_format_t *reduce;
    const quant_format_t *gather;
} feedback_case_t;

static quant_job_t job_of(const feedback_case_t *wanted, float **inputs)
{
    quant_job_t job = quant_job_new(wanted->algo, RANKS, COUNT, inputs, SEED);
    job.mixed_isa = true;
    job.config.reduce_format = wanted->reduce;
    job.config.gather_format = wanted->gather;
    return job;
}

/* The mean square of (sum of the results of `calls` calls - calls * sum); *bound: of the last. */
static double squared_error(quant_job_t *job, unsigned calls, bool feedback, double *bound)
{
    SCOPED float *result = test_alloc(COUNT * sizeof *result);
    SCOPED double *sum = test_alloc(COUNT * sizeof *sum);
    double squares = 0;

    job->config.feedback = feedback;
    job->running = test_alloc(COUNT * sizeof *job->running);
    memset(job->running, 0, COUNT * sizeof *job->running);
    const quant_outcome_t outcome = quant_job_clean(job, calls, result);
    quant_oracle_sum(job, sum);
    for (size_t i = 0; i < COUNT; ++i) {
        const double error = job->running[i] - calls * sum[i];
        squares += error * error;
        assert_true(fabs((double) result[i] - sum[i]) <= (double) outcome.bound);
    }
    *bound = (double) outcome.bound;
    free(job->running);
    job->running = NULL;
    return squares / COUNT;
}

static void error_of_many_calls_is_that_of_one(void **state)
{
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    quant_job_t job = job_of(*state, inputs);
    double bound = 0;
    double bound_with = 0;

    const double once = squared_error(&job, 1, false, &bound);
    const double many = squared_error(&job, CALLS, false, &bound);
    const double many_with = squared_error(&job, CALLS, true, &bound_with);
    /* The same data, the same errors: CALLS times as much, squared. */
    assert_true(fabs(many / (CALLS * CALLS * once) - 1) < 1e-6);
    /* All of it is the residual of the last call, which is as large as that of the first. */
    assert_true(many_with < 1.5 * once);
    assert_true(bound_with >= bound && bound_with < 4 * bound);
}

/* On top of its own error it has that of the call before; the target reckons with that. */
static void a_single_call_has_the_error_of_two(void **state)
{
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    quant_job_t job = job_of(*state, inputs);
    SCOPED float *result = test_alloc(COUNT * sizeof *result);
    SCOPED double *sum = test_alloc(COUNT * sizeof *sum);
    double squares = 0;
    double bound = 0;

    const double once = squared_error(&job, 1, false, &bound);
    job.config.feedback = true;
    (void) quant_job_clean(&job, CALLS, result);
    quant_oracle_sum(&job, sum);
    for (size_t i = 0; i < COUNT; ++i) {
        squares += ((double) result[i] - sum[i]) * ((double) result[i] - sum[i]);
    }
    assert_true(squares / COUNT > 1.5 * once && squares / COUNT < 2 * 1.05 * once);
}

/* A rank's part of each block that it sends on is carried; of its own block nothing is lost. */
static void reduce_scatter_carries_too(void **state)
{
    enum { BLOCK = 64 * QUANT_LANES + 77 };
    const feedback_case_t *wanted = *state;
    SCOPED float **inputs = quant_inputs_new(RANKS, BLOCK * RANKS, SEED);
    SCOPED float *result = test_alloc(BLOCK * RANKS * sizeof *result);
    SCOPED double *running = test_alloc(BLOCK * sizeof *running);
    double squares[2] = {0};

    for (unsigned many = 0; many < 2; ++many) {
        quant_job_t job = quant_job_new(wanted->algo, RANKS, BLOCK, inputs, SEED);
        const unsigned calls = many ? CALLS : 1;
        job.config.reduce_format = wanted->reduce;
        job.collective = EXCHANGE_REDUCE_SCATTER;
        job.config.feedback = true;
        job.running = running;
        memset(running, 0, BLOCK * sizeof *running);
        const quant_outcome_t outcome = quant_job_clean(&job, calls, result);
        for (size_t i = 0; i < BLOCK; ++i) {
            double sum = 0;
            for (unsigned rank = 0; rank < RANKS; ++rank) {
                sum += (double) inputs[rank][i];
            }
            squares[many] += (running[i] - calls * sum) * (running[i] - calls * sum);
            assert_true(fabs((double) result[i] - sum) <= (double) outcome.bound);
        }
    }
    assert_true(squares[0] > 0 && squares[1] < 1.5 * squares[0]);
}

static void not_a_number_is_not_carried(void **state)
{
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    quant_job_t job = job_of(*state, inputs);
    SCOPED float *result = test_alloc(COUNT * sizeof *result);
    SCOPED double *running = test_alloc(COUNT * sizeof *running);

    memset(running, 0, COUNT * sizeof *running);
    inputs[1][COUNT / 2] = NAN;
    inputs[2][COUNT / 3] = INFINITY;
    job.config.feedback = true;
    job.config.segment_elems = 3 * quant_tile_elems(job.config.block_rows); /* two are coded */
    job.running = running;
    const quant_outcome_t outcome = quant_job_clean(&job, 2, result);
    assert_true(isinf(outcome.bound));
    for (size_t i = 0; i < COUNT; ++i) {
        assert_int_equal(COUNT / 2 == i, isnan(result[i]));
        assert_int_equal(COUNT / 3 == i, isinf(result[i]));
    }
}

static void without_quantization_nothing_is_carried(void **state)
{
    feedback_case_t exact = *(const feedback_case_t *) *state;
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *plain = test_alloc(COUNT * sizeof *plain);
    SCOPED float *fed = test_alloc(COUNT * sizeof *fed);

    exact.reduce = &quant_format_fp32;
    exact.gather = &quant_format_fp32;
    quant_job_t job = job_of(&exact, inputs);
    (void) quant_job_clean(&job, 2, plain);
    job.config.feedback = true;
    (void) quant_job_clean(&job, 2, fed);
    assert_memory_equal(plain, fed, COUNT * sizeof *plain);
}

int main(void)
{
    static const struct {
        const char *name;
        const quant_format_t *reduce;
        const quant_format_t *gather;
    } formats[] = {
        {"int4", &quant_format_int4, &quant_format_int4},
        {"int8", &quant_format_int8, &quant_format_int8},
        {"fp8_e4m3", &quant_format_fp8_e4m3, &quant_format_fp8_e4m3},
        {"int8 reduced only", &quant_format_int8, &quant_format_fp32},
        {"int8 gathered only", &quant_format_fp32, &quant_format_int8},
    };
    static const struct CMUnitTest of_int8[] = {
        cmocka_unit_test(a_single_call_has_the_error_of_two)};
    static const struct CMUnitTest of_int4[] = {
        cmocka_unit_test(reduce_scatter_carries_too),
        cmocka_unit_test(not_a_number_is_not_carried),
        cmocka_unit_test(without_quantization_nothing_is_carried),
    };
    enum { FORMATS = sizeof formats / sizeof formats[0] };
    static feedback_case_t cases[JOB_ALGOS][FORMATS];

    printf("# seed %d\n", SEED);
    for (size_t a = 0; a < JOB_ALGOS; ++a) {
        const char *name = quant_algo_at(a)->name;
        for (size_t f = 0; f < FORMATS; ++f) {
            cases[a][f] = (feedback_case_t){quant_algo_at(a), formats[f].reduce, formats[f].gather};
            unit_add_row(error_of_many_calls_is_that_of_one, &cases[a][f], 0,
                         "%s, %s: error_of_many_calls", name, formats[f].name);
        }
        unit_add_of(name, &cases[a][1], UNIT_TESTS(of_int8));
        unit_add_of(name, &cases[a][0], UNIT_TESTS(of_int4));
    }
    return unit_run("error feedback");
}
