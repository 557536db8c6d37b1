/*
 * The error of large jobs: what auto takes for up to 1024 ranks stays below QUANT_AUTO_NMSE,
 * and is what theory says.
 *
 * One shard is summed along the tree with the messages of the wire format: what a pipeline
 * does, but for when.  With few ranks its bits are those of the pipelines over the simulated
 * network.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_mse.h"
#include "quant_job.h"
#include "quant_valid.h"

enum { SEED = 20261122, TILE_ELEMS = 64 * QUANT_LANES, SHARD_ELEMS = 4 * TILE_ELEMS };

/* Walks of segments of `elems` numbers. */
typedef struct walk {
    const quant_config_t *config;
    exchange_shape_t shape;
    size_t elems;
    quant_wire_segment_t segment;
    uint8_t *message;
} walk_t;

static walk_t walk_new(const quant_config_t *config, unsigned ranks, size_t elems)
{
    return (walk_t){
        .config = config,
        .shape = quant_config_shape(config, ranks),
        .elems = elems,
        .segment = {.codec = {.kernels = config->kernels,
                              .elems = elems,
                              .block_rows = config->block_rows,
                              .tile = test_alloc(quant_tile_elems(config->block_rows) *
                                                 sizeof(float))}},
        .message = test_alloc(quant_wire_bytes_max(&quant_format_fp32, elems, config->block_rows)),
    };
}

static void walk_free(walk_t *walk)
{
    free(walk->segment.codec.tile);
    free(walk->message);
}

/*
 * `sums`: for each vertex of the tree its own part; in the end sums[0] is the result.  The bound
 * of it.
 */
static float walk_shard(walk_t *walk, float *const *sums)
{
    const exchange_tree_t *tree = walk->config->algo->tree;
    const unsigned ranks = exchange_shape_ranks(&walk->shape);
    SCOPED float *bounds = test_zeros(ranks * sizeof(float));

    for (unsigned vertex = ranks - 1; vertex > 0; --vertex) {
        const bool inside = 0 != exchange_tree_pair(&walk->shape, vertex).place;
        const unsigned parent = exchange_tree_parent(tree, &walk->shape, vertex);

        walk->segment.codec.format = inside ? &quant_format_fp32 : walk->config->reduce_format;
        (void) quant_wire_pack(&walk->segment, sums[vertex], bounds[vertex], walk->message);
        bounds[parent] = quant_wire_add(&walk->segment, walk->message, sums[parent], bounds[parent],
                                        sums[parent]);
    }
    walk->segment.codec.format = walk->config->gather_format;
    (void) quant_wire_pack(&walk->segment, sums[0], bounds[0], walk->message);
    quant_wire_unpack(&walk->segment, walk->message, sums[0]);
    return quant_wire_bound(walk->message);
}

/* The rank that is a vertex of the shard of `owner`. */
static unsigned rank_of(const walk_t *walk, unsigned owner, unsigned vertex)
{
    const exchange_shape_t *shape = &walk->shape;
    const exchange_pair_t offset = exchange_tree_offset(walk->config->algo->tree, shape, vertex);
    unsigned at = 0;

    while (NULL != shape->order && owner != shape->order[at]) {
        ++at;
    }
    at = NULL == shape->order ? owner : at;
    const unsigned p = shape->per_node;
    const unsigned node = (at / p + shape->nodes - offset.node) % shape->nodes;
    const unsigned place = (at % p + p - offset.place) % p;
    return NULL == shape->order ? node * p + place : shape->order[node * p + place];
}

/* What a job of shards of `elems` numbers each does. */
static quant_outcome_t assert_walk_has_its_bits(const quant_job_t *job, size_t elems)
{
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_config_t config = job->config;
    SCOPED float *result = test_alloc(job->count * sizeof(float));
    float *sums[JOB_RANKS_MAX];
    float bound = 0;

    const quant_outcome_t outcome = quant_job_clean(job, 1, result);
    config.kernels = &kernels;
    walk_t walk = walk_new(&config, job->ranks, elems);
    for (unsigned shard = 0; shard < job->ranks; ++shard) {
        const unsigned owner = (shard + job->ranks - 1) % job->ranks;

        for (unsigned vertex = 0; vertex < job->ranks; ++vertex) {
            sums[vertex] = job->inputs[rank_of(&walk, owner, vertex)] + shard * elems;
        }
        bound = fmaxf(bound, walk_shard(&walk, sums));
        assert_memory_equal(result + shard * elems, sums[0], elems * sizeof(float));
    }
    assert_true(outcome.bound == bound);
    walk_free(&walk);
    return outcome;
}

