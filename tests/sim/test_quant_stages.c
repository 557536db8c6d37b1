/*
 * The stages of an allreduce by themselves, a reduce-scatter and an allgather of one
 * block per rank: every algorithm, under random schedules of the network.  Blocks of
 * any length, in place and not; ranks that run ahead.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_error.h"
#include "quant_job.h"

enum { SEED = 20261121, RANKS_MOST = 9, SMALL_BLOCK = 8, SEGMENT_BYTES = 2048 };

static const size_t counts[] = {0,    1,    63,   64,        65,           127,          128,  509,
                                4095, 4096, 4097, 3 * 4096U, 5 * 4096 + 1, 7 * 4096 - 1, 10007};

static const quant_variant_t variants[] = {
    {64, 3, false, false, 0, 0, 0}, {64, 3, true, true, 1, 0, 0},  {64, 6, true, true, 2, 0, 0},
    {64, 64, true, true, 99, 0, 0}, {8, 3, true, true, 0, 0, 0},   {8, 4, false, false, 2, 0, 0},
    {8, 5, true, false, 99, 0, 0},  {8, 16, true, false, 0, 0, 0}, {8, 8, false, true, 1, 0, 0},
    {8, 6, true, true, 2, 0, 3},    {32, 3, true, true, 0, 3, 0},  {32, 6, false, false, 2, 3, 2},
};

enum {
    COUNTS = sizeof(counts) / sizeof(counts[0]),
    VARIANTS = sizeof(variants) / sizeof(variants[0]),
    COLLECTIVES = 2,
};

static const struct collective {
    exchange_collective_t collective;
    const char *name;
} collectives[COLLECTIVES] = {
    {EXCHANGE_REDUCE_SCATTER, "reduce_scatter"},
    {EXCHANGE_ALLGATHER, "allgather"},
};

/* A test of one algorithm and stage. */
typedef struct stage {
    const quant_algo_t *algo;
    exchange_collective_t collective;
} stage_t;

typedef struct grid_case {
    stage_t stage;
    unsigned ranks;
} grid_case_t;

static quant_job_t busy_job(const stage_t *stage, unsigned ranks, size_t count)
{
    quant_job_t job = quant_job_new(stage->algo, ranks, count, NULL, SEED);

    job.collective = stage->collective;
    return job;
}

static void use_small_segments(quant_job_t *job, unsigned depth)
{
    job->config.block_rows = SMALL_BLOCK;
    job->config.segment_elems = (size_t) SMALL_BLOCK * QUANT_LANES;
    job->config.depth = depth;
}

/* What the result stands for, all blocks. */
static void exact_result(const quant_job_t *job, double *exact)
{
    for (unsigned block = 0; block < job->ranks; ++block) {
        for (size_t i = 0; i < job->count; ++i) {
            const size_t at = block * job->count + i;
            exact[at] = 0;
            for (unsigned rank = 0; rank < job->ranks; ++rank) {
                if (EXCHANGE_REDUCE_SCATTER == job->collective) {
                    exact[at] += (double) job->inputs[rank][at];
                } else if (rank == block) {
                    exact[at] = (double) job->inputs[rank][i];
                }
            }
        }
    }
}

/* Of each element the oracle's bound, and what its rank tells. */
static void assert_within_bound(const quant_job_t *job, const float *result,
                                const quant_outcome_t *outcome)
{
    const size_t elems = quant_job_result_count(job);
    SCOPED double *exact = test_alloc(elems * sizeof(double));
    SCOPED double *bound = test_alloc(elems * sizeof(double));

    exact_result(job, exact);
    quant_oracle_half_bound(job, bound);
    for (size_t i = 0; i < elems; ++i) {
        const double error = fabs((double) result[i] - exact[i]);
        const unsigned owner = (unsigned) (i / job->count);
        const double told = (double) outcome->bounds[owner];
        if (!(error <= bound[i] && error <= told)) {
            fail_msg("element %zu: %.9g, exact %.9g, bound %.3g, told %.3g", i, (double) result[i],
                     exact[i], bound[i], told);
        }
    }
}

