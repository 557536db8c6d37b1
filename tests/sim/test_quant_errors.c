/*
 * The mean squared error on normally distributed data is what theory says: of every algorithm, for
 * each of the stages and for both, in every format, of floats and of doubles, of calls that are cut
 * by their length, and of doubling; and small tensors beside large ones are as exact as these.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "unit.h"
#include "quant_algos.h"
#include "quant_data.h"
#include "quant_mse.h"
#include "quant_job.h"
#include "exchange_layout.h"

enum { SEED = 20261120 };

typedef struct row {
    const quant_algo_t *algo;
    const quant_format_t *reduce;
    const quant_format_t *gather;
    exchange_collective_t collective;
    unsigned ranks;
    unsigned per_node; /* 0: as quant_job_group() says */
    size_t count;
    bool doubles;
    bool doubles_up;
    bool in_place;
    unsigned minishards; /* with them blocks of up to 4096, else of 64 */
    unsigned microshards;
    double tolerance; /* the chance of a sample; and errors that raise later scales */
    double known;     /* published, or by another program; 0: nothing */
} row_t;

static quant_job_t job_of(const row_t *row)
{
    quant_job_t job = quant_job_new(row->algo, row->ranks, row->count, NULL, SEED);

    job.collective = row->collective;
    job.in_place = row->in_place;
    job.config.doubles = row->doubles;
    job.config.doubling_bytes = row->doubles_up ? (row->count + 1) * sizeof(double) : 0;
    job.config.reduce_format = row->reduce;
    job.config.gather_format = row->gather;
    if (0 != row->minishards) {
        job.config.block_rows = QUANT_BLOCK_ROWS_MAX;
        job.config.segment_elems = quant_tile_elems(QUANT_BLOCK_ROWS_MAX);
        job.config.segment_bytes = 8192;
        job.config.minishards = row->minishards;
        job.config.microshards = row->microshards;
    }
    quant_job_group(&job, row->per_node);
    return job;
}

static double predicted_of(const quant_job_t *job, const row_t *row)
{
    const exchange_layout_t layout = {
        .count = job->count, .shards = job->ranks, .row_elems = QUANT_LANES};
    const exchange_shape_t shape = quant_config_shape(&job->config, job->ranks);
    const double once = quant_error_coefficient(row->reduce, job->config.block_rows);
    quant_config_t of_call = job->config;

    if (row->doubles_up) {
        return quant_error_doubling_nmse(&job->config, job->ranks) * job->ranks;
    }
    if (EXCHANGE_ALLREDUCE != job->collective) {
        return EXCHANGE_ALLGATHER == job->collective
                   ? once
                   : once * exchange_tree_reduce_growth(row->algo->tree, &shape);
    }
    if (0 != row->minishards) {
        of_call.block_rows =
            quant_cut(&job->config, exchange_layout_shard(&layout, 0).elems).block_rows;
    }
    return quant_error_mse(&of_call, job->ranks, 1);
}

static void mean_error_is_as_predicted(void **state)
{
    const row_t *row = *state;
    quant_job_t job = job_of(row);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED void *result = test_alloc(quant_job_result_count(&job) * sizeof(double));
    const double predicted = predicted_of(&job, row);
    const double measured = quant_job_errors(&job, 1, result).mean_square;

    printf("# %s %s %s, %2u ranks, %u on a node, minishards %u: mse %.4e, predicted %.4e\n",
           row->algo->name, row->reduce->name, row->gather->name, row->ranks, row->per_node,
           row->minishards, measured, predicted);
    /* What is not quantized: nothing is rounded but by the additions. */
    const double least = row->doubles ? row->ranks * row->ranks * DBL_EPSILON * DBL_EPSILON : 1e-12;
    assert_true(predicted > 0 ? fabs(measured / predicted - 1) < row->tolerance : measured < least);
    assert_true(0 == row->known || fabs(predicted / row->known - 1) < 0.05);
}

/* By int8, with blocks of 64, where tensors begin at multiples of 64. */
TEST_OF_ALGOS(small_tensors_beside_large_ones_keep_their_accuracy)
{
    enum { RANKS = 4, COUNT = 1 << 18 };
    static const double required = 1e-4;
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    const quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);
    const double of_normal = quant_data_nmse(&job, QUANT_DATA_normal, SEED);
    const double of_small = quant_data_nmse(&job, QUANT_DATA_mixed, SEED);

    printf("# %s: nmse of small tensors %.3e, of normals %.3e\n", job.config.algo->name, of_small,
           of_normal);
    assert_true(of_small > 0 && of_small < required);
    assert_true(fabs(of_small / of_normal - 1) < 0.03);
}

static void add(const row_t *row, const char *what)
{
    unit_add_row(mean_error_is_as_predicted, row, sizeof *row,
                 "%s: %s, %s and %s, %u ranks, %u on a node, minishards %u", what, row->algo->name,
                 row->reduce->name, row->gather->name, row->ranks, row->per_node, row->minishards);
}

/* Of 8 ranks and blocks of 64, by int8: of both stages, and with one of them alone. */
static const struct known {
    const char *algo;
    double mse[3];
} known_errors[] = {
    {"full_loop", {1.276e-3, 9.91e-4, 2.84e-4}},
    {"semi_loop", {8.47e-4, 5.64e-4, 2.84e-4}},
    {"direct", {5.28e-4, 2.48e-4, 2.84e-4}},
    {"recursive_halving", {7.08e-4, 4.24e-4, 2.84e-4}},
    /* Of 4 nodes: the same G. */
    {"hierarchical", {7.08e-4, 4.24e-4, 2.84e-4}},
};