TEST_OF_ALGOS(a_walk_has_the_bits_of_the_pipelines)
{
    static const unsigned ranks_of[] = {2, 5, 8, 12, 16, 17};

    for (size_t r = 0; r < sizeof ranks_of / sizeof ranks_of[0]; ++r) {
        const size_t count = ranks_of[r] * (size_t) TILE_ELEMS;
        SCOPED float **inputs = quant_inputs_new(ranks_of[r], count, SEED);
        const quant_job_t job = quant_job_new(*state, ranks_of[r], count, inputs, SEED);

        (void) assert_walk_has_its_bits(&job, TILE_ELEMS);
    }
}

/*
 * recursive_halving: a message has all shards that one step of it sends, as far as it has room, and
 * not one bit is another one for that.
 */
TEST(several_shards_go_in_one_message)
{
    static const size_t elems_of[] = {QUANT_LANES, 5 * QUANT_LANES, 31 * QUANT_LANES};
    const quant_algo_t *algo = quant_algo_at(QUANT_ALGO_recursive_halving);
    unsigned formats = 0;

    while (NULL != quant_format_at(formats)) {
        ++formats;
    }
    for (unsigned ranks = 2; ranks <= 33; ++ranks) {
        unsigned steps = 0;
        while (ranks > 1U << steps) {
            ++steps;
        }
        for (size_t e = 0; e < sizeof elems_of / sizeof elems_of[0]; ++e) {
            const size_t count = ranks * elems_of[e];
            SCOPED float **inputs = quant_inputs_new(ranks, count, SEED);
            quant_job_t job = quant_job_new(algo, ranks, count, inputs, SEED + ranks);
            const quant_format_t *format = quant_format_at(ranks % formats);

            job.in_place = 0 == ranks % 3;
            job.mixed_isa = 0 == ranks % 2;
            job.config.depth = EXCHANGE_DEPTH_MIN + ranks % 4 * 3;
            job.config.reduce_format = 0 == ranks % 5 ? &quant_format_fp32 : format;
            job.config.gather_format = 0 == ranks % 7 ? &quant_format_fp32 : format;
            const quant_outcome_t outcome = assert_walk_has_its_bits(&job, elems_of[e]);
            const unsigned messages = (unsigned) outcome.messages / ranks;
            assert_true(ranks < 4 || messages < 2 * (ranks - 1));
            assert_true(QUANT_LANES != elems_of[e] || messages == 2 * steps);
        }
    }
}

typedef struct job_case {
    unsigned ranks;
    unsigned per_node;
    bool is_int8; /* whatever its error */
} job_case_t;

static quant_config_t config_of(const job_case_t *row, const quant_kernels_t *kernels)
{
    quant_config_t config = {.kernels = kernels, .per_node = row->per_node};
    quant_settings_t settings = quant_defaults();

    settings.format = row->is_int8 ? QUANT_CHOICE_AUTO + 1 : QUANT_CHOICE_AUTO;
    assert_true(quant_settings_config(&settings, row->ranks, &config));
    return config;
}

/* One shard of standard normal numbers; its mean square error. */
static double measured_mse(const quant_config_t *config, unsigned ranks)
{
    SCOPED float **sums = quant_inputs_new(ranks, SHARD_ELEMS, SEED);
    SCOPED double *exact = test_alloc(SHARD_ELEMS * sizeof(double));
    double squares = 0;

    for (size_t i = 0; i < SHARD_ELEMS; ++i) {
        exact[i] = 0;
        for (unsigned rank = 0; rank < ranks; ++rank) {
            exact[i] += (double) sums[rank][i];
        }
    }
    walk_t walk = walk_new(config, ranks, SHARD_ELEMS);
    const double bound = (double) walk_shard(&walk, sums);
    for (size_t i = 0; i < SHARD_ELEMS; ++i) {
        const double error = (double) sums[0][i] - exact[i];
        assert_true(fabs(error) <= bound);
        squares += error * error;
    }
    walk_free(&walk);
    return squares / SHARD_ELEMS;
}

TEST(the_error_of_many_ranks_is_as_predicted)
{
    static const job_case_t rows[] = {
        {16, 1, false},   {64, 1, false},   {128, 1, false}, {256, 1, false},
        {512, 1, false},  {1024, 1, false}, {256, 8, false}, {512, 8, false},
        {1024, 8, false}, {256, 1, true},   {1024, 1, true},
    };
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(ARC_ISA_BEST));
    const double tolerance = 0.05; /* the chance of a sample; and errors that raise later scales */

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        const job_case_t *row = &rows[r];
        const quant_config_t config = config_of(row, &kernels);
        const double measured = measured_mse(&config, row->ranks) / row->ranks;
        const double predicted = quant_error_mse(&config, row->ranks, 1) / row->ranks;

        printf("# %4u ranks, %u on a node, %s, %s: NMSE %.3e, predicted %.3e\n", row->ranks,
               row->per_node, config.reduce_format->name, config.algo->name, measured, predicted);
        assert_true(fabs(measured / predicted - 1) < tolerance);
        assert_int_equal(!row->is_int8, measured < QUANT_AUTO_NMSE);
    }
}
