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
    exchange_collective_t collective;
} feedback_case_t;

/* Of a stage one of the blocks that make a vector. */
static quant_job_t job_of(const feedback_case_t *wanted)
{
    const bool is_stage = EXCHANGE_ALLREDUCE != wanted->collective;
    quant_job_t job =
        quant_job_new(wanted->algo, RANKS, is_stage ? COUNT / RANKS : COUNT, NULL, SEED);
    job.mixed_isa = true;
    job.collective = wanted->collective;
    job.config.reduce_format = wanted->reduce;
    job.config.gather_format = wanted->gather;
    return job;
}

/* The mean square of (sum of the results of `calls` calls - calls * sum), on rank 0. */
static double squared_error(quant_job_t *job, unsigned calls, bool feedback, double *bound)
{
    const size_t elems = quant_job_result_count(job);
    SCOPED float *result = test_alloc(elems * sizeof *result);
    SCOPED double *exact = test_alloc(elems * sizeof *exact);
    SCOPED double *running = test_zeros(elems * sizeof *running);
    double squares = 0;

    job->config.feedback = feedback;
    job->running = running;
    *bound = (double) quant_job_errors(job, calls, result).outcome.bound;
    quant_oracle_exact(job, exact);
    for (size_t i = 0; i < job->count; ++i) {
        squares += (running[i] - calls * exact[i]) * (running[i] - calls * exact[i]);
    }
    job->running = NULL;
    return squares / (double) job->count;
}

static void error_of_many_calls_is_that_of_one(void **state)
{
    quant_job_t job = job_of(*state);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
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
    quant_job_t job = job_of(*state);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof *result);

    const double once = quant_job_errors(&job, 1, result).mean_square;
    job.config.feedback = true;
    const double fed = quant_job_errors(&job, CALLS, result).mean_square;
    assert_true(fed > 1.5 * once && fed < 2 * 1.05 * once);
}

static void not_a_number_is_not_carried(void **state)
{
    quant_job_t job = job_of(*state);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof *result);
    SCOPED double *running = test_zeros(COUNT * sizeof *running);

    inputs[1][COUNT / 2] = NAN;
    inputs[2][COUNT / 3] = INFINITY;
    job.config.feedback = true;
    job.config.segment_elems = 3 * quant_tile_elems(job.config.block_rows); /* two are coded */
    job.running = running;
    assert_true(isinf(quant_job_errors(&job, 2, result).outcome.bound));
}

static void without_quantization_nothing_is_carried(void **state)
{
    feedback_case_t exact = *(const feedback_case_t *) *state;
    SCOPED float *plain = test_alloc(COUNT * sizeof *plain);
    SCOPED float *fed = test_alloc(COUNT * sizeof *fed);

    exact.reduce = &quant_format_fp32;
    exact.gather = &quant_format_fp32;
    quant_job_t job = job_of(&exact);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
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
        exchange_collective_t collective;
    } formats[] = {
        {"int4", &quant_format_int4, &quant_format_int4, EXCHANGE_ALLREDUCE},
        {"int8", &quant_format_int8, &quant_format_int8, EXCHANGE_ALLREDUCE},
        {"fp8_e4m3", &quant_format_fp8_e4m3, &quant_format_fp8_e4m3, EXCHANGE_ALLREDUCE},
        {"int8 reduced only", &quant_format_int8, &quant_format_fp32, EXCHANGE_ALLREDUCE},
        {"int8 gathered only", &quant_format_fp32, &quant_format_int8, EXCHANGE_ALLREDUCE},
        /* A rank's part of each block that it sends on is carried. */
        {"int4 reduce-scatter", &quant_format_int4, &quant_format_int4, EXCHANGE_REDUCE_SCATTER},
    };
    static const struct CMUnitTest of_int8[] = {
        cmocka_unit_test(a_single_call_has_the_error_of_two)};
    static const struct CMUnitTest of_int4[] = {
        cmocka_unit_test(not_a_number_is_not_carried),
        cmocka_unit_test(without_quantization_nothing_is_carried),
    };
    enum { FORMATS = sizeof formats / sizeof formats[0] };
    static feedback_case_t cases[JOB_ALGOS][FORMATS];

    printf("# seed %d\n", SEED);
    for (size_t a = 0; a < JOB_ALGOS; ++a) {
        const char *name = quant_algo_at(a)->name;
        for (size_t f = 0; f < FORMATS; ++f) {
            cases[a][f] = (feedback_case_t){quant_algo_at(a), formats[f].reduce, formats[f].gather,
                                            formats[f].collective};
            unit_add_row(error_of_many_calls_is_that_of_one, &cases[a][f], 0,
                         "%s, %s: error_of_many_calls", name, formats[f].name);
        }
        unit_add_of(name, &cases[a][1], UNIT_TESTS(of_int8));
        unit_add_of(name, &cases[a][0], UNIT_TESTS(of_int4));
    }
    return unit_run("error feedback");
}