static void halves_of_any_length_are_within_the_bound(void **state)
{
    const grid_case_t *grid = *state;

    for (unsigned c = 0; c < COUNTS; ++c) {
        quant_job_t job = busy_job(&grid->stage, grid->ranks, counts[c]);
        SCOPED float **inputs = quant_inputs_new(job.ranks, quant_job_in_count(&job), SEED + c);
        const size_t bytes = quant_job_result_count(&job) * sizeof(float);
        SCOPED float *result = test_alloc(bytes);
        SCOPED float *first = test_alloc(bytes);
        unsigned first_block_rows = 0;

        job.inputs = inputs;
        for (unsigned v = 0; v < VARIANTS; ++v) {
            job.config.segment_bytes = SEGMENT_BYTES;
            quant_job_vary(&job, &variants[v], SEED + v);
            quant_outcome_t outcome = quant_job_clean(&job, 1, result);
            if (first_block_rows == variants[v].block_rows) {
                assert_memory_equal(first, result, bytes);
                continue;
            }
            assert_within_bound(&job, result, &outcome);
            first_block_rows = variants[v].block_rows;
            memcpy(first, result, bytes);
        }
    }
}

/* Many groups, many calls: ranks run ahead as far as nothing holds them. */
static void ranks_that_run_ahead_do_no_harm(void **state)
{
    enum { RUNS = 24, CALLS = 3, RANKS = 6, COUNT = 40 * SMALL_BLOCK * QUANT_LANES + 13 };
    quant_job_t job = busy_job(*state, RANKS, COUNT);
    SCOPED float **inputs = quant_inputs_new(RANKS, quant_job_in_count(&job), SEED);
    const size_t bytes = quant_job_result_count(&job) * sizeof(float);
    SCOPED float *result = test_alloc(bytes);
    SCOPED float *first = test_alloc(bytes);

    job.inputs = inputs;
    for (unsigned run = 0; run < RUNS; ++run) {
        use_small_segments(&job, 3 + run % 4 * 3);
        job.in_place = 1 == run % 2;
        job.network.seed = SEED + run;
        job.network.delay_max = 0 == run % 3 ? 1 : 100;
        job.network.eager_max = 0 == run % 5 ? 0 : 1000;
        quant_outcome_t outcome = quant_job_clean(&job, CALLS, result);
        if (0 == run) {
            assert_within_bound(&job, result, &outcome);
            memcpy(first, result, bytes);
        }
        assert_memory_equal(first, result, bytes);
    }
}

static void without_quantization_a_half_is_exact(void **state)
{
    enum { RANKS = 6, COUNT = 10007 };
    quant_job_t job = busy_job(*state, RANKS, COUNT);
    SCOPED float **inputs = quant_inputs_new(RANKS, quant_job_in_count(&job), SEED);
    SCOPED float *result = test_alloc(RANKS * COUNT * sizeof(float));
    SCOPED float *expected = test_alloc(RANKS * COUNT * sizeof(float));

    job.inputs = inputs;
    job.in_place = true;
    job.config.reduce_format = &quant_format_fp32;
    job.config.gather_format = &quant_format_fp32;
    (void) quant_job_clean(&job, 1, result);
    if (EXCHANGE_REDUCE_SCATTER == job.collective) {
        quant_oracle_half_float_sum(&job, expected);
    } else {
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            memcpy(expected + (size_t) rank * COUNT, inputs[rank], COUNT * sizeof(float));
        }
    }
    assert_memory_equal(expected, result, RANKS * COUNT * sizeof(float));
}

