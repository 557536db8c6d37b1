/*
 * Which way a call goes, and in how many messages: short vectors by doubling, in those that its
 * schedule has and no more; longer ones as the algorithm says, in as many as asked for
 * (quant_algos.h), each of them coded once.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_error.h"
#include "quant_job.h"

enum { SEED = 20261122 };

/* The prime factors by hand: how many there are, and the sum of each less one. */
static const struct ways {
    unsigned ranks;
    unsigned per_node; /* 0: no levels */
    unsigned phases;   /* between nodes */
    unsigned messages; /* a rank sends */
} ways[] = {
    {2, 0, 1, 1}, {3, 0, 1, 2}, {4, 0, 2, 2},  {5, 0, 1, 4},  {6, 0, 2, 3},  {7, 0, 1, 6},
    {8, 0, 3, 3}, {9, 0, 2, 4}, {10, 0, 2, 5}, {12, 0, 3, 4}, {14, 0, 2, 7}, {16, 0, 4, 4},
    {8, 2, 2, 3}, {8, 4, 1, 3}, {6, 2, 1, 3},  {16, 4, 2, 4}, {12, 6, 1, 4},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static quant_job_t doubling_of(const struct ways *way, size_t count)
{
    const quant_algo_t *algo =
        0 == way->per_node ? quant_algo_at(0) : quant_algo_at(QUANT_ALGO_hierarchical);
    quant_job_t job = quant_job_new(algo, way->ranks, count, NULL, SEED);

    job.config.doubling_bytes = (count + 1) * sizeof(double);
    quant_job_group(&job, way->per_node);
    return job;
}

static void doubling_takes_few_messages_and_tells_a_tight_bound(void **state)
{
    enum { COUNT = 4097, CALLS = 3 };
    const struct ways *way = *state;
    quant_job_t job = doubling_of(way, COUNT);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    double largest = 0;

    for (unsigned rank = 0; rank < job.ranks; ++rank) {
        for (size_t i = 0; i < COUNT; ++i) {
            largest = fmax(largest, fabs((double) inputs[rank][i]));
        }
    }
    const quant_outcome_t outcome = quant_job_errors(&job, CALLS, result).outcome;
    assert_int_equal(CALLS * way->ranks * way->messages, outcome.messages);
    assert_int_equal(way->phases, quant_doubling_phases(&job.config, way->ranks));
    /* A phase rounds N/s sums of at most s times the largest number, by half of a 127th of it. */
    assert_true((double) outcome.bound <= way->phases * way->ranks * largest / 127 / 2 * 1.1);
    job.count = 0;
    assert_int_equal(0, quant_job_clean(&job, CALLS, result).messages);
}

TEST(what_is_long_goes_as_the_algorithm_says)
{
    enum { RANKS = 4, COUNT = 8192 };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT + 1, SEED);
    SCOPED float *result = test_alloc((COUNT + 1) * sizeof(float));

    for (unsigned more = 0; more < 2; ++more) {
        quant_job_t job = quant_job_new(quant_algo_at(0), RANKS, COUNT + more, inputs, SEED);
        job.config.doubling_bytes = COUNT * sizeof(float);
        const quant_outcome_t outcome = quant_job_clean(&job, 3, result);
        assert_int_equal(3 * RANKS * (0 == more ? 2 : 2 * (RANKS - 1)), outcome.messages);
    }
}

TEST(what_doubling_is_not_for_goes_as_the_algorithm_says)
{
    static const unsigned many[] = {1, 11, 13, 17, 19, 22, 23, 26, 39, 1009};
    const quant_config_t open = doubling_of(&ways[2], 0).config;
    quant_config_t closed[5] = {open, open, open, open, open};

    assert_int_equal(10, quant_doubling_phases(&open, 1024));
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); ++i) {
        assert_int_equal(0, quant_doubling_phases(&open, many[i]));
        assert_true(0 == quant_error_doubling_nmse(&open, many[i]));
    }
    closed[0].doubling_bytes = 0;
    closed[1].feedback = true;
    closed[2].gather_format = &quant_format_fp32;
    closed[3].gather_format = closed[3].reduce_format = &quant_format_fp32;
    closed[4].minishards = 1;
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); ++i) {
        assert_int_equal(0, quant_doubling_phases(&closed[i], 4));
    }
    quant_operation_t operation = {
        .element = &quant_floats, .count = 1, .collective = EXCHANGE_ALLREDUCE};
    assert_true(quant_doubling_takes(&open, &operation));
    operation.collective = EXCHANGE_ALLGATHER;
    assert_false(quant_doubling_takes(&open, &operation));
    operation.collective = EXCHANGE_REDUCE_SCATTER;
    assert_false(quant_doubling_takes(&open, &operation));
}