static double known_error(const quant_algo_t *algo, unsigned stages)
{
    for (size_t i = 0; i < sizeof(known_errors) / sizeof(known_errors[0]); ++i) {
        if (0 == strcmp(known_errors[i].algo, algo->name)) {
            return known_errors[i].mse[stages];
        }
    }
    fail_msg("no known error of %s", algo->name);
    return 0;
}

static size_t whole_tiles(unsigned ranks)
{
    const size_t shards = 2 * (size_t) ranks;
    return (64 + shards - 1) / shards * shards * 64 * QUANT_LANES;
}

/* By int8: both stages, and each of them alone, of many numbers of ranks. */
static void add_stages(const quant_algo_t *algo)
{
    static const unsigned ranks[] = {2, 8, 5, 3, 4, 7, 16};
    enum { BOTH, REDUCE, GATHER, STAGES };

    for (unsigned stages = BOTH; stages < STAGES; ++stages) {
        row_t row = {.algo = algo, .tolerance = 0.02};
        row.reduce = GATHER == stages ? &quant_format_fp32 : &quant_format_int8;
        row.gather = REDUCE == stages ? &quant_format_fp32 : &quant_format_int8;
        for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); ++i) {
            row.ranks = ranks[i];
            row.count = whole_tiles(row.ranks);
            row.known = 8 == row.ranks ? known_error(algo, stages) : 0;
            add(&row, "stages");
        }
        for (unsigned i = 0; algo->tree->levels && i < QUANT_SHAPES; ++i) {
            row.per_node = quant_shapes[i].per_node;
            row.ranks = quant_shapes[i].nodes * row.per_node;
            row.count = whole_tiles(row.ranks);
            row.known = 0;
            add(&row, "nodes");
        }
    }
}

/* Collectives that are a stage; formats; doubles; calls that are cut by their length. */
static void add_others(const quant_algo_t *algo)
{
    static const exchange_collective_t stages[] = {EXCHANGE_REDUCE_SCATTER, EXCHANGE_ALLGATHER};
    static const unsigned minishards[] = {1, 5, 16, 64, 300};
    enum { CUTS = sizeof(minishards) / sizeof(minishards[0]) };
    const row_t int8 = {.algo = algo,
                        .reduce = &quant_format_int8,
                        .gather = &quant_format_int8,
                        .ranks = 8,
                        .count = 65536,
                        .tolerance = 0.05};
    row_t row = int8;

    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); ++i) {
        row.collective = stages[i];
        add(&row, EXCHANGE_ALLGATHER == stages[i] ? "allgather" : "reduce-scatter");
    }
    for (unsigned f = 0; f < 2 * QUANT_CODES; ++f) {
        row = int8;
        row.reduce = row.gather = quant_format_at(f / 2);
        row.doubles = 1 == f % 2;
        row.in_place = row.doubles;
        row.count = 8 * 8 * 4096;
        row.tolerance = 0.08;
        add(&row, row.doubles ? "doubles" : "floats");
    }
    for (unsigned cut = 0; cut < CUTS; ++cut) {
        row = int8;
        row.ranks = 4;
        row.count = (size_t) 16 * QUANT_BLOCK_ROWS_MAX * QUANT_LANES;
        row.minishards = minishards[cut];
        row.tolerance = 0.01;
        add(&row, "cut");
        row.ranks = 6; /* the longest shard: one row longer than two tiles of 64 */
        row.count = (size_t) 12 * 64 * QUANT_LANES + 77;
        row.doubles = true;
        row.microshards = cut;
        row.tolerance = 0.2;
        add(&row, "cut, doubles");
    }
}

/* Relative to the result the error is c of docs/format.md for each phase; on a node none. */
static void add_doubling(void)
{
    static const struct {
        const quant_format_t *format;
        double c;
        double tolerance;
    } formats[] = {
        {&quant_format_int8, 3.546e-5, 0.03},
        {&quant_format_int6, 5.90e-4, 0.03},
        {&quant_format_int16, 5.41e-10, 0.03},
        /* Sums of two such numbers often lie half-way between two. */
        {&quant_format_bf16, 2.75e-6, 0.15},
    };
    static const struct {
        unsigned ranks;
        unsigned per_node;
        unsigned phases; /* between nodes */
    } ways[] = {{2, 0, 1},  {3, 0, 1},  {4, 0, 2}, {5, 0, 1}, {6, 0, 2}, {8, 0, 3},  {12, 0, 3},
                {14, 0, 2}, {16, 0, 4}, {8, 2, 2}, {8, 4, 1}, {6, 2, 1}, {16, 4, 2}, {12, 6, 1}};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
        for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); ++f) {
            const row_t row = {.algo = 0 == ways[i].per_node
                                           ? quant_algo_at(0)
                                           : quant_algo_at(QUANT_ALGO_hierarchical),
                               .reduce = formats[f].format,
                               .gather = formats[f].format,
                               .ranks = ways[i].ranks,
                               .per_node = ways[i].per_node,
                               .count = 1 << 18,
                               .doubles_up = true,
                               .doubles = 6 == ways[i].ranks && 0 == f,
                               .tolerance = formats[f].tolerance,
                               .known = formats[f].c * ways[i].phases * ways[i].ranks};
            add(&row, "doubling");
        }
    }
}

int main(void)
{
    printf("# seed %d\n", SEED);
    for (size_t a = 0; a < JOB_ALGOS; ++a) {
        add_stages(quant_algo_at(a));
        add_others(quant_algo_at(a));
    }
    add_doubling();
    return unit_run("mean errors");
}
