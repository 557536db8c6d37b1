/*
 * The hierarchical algorithm on nodes of several ranks: what test_quant_sums.c has for
 * all algorithms, for many shapes; the predicted error; and that nothing is rounded on a node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "quant_error.h"
#include "quant_job.h"

enum { SEED = 20261203 };

typedef struct shape_case {
    const char *name;
    unsigned nodes;
    unsigned per_node;
} shape_case_t;

static const shape_case_t shapes[] = {
    {"2x2", 2, 2}, {"2x3", 2, 3}, {"3x2", 3, 2}, {"4x2", 4, 2}, {"2x4", 2, 4}, {"4x4", 4, 4},
    {"5x2", 5, 2}, {"5x3", 5, 3}, {"3x5", 3, 5}, {"8x2", 8, 2}, {"2x8", 2, 8}, {"1x3", 1, 3},
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static quant_job_t job_of(const shape_case_t *shape, size_t count, float *const *inputs)
{
    quant_job_t job = quant_job_new(quant_algo_by_name("hierarchical"),
                                    shape->nodes * shape->per_node, count, inputs, SEED);

    job.mixed_isa = true;
    job.network.eager_max = 1;
    quant_job_group(&job, shape->per_node);
    return job;
}

static void assert_within_bound(const quant_job_t *job, const float *result, float told)
{
    SCOPED double *sum = test_alloc(job->count * sizeof(double));
    SCOPED double *bound = test_alloc(job->count * sizeof(double));

    quant_oracle_sum(job, sum);
    quant_oracle_bound(job, bound);
    for (size_t i = 0; i < job->count; ++i) {
        const double error = fabs((double) result[i] - sum[i]);
        assert_true(error <= bound[i] && error <= (double) told);
    }
}

/* Whatever the depth, in place or not, and wherever the ranks are: with the same pairs, same bits.
 */
static void sums_are_equal_everywhere_and_within_the_bound(void **state)
{
    static const unsigned depths[] = {3, 4, 7, 16, 64};
    static const size_t counts[] = {0, 1, 64, 4097, 40009, 150000};
    const shape_case_t *shape = *state;
    const unsigned ranks = shape->nodes * shape->per_node;

    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); ++c) {
        SCOPED float **inputs = quant_inputs_new(ranks, counts[c], SEED + c);
        SCOPED float *result = test_alloc(counts[c] * sizeof(float));
        SCOPED float *first = test_alloc(counts[c] * sizeof(float));

        for (size_t d = 0; d < sizeof(depths) / sizeof(depths[0]); ++d) {
            quant_job_t job = job_of(shape, counts[c], inputs);
            job.config.depth = depths[d];
            job.network.seed = SEED + d;
            job.network.eager_max = (unsigned) d;
            job.in_place = 1 == d % 2;
            quant_outcome_t outcome = quant_job_clean(&job, 1 + d % 3, result);
            assert_true(0 == d || 0 == memcmp(first, result, counts[c] * sizeof(float)));
            memcpy(first, result, counts[c] * sizeof(float));
            if (0 == d) {
                assert_within_bound(&job, result, outcome.bound);
            }
        }
    }
}

static void fp32_is_the_float_sum_in_the_order_of_the_algorithm(void **state)
{
    enum { COUNT = 40009 };
    const shape_case_t *shape = *state;
    const unsigned ranks = shape->nodes * shape->per_node;
    SCOPED float **inputs = quant_inputs_new(ranks, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED float *expected = test_alloc(COUNT * sizeof(float));
    quant_job_t job = job_of(shape, COUNT, inputs);

    job.config.reduce_format = &quant_format_fp32;
    job.config.gather_format = &quant_format_fp32;
    (void) quant_job_clean(&job, 1, result);
    quant_oracle_float_sum(&job, expected);
    assert_memory_equal(expected, result, COUNT * sizeof(float));
}

static void mean_error_is_as_predicted(void **state)
{
    static const struct {
        const char *name;
        const quant_format_t *reduce;
        const quant_format_t *gather;
    } stages[] = {
        {"both", &quant_format_int8, &quant_format_int8},
        {"reduce", &quant_format_int8, &quant_format_fp32},
        {"gather", &quant_format_fp32, &quant_format_int8},
    };
    const double tolerance = 0.02;
    const shape_case_t *shape = *state;
    const unsigned ranks = shape->nodes * shape->per_node;
    const size_t count = (64 + ranks - 1) / ranks * ranks * 64 * QUANT_LANES;
    SCOPED float **inputs = quant_inputs_new(ranks, count, SEED);

    for (size_t s = 0; s < sizeof(stages) / sizeof(stages[0]); ++s) {
        quant_job_t job = job_of(shape, count, inputs);
        job.config.reduce_format = stages[s].reduce;
        job.config.gather_format = stages[s].gather;
        const double measured = quant_oracle_mse(&job);
        const double predicted = quant_error_mse(&job.config, ranks, 1);
        printf("# %s, %s: mse %.4e, predicted %.4e\n", shape->name, stages[s].name, measured,
               predicted);
        /* One node: nothing is rounded while it adds, but by the additions. */
        assert_true(predicted > 0 ? fabs(measured / predicted - 1) < tolerance : measured < 1e-12);
    }
}

/*
 * What ranks of one node have must not be rounded before it is added up: here it cancels out
 * but for integers, which a scale for the large parts would lose.
 */
static void nothing_is_rounded_on_a_node(void **state)
{
    enum { COUNT = 30000 };
    const float large = 0x1p12f;
    const shape_case_t *shape = *state;
    const unsigned ranks = shape->nodes * shape->per_node;
    SCOPED float **inputs = quant_inputs_new(ranks, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = job_of(shape, COUNT, inputs);

    for (unsigned at = 0; at < ranks; ++at) {
        const unsigned place = at % shape->per_node;
        for (size_t i = 0; i < COUNT; ++i) {
            const float part = (float) (i % 61) * large;
            const float small = 0 == at ? 127 : 0;
            inputs[job.config.order[at]][i] = small + (0 == place ? part : 1 == place ? -part : 0);
        }
    }
    (void) quant_job_clean(&job, 1, result);
    for (size_t i = 0; i < COUNT; ++i) {
        assert_true(127 == result[i]);
    }
}

int main(void)
{
    static const struct CMUnitTest of_each[] = {
        cmocka_unit_test(sums_are_equal_everywhere_and_within_the_bound),
        cmocka_unit_test(fp32_is_the_float_sum_in_the_order_of_the_algorithm),
        cmocka_unit_test(mean_error_is_as_predicted),
        cmocka_unit_test(nothing_is_rounded_on_a_node),
    };
    enum { EACH = sizeof(of_each) / sizeof(of_each[0]) };
    static char names[SHAPES * EACH][JOB_NAME_BYTES];
    static struct CMUnitTest tests[SHAPES * EACH];

    printf("# seed %d\n", SEED);
    for (size_t i = 0; i < SHAPES * EACH; ++i) {
        const shape_case_t *shape = &shapes[i / EACH];
        tests[i] = of_each[i % EACH];
        (void) snprintf(names[i], JOB_NAME_BYTES, "%s: %s", shape->name, tests[i].name);
        tests[i].name = names[i];
        tests[i].initial_state = (void *) (uintptr_t) shape;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
