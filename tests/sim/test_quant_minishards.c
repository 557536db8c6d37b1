/*
 * Calls that are cut by their length (quant_algos.h): as many messages as asked for, the error that
 * theory has for their blocks, and the bound.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_error.h"
#include "quant_job.h"

enum { SEED = 20261123, SEGMENT_BYTES = 4096 };

static quant_job_t job_of(const quant_algo_t *algo, unsigned ranks, size_t count,
                          float *const *inputs)
{
    quant_job_t job = quant_job_new(algo, ranks, count, inputs, SEED);

    job.config.block_rows = QUANT_BLOCK_ROWS_MAX;
    job.config.segment_elems = quant_tile_elems(QUANT_BLOCK_ROWS_MAX);
    job.config.segment_bytes = SEGMENT_BYTES;
    job.mixed_isa = true;
    return job;
}

/* Shards of 6 tiles: u messages each if u divides 6, never more than 6. */
static void a_shard_goes_in_so_many_messages(void **state)
{
    enum { RANKS = 4, TILES = 6, ROWS = RANKS * TILES * 16, COUNT = ROWS * QUANT_LANES };
    static const unsigned microshards[] = {1, 2, 3, 6, 7, 1000000};
    static const unsigned messages[] = {1, 2, 3, 6, 6, 6};
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED float *first = test_alloc(COUNT * sizeof(float));
    uint64_t of_one = 0;

    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); ++i) {
        quant_job_t job = job_of(*state, RANKS, COUNT, inputs);
        job.config.minishards = TILES;
        job.config.microshards = microshards[i];
        quant_outcome_t outcome = quant_job_clean(&job, 1, 0 == i ? first : result);
        of_one = 0 == i ? outcome.messages : of_one;
        assert_true(of_one * messages[i] == outcome.messages);
        /* Messages do not change what is rounded. */
        assert_true(0 == i || 0 == memcmp(first, result, COUNT * sizeof(float)));
    }
    /* A rank sends one message in every round; or, where two of a stage go to one rank, in both. */
    const unsigned packs = *state == quant_algo_by_name("recursive_halving") ||
                           *state == quant_algo_by_name("hierarchical");
    assert_true(of_one == RANKS * 2 * (RANKS - 1 - packs));
}

/* Calls of 2 MiB and more: blocks from 32 numbers to the largest ones. */
static void mean_error_is_that_of_the_blocks_of_the_call(void **state)
{
    enum { RANKS = 4, ROWS = 4 * RANKS * QUANT_BLOCK_ROWS_MAX, COUNT = ROWS * QUANT_LANES };
    static const unsigned minishards[] = {1, 5, 16, 64, 300};
    const quant_algo_t *algo = *state;
    const size_t rows = ROWS / RANKS;
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    double last = HUGE_VAL;

    for (size_t i = 0; i < sizeof(minishards) / sizeof(minishards[0]); ++i) {
        quant_job_t job = job_of(algo, RANKS, COUNT, inputs);
        quant_config_t of_call = job.config;

        job.config.minishards = minishards[i];
        of_call.block_rows = quant_block_of((rows + minishards[i] - 1) / minishards[i]);
        const double measured = quant_oracle_mse(&job);
        const double predicted = quant_error_mse(&of_call, RANKS, 1);
        printf("# %s, minishards %u, blocks of %u: mse %.4e, predicted %.4e, ratio %.4f\n",
               algo->name, minishards[i], of_call.block_rows, measured, predicted,
               measured / predicted);
        assert_true(fabs(measured / predicted - 1) < 0.01);
        assert_true(measured <= last);
        last = measured;
    }
}

/* m and u, one of them or both; not dividing anything. */
static const unsigned cuts[][2] = {{1, 0}, {1, 1}, {3, 2}, {7, 0}, {40, 3}, {0, 1}, {1000000, 2}};

static void calls_of_any_length_keep_the_bound(void **state)
{
    static const size_t counts[] = {1, 64, 65, 4097, 30011, 300007};
    enum { RANKS = 3, COUNTS = sizeof(counts) / sizeof(counts[0]), CUTS = 7 };

    for (size_t i = 0; i < COUNTS * CUTS; ++i) {
        const size_t count = counts[i / CUTS];
        SCOPED float **inputs = quant_inputs_new(RANKS, count, SEED + i);
        SCOPED float *result = test_alloc(count * sizeof(float));
        SCOPED float *again = test_alloc(count * sizeof(float));

        quant_job_t job = job_of(*state, RANKS, count, inputs);
        job.config.minishards = cuts[i % CUTS][0];
        job.config.microshards = cuts[i % CUTS][1];
        quant_outcome_t outcome = quant_job_clean(&job, 1, result);
        assert_true(isfinite(outcome.bound));
        assert_true(quant_oracle_worst_error(&job, result) <= (double) outcome.bound);
        job.in_place = true;
        job.config.depth = 6;
        job.network.seed += 1;
        outcome = quant_job_clean(&job, 1, again);
        assert_memory_equal(result, again, count * sizeof(float));
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(a_shard_goes_in_so_many_messages),
        cmocka_unit_test(mean_error_is_that_of_the_blocks_of_the_call),
        cmocka_unit_test(calls_of_any_length_keep_the_bound),
    };

    printf("# seed %d\n", SEED);
    quant_job_add(UNIT_TESTS(each));
    return unit_run("minishards");
}
