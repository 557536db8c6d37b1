/*
 * Sums of doubles: quantized as exactly as floats, within the bound, the same on all ranks; what
 * is not quantized is the sum of doubles; what no float can hold keeps its meaning.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "unit.h"
#include "quant_algos.h"
#include "quant_error.h"
#include "quant_job.h"
#include "exchange_layout.h"

enum { SEED = 20261122, RANKS = 6, COUNT = 2 * RANKS * 64 * QUANT_LANES + 77 };

typedef struct doubles_case {
    const quant_algo_t *algo;
    const quant_format_t *format;
} doubles_case_t;

/* Normals with bits that no float has. */
static double **doubles_new(void)
{
    double **inputs = test_alloc(RANKS * sizeof *inputs);

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        test_random_t random = test_random_of(SEED, rank);
        inputs[rank] = test_alloc(COUNT * sizeof(double));
        for (size_t i = 0; i < COUNT; ++i) {
            inputs[rank][i] = test_random_normal(&random);
        }
    }
    return inputs;
}

static void doubles_free(double **inputs)
{
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        free(inputs[rank]);
    }
    free(inputs);
}

static quant_job_t job_of(const doubles_case_t *wanted, double **inputs)
{
    quant_job_t job = quant_job_new(wanted->algo, RANKS, COUNT, (float *const *) inputs, SEED);
    job.mixed_isa = true;
    job.config.doubles = true;
    job.config.reduce_format = wanted->format;
    job.config.gather_format = wanted->format;
    return job;
}

static long double exact_sum(double **inputs, size_t i)
{
    long double sum = 0;

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        sum += (long double) inputs[rank][i];
    }
    return sum;
}

/* The mean square error of a run, every element of which is within the bound. */
static double checked_mse(const quant_job_t *job, double **inputs, unsigned calls)
{
    SCOPED double *result = test_alloc(COUNT * sizeof *result);
    double squares = 0;

    const quant_outcome_t outcome = quant_job_clean(job, calls, result);
    for (size_t i = 0; i < COUNT; ++i) {
        const double error = (double) ((long double) result[i] - exact_sum(inputs, i));
        squares += error * error;
        assert_true(fabs(error) <= (double) outcome.bound);
    }
    return squares / COUNT;
}

static void error_is_that_of_floats(void **state)
{
    const doubles_case_t *wanted = *state;
    double **inputs = doubles_new();
    quant_job_t job = job_of(wanted, inputs);
    const double predicted = quant_error_mse(&job.config, RANKS, 1);

    for (unsigned in_place = 0; in_place < 2; ++in_place) {
        job.in_place = 0 != in_place;
        assert_true(fabs(checked_mse(&job, inputs, 2) / predicted - 1) < 0.08);
    }
    job.config.feedback = true;
    assert_true(checked_mse(&job, inputs, 3) < 3 * predicted);
    doubles_free(inputs);
}

/* Of the longest shard, one row longer than two tiles of 64. */
static void each_call_has_the_error_of_its_own_blocks(void **state)
{
    static const unsigned minishards[] = {1, 2, 3, 5, 1000};
    const doubles_case_t *wanted = *state;
    double **inputs = doubles_new();

    for (size_t i = 0; i < sizeof minishards / sizeof minishards[0]; ++i) {
        quant_job_t job = job_of(wanted, inputs);
        job.config.block_rows = 256;
        job.config.segment_elems = (size_t) job.config.block_rows * QUANT_LANES;
        job.config.segment_bytes = 8192;
        job.config.minishards = minishards[i];
        job.config.microshards = (unsigned) i;
        const exchange_layout_t layout = {
            .count = COUNT, .shards = RANKS, .row_elems = QUANT_LANES};
        quant_config_t of_call = job.config;
        of_call.block_rows =
            quant_cut(&job.config, exchange_layout_shard(&layout, 0).elems).block_rows;
        const double predicted = quant_error_mse(&of_call, RANKS, 1);
        /* The last block of a shard may be short. */
        const double measured = checked_mse(&job, inputs, 2);
        assert_true(measured < 1.08 * predicted && measured > 0.8 * predicted);
    }
    doubles_free(inputs);
}

static void what_is_exact_is_a_sum_of_doubles(void **state)
{
    doubles_case_t exact = *(const doubles_case_t *) *state;
    double **inputs = doubles_new();

    exact.format = &quant_format_fp32;
    quant_job_t job = job_of(&exact, inputs);
    assert_true(checked_mse(&job, inputs, 1) < RANKS * RANKS * DBL_EPSILON * DBL_EPSILON);
    doubles_free(inputs);
}

static void what_no_float_holds_keeps_its_meaning(void **state)
{
    enum { HUGE_AT = 5, NAN_AT = COUNT / 2, INFINITY_AT = COUNT - 1 };
    double **inputs = doubles_new();
    SCOPED double *result = test_alloc(COUNT * sizeof *result);

    inputs[1][HUGE_AT] = 1e300;
    inputs[2][NAN_AT] = (double) NAN;
    inputs[3][INFINITY_AT] = -(double) INFINITY;
    const quant_job_t job = job_of(*state, inputs);
    const quant_outcome_t outcome = quant_job_clean(&job, 1, result);
    assert_true(isinf(outcome.bound));
    assert_true(fabs(result[HUGE_AT] / 1e300 - 1) < 4 * DBL_EPSILON);
    assert_true(isnan(result[NAN_AT]));
    assert_true(isinf(result[INFINITY_AT]) && result[INFINITY_AT] < 0);
    for (size_t i = 0; i < COUNT; ++i) {
        assert_int_equal(NAN_AT == i, 0 != isnan(result[i]));
        assert_int_equal(INFINITY_AT == i, 0 != isinf(result[i]));
    }
    doubles_free(inputs);
}

int main(void)
{
    static const quant_format_t *const formats[] = {&quant_format_int8, &quant_format_int16,
                                                    &quant_format_int4, &quant_format_bf16};
    enum { FORMATS = sizeof formats / sizeof formats[0] };
    static const struct CMUnitTest of_int8[] = {
        cmocka_unit_test(each_call_has_the_error_of_its_own_blocks),
        cmocka_unit_test(what_is_exact_is_a_sum_of_doubles),
        cmocka_unit_test(what_no_float_holds_keeps_its_meaning),
    };
    static doubles_case_t cases[JOB_ALGOS];

    printf("# seed %d\n", SEED);
    for (size_t a = 0; a < JOB_ALGOS; ++a) {
        cases[a] = (doubles_case_t){quant_algo_at(a), formats[0]};
        for (size_t f = 0; f < FORMATS; ++f) {
            const doubles_case_t one = {quant_algo_at(a), formats[f]};
            unit_add_row(error_is_that_of_floats, &one, sizeof one,
                         "%s, %s: error_is_that_of_floats", one.algo->name, one.format->name);
        }
        unit_add_of(quant_algo_at(a)->name, &cases[a], UNIT_TESTS(of_int8));
    }
    return unit_run("doubles");
}