/* Rank 0 never comes: its partner of the first phase waits for it, others for those that wait. */
TEST(a_rank_that_is_late_for_doubling_is_named)
{
    enum { RANKS = 6, COUNT = 1000 };
    quant_job_t job = doubling_of(&ways[4], COUNT);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));

    job.first_is_absent = true;
    const quant_outcome_t outcome = quant_job_run(&job, 1, result);
    assert_false(outcome.finished);
    assert_int_equal(RANKS, quant_outcome_ranks(&outcome, RANKS, ARC_IN_PROGRESS));
    for (unsigned rank = 1; rank < RANKS; ++rank) {
        for (unsigned peer = 0; peer < RANKS; ++peer) {
            /* 0 | 1, then {0, 2, 4} and {1, 3, 5}; 2 and 4 have what each other sent. */
            const bool waits = 1 == rank ? 0 == peer : 0 == rank % 2 ? 0 == peer : 1 == peer;
            assert_int_equal(waits, outcome.waits[rank][peer]);
        }
    }
    assert_int_equal(0, outcome.outstanding);
    assert_true(outcome.intact);
}

/* ---- by an algorithm ---- */

/* Shards of 6 tiles: u messages each if u divides 6, never more than 6. */
TEST_OF_ALGOS(a_shard_goes_in_so_many_messages)
{
    enum { RANKS = 4, TILES = 6, ROWS = RANKS * TILES * 16, COUNT = ROWS * QUANT_LANES };
    static const unsigned microshards[] = {1, 2, 3, 6, 7, 1000000};
    static const unsigned messages[] = {1, 2, 3, 6, 6, 6};
    const unsigned packs = *state == quant_algo_at(QUANT_ALGO_recursive_halving) ||
                           *state == quant_algo_at(QUANT_ALGO_hierarchical);
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED float *first = test_alloc(COUNT * sizeof(float));

    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); ++i) {
        quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);
        job.config.block_rows = QUANT_BLOCK_ROWS_MAX;
        job.config.segment_elems = quant_tile_elems(QUANT_BLOCK_ROWS_MAX);
        job.config.segment_bytes = 4096;
        job.config.minishards = TILES;
        job.config.microshards = microshards[i];
        const quant_outcome_t outcome = quant_job_clean(&job, 1, 0 == i ? first : result);
        /* A rank sends one message in every round; or, where two of a stage go to one rank, in
         * both. */
        assert_int_equal(RANKS * 2 * (RANKS - 1 - packs) * messages[i], outcome.messages);
        /* Messages do not change what is rounded. */
        assert_true(0 == i || 0 == memcmp(first, result, COUNT * sizeof(float)));
    }
}

/* Calls of the spied kernel; one per tile that is encoded. */
static unsigned tiles_encoded;

static bool count_tiles(uint32_t absmax[QUANT_LANES], const quant_range_t *range,
                        uint8_t scale[QUANT_SCALES_BYTES], float inverse[QUANT_LANES],
                        uint32_t most[QUANT_LANES])
{
    ++tiles_encoded;
    return quant_kernels_scalar.scales(absmax, range, scale, inverse, most);
}

/* Encoding again what was decoded happens to give the same bytes: only counting shows it. */
TEST_OF_ALGOS(each_contribution_is_encoded_once_and_no_total_again)
{
    enum { RANKS = 6, TILES = 24, COUNT = TILES * 64 * QUANT_LANES };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);
    quant_kernels_t spy = quant_kernels_scalar;

    spy.scales = count_tiles;
    job.config.kernels = &spy;
    tiles_encoded = 0;
    (void) quant_job_clean(&job, 1, result);
    /* Per tile: the first partial sum, RANKS - 2 more, and the total; of nodes if there are. */
    const exchange_shape_t shape = quant_config_shape(&job.config, RANKS);
    assert_int_equal(TILES * shape.nodes, tiles_encoded);
}

int main(void)
{
    for (unsigned i = 0; i < WAYS; ++i) {
        unit_add_row(doubling_takes_few_messages_and_tells_a_tight_bound, &ways[i], 0,
                     "doubling of %u ranks, %u on a node", ways[i].ranks, ways[i].per_node);
    }
    return unit_run("messages");
}
