/*
 * Every algorithm in every format: equal bits everywhere, an error below the
 * bound, the predicted mean error, and sums that a format cannot carry.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_error.h"
#include "quant_job.h"

enum { SEED = 20261120 };

typedef struct format_case {
    char name[JOB_NAME_BYTES];
    const quant_algo_t *algo;
    const quant_format_t *format;
} format_case_t;

static quant_job_t job_of(const quant_algo_t *algo, const quant_format_t *format, unsigned ranks,
                          size_t count, float **inputs)
{
    quant_job_t job = quant_job_new(algo, ranks, count, inputs, SEED);

    job.config.reduce_format = format;
    job.config.gather_format = format;
    job.mixed_isa = true;
    return job;
}

static void sums_are_equal_everywhere_and_within_the_bound(void **state)
{
    enum { RANKS = 5, COUNT = 20011 };
    const format_case_t *row = *state;
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED double *sum = test_alloc(COUNT * sizeof(double));
    SCOPED double *bound = test_alloc(COUNT * sizeof(double));
    quant_job_t job = job_of(row->algo, row->format, RANKS, COUNT, inputs);
    unsigned inexact = 0;

    (void) quant_job_clean(&job, 2, result);
    quant_oracle_sum(&job, sum);
    quant_oracle_bound(&job, bound);
    for (size_t i = 0; i < COUNT; ++i) {
        assert_true(fabs((double) result[i] - sum[i]) <= bound[i]);
        inexact += fabs((double) result[i] - sum[i]) > 1e-5;
    }
    /* It was this format that travelled. */
    assert_true(quant_format_is_exact(row->format) || inexact > 0);
}

static void the_mean_error_is_as_predicted(void **state)
{
    enum { RANKS = 8, COUNT = RANKS * 8 * 4096 };
    const format_case_t *row = *state;
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    quant_job_t job = job_of(row->algo, row->format, RANKS, COUNT, inputs);

    job.mixed_isa = false;
    const double measured = quant_oracle_mse(&job);
    const double predicted = quant_error_mse(&job.config, RANKS, 1);
    printf("# %s: measured %.4e, predicted %.4e\n", row->name, measured, predicted);
    /* The error of a sum adds to the next one, which a coarse format shows. */
    assert_true(fabs(measured / predicted - 1) < 0.08);
}

/* 65504 is the largest number of fp16: sums beyond it go in fp32, to the last bit. */
static void sums_that_fp16_cannot_hold_stay_finite(void **state)
{
    enum { RANKS = 3, COUNT = 5000 };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = job_of(*state, &quant_format_fp16, RANKS, COUNT, inputs);

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        for (size_t i = 0; i < COUNT; ++i) {
            inputs[rank][i] = 0 == i % 2 ? 40000 : -64000;
        }
    }
    (void) quant_job_clean(&job, 1, result);
    for (size_t i = 0; i < COUNT; ++i) {
        assert_true((0 == i % 2 ? 120000.0f : -192000.0f) == result[i]);
    }
}

/* One more test of the algorithm in the format; returns the next. */
static struct CMUnitTest *add_test(format_case_t *row, const quant_algo_t *algo,
                                   const quant_format_t *format, const char *promise,
                                   CMUnitTestFunction function, struct CMUnitTest *test)
{
    row->algo = algo;
    row->format = format;
    (void) snprintf(row->name, sizeof(row->name), "%s_of_%s_%s", format->name, algo->name, promise);
    *test = (struct CMUnitTest){.name = row->name, .test_func = function, .initial_state = row};
    return test + 1;
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(sums_that_fp16_cannot_hold_stay_finite),
    };
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    static char names[JOB_ALGOS][OTHERS][JOB_NAME_BYTES];
    static format_case_t rows[JOB_ALGOS * 2 * QUANT_CODES];
    static struct CMUnitTest tests[JOB_ALGOS * (2 * QUANT_CODES + OTHERS)];
    struct CMUnitTest *next = tests;
    format_case_t *row = rows;

    printf("# seed %d\n", SEED);
    for (size_t a = 0; a < JOB_ALGOS; ++a) {
        const quant_algo_t *algo = quant_algo_at(a);
        for (unsigned f = 0; f < QUANT_CODES; ++f) {
            const quant_format_t *format = quant_format_at(f);
            next = add_test(row++, algo, format, "sums_are_equal_and_within_the_bound",
                            sums_are_equal_everywhere_and_within_the_bound, next);
            if (!quant_format_is_exact(format)) {
                next = add_test(row++, algo, format, "mean_error_is_as_predicted",
                                the_mean_error_is_as_predicted, next);
            }
        }
        next = quant_job_tests(algo, others, OTHERS, names[a], next);
    }
    return _cmocka_run_group_tests("quant formats", tests, (size_t) (next - tests), NULL, NULL);
}
