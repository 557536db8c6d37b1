/*
 * Every algorithm with rotation and with rounding with noise: equal bits everywhere
 * and in every run, an error below the bound that the call tells, values that go as floats,
 * and sums that are right on average.
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

#include "quant_job.h"
#include "transform_options.h"

enum { SEED = 20261121 };

typedef struct transform_case {
    char name[JOB_NAME_BYTES];
    const quant_algo_t *algo;
    const quant_format_t *format;
    const struct option *option;
} transform_case_t;

static bool draws_numbers(const transform_case_t *row)
{
    return QUANT_ROUNDING_NEAREST != row->option->rounding && &quant_format_fp8_e4m3 != row->format;
}

static quant_job_t job_of(const transform_case_t *row, unsigned ranks, size_t count,
                          float *const *inputs)
{
    quant_job_t job = quant_job_new(row->algo, ranks, count, inputs, SEED);

    job.config.reduce_format = row->format;
    job.config.gather_format = row->format;
    job.config.transform.rounding = row->option->rounding;
    job.config.transform.rotation = row->option->rotation;
    return job;
}

/* How the messages are cut, when they are delivered, and by which kernels they are made. */
static const quant_variant_t variants[] = {
    {.depth = 3},
    {.depth = 6, .in_place = true, .mixed_isa = true, .eager_max = 2},
    {.depth = 64, .in_place = true, .mixed_isa = true, .eager_max = 4},
};

enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static void check_sums(const transform_case_t *row, unsigned ranks, size_t count,
                       unsigned block_rows)
{
    float **inputs = quant_inputs_new(ranks, count, SEED);
    float *first = test_alloc(count * sizeof(float));
    float *result = test_alloc(count * sizeof(float));

    for (unsigned v = 0; v < VARIANTS; ++v) {
        quant_job_t job = job_of(row, ranks, count, inputs);
        quant_variant_t variant = variants[v];
        variant.block_rows = block_rows;
        quant_job_vary(&job, &variant, SEED + v);
        quant_outcome_t outcome = quant_job_run(&job, 1, 0 == v ? first : result);
        assert_true(quant_outcome_is_clean(&outcome));
        assert_true(0 == v || 0 == memcmp(first, result, count * sizeof(float)));
        assert_true(quant_oracle_worst_error(&job, first) <= (double) outcome.bound);
        assert_true(isfinite(outcome.bound));
    }
    free(result);
    free(first);
    quant_inputs_free(inputs, ranks);
}

static void sums_are_equal_in_every_run_and_within_the_bound(void **state)
{
    static const unsigned ranks[] = {2, 3, 5, 8};
    static const size_t counts[] = {1, 65, 4097, 20011};
    static const unsigned block_rows[] = {64, 8, 64, 128};

    for (size_t r = 0; r < sizeof(ranks) / sizeof(ranks[0]); ++r) {
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); ++c) {
            check_sums(*state, ranks[r], counts[c], block_rows[(r + c) % 4]);
        }
    }
}

/* Other numbers are drawn in every call, and the same ones when the calls are made again. */
static void calls_draw_numbers_of_their_own(void **state)
{
    enum { RANKS = 4, COUNT = 9000, CALLS = 3 };
    const transform_case_t *row = *state;
    float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    float *first = test_alloc(COUNT * sizeof(float));
    float *third = test_alloc(COUNT * sizeof(float));
    float *again = test_alloc(COUNT * sizeof(float));
    quant_job_t job = job_of(row, RANKS, COUNT, inputs);

    quant_outcome_t outcome = quant_job_run(&job, 1, first);
    assert_true(quant_outcome_is_clean(&outcome));
    outcome = quant_job_run(&job, CALLS, third);
    assert_true(quant_outcome_is_clean(&outcome));
    job.network.seed += 1;
    outcome = quant_job_run(&job, CALLS, again);
    assert_true(quant_outcome_is_clean(&outcome));
    assert_memory_equal(third, again, COUNT * sizeof(float));
    assert_true(draws_numbers(row) == (0 != memcmp(first, third, COUNT * sizeof(float))));
    free(again);
    free(third);
    free(first);
    quant_inputs_free(inputs, RANKS);
}

/* One stage in floats: what is received and what is sent have different formats. */
static void one_stage_alone_keeps_the_bound(void **state)
{
    enum { RANKS = 5, COUNT = 12345 };
    float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    float *result = test_alloc(COUNT * sizeof(float));

    for (unsigned stage = 0; stage < 2; ++stage) {
        quant_job_t job = job_of(*state, RANKS, COUNT, inputs);
        *(0 == stage ? &job.config.reduce_format : &job.config.gather_format) = &quant_format_fp32;
        quant_outcome_t outcome = quant_job_run(&job, 1, result);
        assert_true(quant_outcome_is_clean(&outcome));
        assert_true(quant_oracle_worst_error(&job, result) <= (double) outcome.bound);
    }
    free(result);
    quant_inputs_free(inputs, RANKS);
}