static void non_finite_values_stay_where_they_are(void **state)
{
    enum { RANKS = 5, COUNT = 6 * 4096 + 5, NAN_AT = 4097, INFINITY_AT = 6 * 4096 + 4 };
    quant_job_t job = busy_job(*state, RANKS, COUNT);
    SCOPED float **inputs = quant_inputs_new(RANKS, quant_job_in_count(&job), SEED);
    SCOPED float *result = test_alloc(RANKS * COUNT * sizeof(float));

    /* Of a reduce-scatter both are in block 0. */
    inputs[0][NAN_AT] = NAN;
    inputs[0][INFINITY_AT] = INFINITY;
    job.inputs = inputs;
    quant_outcome_t outcome = quant_job_clean(&job, 1, result);
    assert_true(isnan(result[NAN_AT]));
    assert_true(INFINITY == result[INFINITY_AT]);
    for (size_t i = 0; i < (size_t) RANKS * COUNT; ++i) {
        assert_true(isfinite(result[i]) || NAN_AT == i || INFINITY_AT == i);
    }
    assert_true(EXCHANGE_ALLGATHER == job.collective || isinf(outcome.bounds[0]));
    assert_true(isfinite(outcome.bounds[1]) || EXCHANGE_ALLGATHER == job.collective);
}

/* A reduce-scatter has the error c R(N) v, an allgather c v. */
static void the_mean_error_is_that_of_the_stage(void **state)
{
    enum { RANKS = 8, COUNT = 65536 };
    const stage_t *stage = *state;
    quant_job_t job = busy_job(stage, RANKS, COUNT);
    SCOPED float **inputs = quant_inputs_new(RANKS, quant_job_in_count(&job), SEED);
    SCOPED float *result = test_alloc(RANKS * COUNT * sizeof(float));
    SCOPED double *exact = test_alloc(RANKS * COUNT * sizeof(double));
    double squares = 0;

    job.inputs = inputs;
    (void) quant_job_clean(&job, 1, result);
    exact_result(&job, exact);
    for (size_t i = 0; i < (size_t) RANKS * COUNT; ++i) {
        squares += ((double) result[i] - exact[i]) * ((double) result[i] - exact[i]);
    }
    const exchange_shape_t shape = quant_config_shape(&job.config, RANKS);
    const double growth = EXCHANGE_REDUCE_SCATTER == stage->collective
                              ? exchange_tree_reduce_growth(stage->algo->tree, &shape)
                              : 1;
    const double expected =
        growth * quant_error_coefficient(&quant_format_int8, job.config.block_rows);
    const double measured = squares / ((double) RANKS * COUNT);
    if (!(fabs(measured / expected - 1) < 0.05)) {
        fail_msg("mean square error %.4e, expected %.4e", measured, expected);
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(ranks_that_run_ahead_do_no_harm),
        cmocka_unit_test(without_quantization_a_half_is_exact),
        cmocka_unit_test(non_finite_values_stay_where_they_are),
        cmocka_unit_test(the_mean_error_is_that_of_the_stage),
    };
    static stage_t stages[JOB_ALGOS * COLLECTIVES];

    printf("# seed %d\n", SEED);
    for (size_t h = 0; h < JOB_ALGOS * COLLECTIVES; ++h) {
        const char *collective = collectives[h % COLLECTIVES].name;
        char name[JOB_NAME_BYTES];
        stages[h] =
            (stage_t){quant_algo_at(h / COLLECTIVES), collectives[h % COLLECTIVES].collective};
        (void) snprintf(name, sizeof name, "%s: %s", stages[h].algo->name, collective);
        for (unsigned ranks = 1; ranks <= RANKS_MOST; ++ranks) {
            const grid_case_t grid = {.stage = stages[h], .ranks = ranks};
            unit_add_row(halves_of_any_length_are_within_the_bound, &grid, sizeof grid,
                         "%s of %u ranks within bounds", name, ranks);
        }
        unit_add_of(name, &stages[h], UNIT_TESTS(each));
    }
    return unit_run("stages");
}
