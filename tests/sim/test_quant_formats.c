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
    printf("# %s of %s: measured %.4e, predicted %.4e\n", row->format->name, row->algo->name,
           measured, predicted);
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

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(sums_that_fp16_cannot_hold_stay_finite)};

    printf("# seed %d\n", SEED);
    for (size_t a = 0; a < JOB_ALGOS; ++a) {
        for (unsigned f = 0; f < QUANT_CODES; ++f) {
            const format_case_t row = {quant_algo_at(a), quant_format_at(f)};
            unit_add_row(sums_are_equal_everywhere_and_within_the_bound, &row, sizeof row,
                         "%s_of_%s_sums_are_equal_and_within_the_bound", row.format->name,
                         row.algo->name);
            if (!quant_format_is_exact(row.format)) {
                unit_add_row(the_mean_error_is_as_predicted, &row, sizeof row,
                             "%s_of_%s_mean_error_is_as_predicted", row.format->name,
                             row.algo->name);
            }
        }
    }
    quant_job_add(UNIT_TESTS(each));
    return unit_run("quant formats");
}