/* `tiles` of a message: of one tile all of it goes as floats, of several only some tiles do. */
static void check_specials(const void *state, unsigned tiles)
{
    static const float specials[] = {NAN, INFINITY, -INFINITY, 0x1.fffffep127f, -0x1p125f};
    enum { RANKS = 4, COUNT = 30000, SPECIALS = sizeof(specials) / sizeof(specials[0]) };
    float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = job_of(state, RANKS, COUNT, inputs);

    job.config.segment_elems = tiles * quant_tile_elems(job.config.block_rows);
    for (unsigned s = 0; s < SPECIALS; ++s) {
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            inputs[rank][s * 5000] = rank == s % RANKS ? specials[s] : 0;
        }
    }
    quant_outcome_t outcome = quant_job_run(&job, 1, result);
    assert_true(quant_outcome_is_clean(&outcome));
    for (unsigned s = 0; s < SPECIALS; ++s) {
        const float got = result[s * 5000];
        /* The last one is not refused without rotation: then it is off by a step of its own. */
        assert_true(isnan(specials[s])  ? isnan(got)
                    : SPECIALS - 1 == s ? fabsf(got / specials[s] - 1) < 0.5f
                                        : specials[s] == got);
        result[s * 5000] = 0;
    }
    for (size_t i = 0; i < COUNT; ++i) {
        assert_true(isfinite(result[i]));
    }
    free(result);
    quant_inputs_free(inputs, RANKS);
}

static void non_finite_and_huge_values_stay_where_they_are(void **state)
{
    check_specials(*state, 1);
    check_specials(*state, 4);
}

static void zeros_stay_zeros(void **state)
{
    enum { RANKS = 3, COUNT = 9000 };
    float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = job_of(*state, RANKS, COUNT, inputs);

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        memset(inputs[rank], 0, COUNT * sizeof(float));
    }
    quant_outcome_t outcome = quant_job_run(&job, 1, result);
    assert_true(quant_outcome_is_clean(&outcome));
    for (size_t i = 0; i < COUNT; ++i) {
        assert_true(0 == result[i]);
    }
    free(result);
    quant_inputs_free(inputs, RANKS);
}

/*
 * direct: all ranks have the same numbers, so that errors of nearest have the same sign; those that
 * are drawn are independent for every message, or the mean square of the sum would be larger.
 */
static void errors_of_different_messages_are_independent(void **state)
{
    enum { RANKS = 8, COUNT = 16 * 4096 };
    const transform_case_t *row = *state;
    float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = job_of(row, RANKS, COUNT, inputs);
    double squares[2] = {0, 0};

    for (unsigned rank = 1; rank < RANKS; ++rank) {
        memcpy(inputs[rank], inputs[0], COUNT * sizeof(float));
    }
    job.config.gather_format = &quant_format_fp32;
    for (unsigned r = 0; r < 2; ++r) {
        job.config.transform.rounding = 0 == r ? row->option->rounding : QUANT_ROUNDING_NEAREST;
        quant_outcome_t outcome = quant_job_run(&job, 1, result);
        assert_true(quant_outcome_is_clean(&outcome));
        for (size_t i = 0; i < COUNT; ++i) {
            const double error = (double) result[i] - RANKS * (double) inputs[0][i];
            squares[r] += error * error / COUNT;
        }
    }
    /* 7 equal errors, of variance 49 c, or 7 different ones, of 7 c or 14 c. */
    const double expected = QUANT_ROUNDING_DITHER == row->option->rounding ? 7.0 : 3.5;
    assert_true(fabs(squares[1] / squares[0] / expected - 1) < 0.1);
    free(result);
    quant_inputs_free(inputs, RANKS);
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(sums_are_equal_in_every_run_and_within_the_bound),
        cmocka_unit_test(calls_draw_numbers_of_their_own),
        cmocka_unit_test(one_stage_alone_keeps_the_bound),
        cmocka_unit_test(non_finite_and_huge_values_stay_where_they_are),
        cmocka_unit_test(zeros_stay_zeros),
        cmocka_unit_test(errors_of_different_messages_are_independent), /* the last one */
    };
    static const quant_format_t *const formats[] = {&quant_format_int8, &quant_format_int4,
                                                    &quant_format_int16, &quant_format_fp8_e4m3};
    enum {
        FORMATS = sizeof(formats) / sizeof(formats[0]),
        EACH = sizeof(each) / sizeof(each[0]),
        ROWS = JOB_ALGOS * FORMATS * OPTIONS,
    };
    static transform_case_t rows[ROWS * EACH];
    static struct CMUnitTest tests[ROWS * EACH];
    size_t count = 0;

    printf("# seed %d\n", SEED);
    for (size_t i = 0; i < ROWS * EACH; ++i) {
        const size_t row = i / EACH;
        rows[i].algo = quant_algo_at(row / FORMATS / OPTIONS);
        rows[i].format = formats[row / OPTIONS % FORMATS];
        rows[i].option = &options[row % OPTIONS];
        (void) snprintf(rows[i].name, sizeof(rows[i].name), "%s_%s_%s_%s", rows[i].algo->name,
                        rows[i].format->name, rows[i].option->name, each[i % EACH].name);
        if (EACH - 1 == i % EACH &&
            (!draws_numbers(&rows[i]) || 0 != strcmp("direct", rows[i].algo->name))) {
            continue;
        }
        tests[count] = each[i % EACH];
        tests[count].name = rows[i].name;
        tests[count].initial_state = &rows[i];
        ++count;
    }
    return _cmocka_run_group_tests("transforms", tests, count, NULL, NULL);
}
