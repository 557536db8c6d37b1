/*
 * What every algorithm of coll_quant promises, under random schedules of the network:
 * equal bits everywhere, an error below the bound, independence of depth, place
 * and instruction set, exact non-finite values, and the predicted mean error.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "unit.h"
#include "quant_job.h"

enum { SEED = 20261120, SEGMENT_BYTES = 2048 };

static const unsigned rank_cases[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17};

/* Elements per rank times `per_rank`, plus `plus`. */
static const struct count_case {
    const char *name;
    size_t per_rank;
    int plus;
} count_cases[] = {
    {"0", 0, 0},
    {"1", 0, 1},
    {"63", 0, 63},
    {"64", 0, 64},
    {"65", 0, 65},
    {"ranks_minus_1", 1, -1},
    {"ranks", 1, 0},
    {"ranks_plus_1", 1, 1},
    {"a_row_each", 64, 0},
    {"a_row_each_plus_1", 64, 1},
    {"a_tile_minus_1", 0, 4095},
    {"a_tile", 0, 4096},
    {"a_tile_plus_1", 0, 4097},
    {"prime", 0, 10007},
    {"a_segment_each", 4096, 0},
    {"a_segment_each_plus_65", 4096, 65},
    {"three_segments_each_minus_1", 3 * 4096, -1},
};

static const quant_variant_t variants[] = {
    {64, 3, false, false, 0, 0, 0}, {64, 3, true, true, 1, 0, 0},   {64, 6, false, true, 2, 0, 0},
    {64, 8, true, false, 0, 0, 0},  {64, 64, true, true, 4, 0, 0},  {8, 3, true, true, 0, 0, 0},
    {8, 4, false, false, 2, 0, 0},  {8, 6, true, false, 1, 0, 0},   {8, 8, false, true, 0, 0, 0},
    {8, 5, true, true, 2, 0, 3},    {32, 3, true, true, 0, 3, 0},   {32, 8, false, false, 4, 3, 1},
    {32, 4, true, false, 2, 3, 2},  {128, 6, false, true, 1, 1, 0}, {128, 3, true, true, 0, 1, 1},
};

enum {
    RANK_CASES = sizeof(rank_cases) / sizeof(rank_cases[0]),
    COUNT_CASES = sizeof(count_cases) / sizeof(count_cases[0]),
    VARIANTS = sizeof(variants) / sizeof(variants[0]),
};

typedef struct grid_case {
    const quant_algo_t *algo;
    unsigned ranks;
    unsigned per_node; /* 0: as quant_job_group() says */
    size_t count;
} grid_case_t;

static quant_job_t job_of(const grid_case_t *grid, float **inputs, uint64_t seed)
{
    quant_job_t job = quant_job_new(grid->algo, grid->ranks, grid->count, inputs, seed);

    quant_job_group(&job, grid->per_node);
    return job;
}

/* Of each element the oracle's bound; of all the one that the call itself tells. */
static void assert_within_bound(const quant_job_t *job, const float *result, float told)
{
    SCOPED double *sum = test_alloc(job->count * sizeof(double));
    SCOPED double *bound = test_alloc(job->count * sizeof(double));
    double largest_bound = 0;

    quant_oracle_sum(job, sum);
    quant_oracle_bound(job, bound);
    for (size_t i = 0; i < job->count; ++i) {
        const double error = fabs((double) result[i] - sum[i]);
        if (!(error <= bound[i] && error <= (double) told)) {
            fail_msg("element %zu: %.9g, sum %.9g, bound %.3g, told %.3g", i, (double) result[i],
                     sum[i], bound[i], (double) told);
        }
        largest_bound = fmax(largest_bound, bound[i]);
    }
    /* One for each segment, which has at most twice what the worst of its lanes has. */
    assert_true(isinf(told) || (double) told <= 2 * largest_bound);
}

static void sums_are_equal_everywhere_and_within_the_bound(void **state)
{
    const grid_case_t *grid = *state;
    SCOPED float **inputs = quant_inputs_new(grid->ranks, grid->count, SEED);
    SCOPED float *result = test_alloc(grid->count * sizeof(float));
    SCOPED float *first = test_alloc(grid->count * sizeof(float));
    unsigned first_block_rows = 0;

    for (unsigned v = 0; v < VARIANTS; ++v) {
        quant_job_t job = job_of(grid, inputs, SEED);
        job.config.segment_bytes = SEGMENT_BYTES;
        quant_job_vary(&job, &variants[v], SEED + v);
        quant_outcome_t outcome = quant_job_clean(&job, 1, result);
        if (first_block_rows == variants[v].block_rows) {
            assert_memory_equal(first, result, grid->count * sizeof(float));
            continue;
        }
        assert_within_bound(&job, result, outcome.bound);
        first_block_rows = variants[v].block_rows;
        memcpy(first, result, grid->count * sizeof(float));
    }
}

static void results_repeat_from_run_to_run_and_call_to_call(void **state)
{
    enum { RANKS = 5, COUNT = 30011, RUNS = 6, CALLS = 4 };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED float *first = test_alloc(COUNT * sizeof(float));

    for (unsigned run = 0; run < RUNS; ++run) {
        quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);
        job.network.seed = SEED + run;
        job.in_place = 1 == run % 2;
        (void) quant_job_clean(&job, 0 == run ? 1 : CALLS, result);
        if (0 == run) {
            memcpy(first, result, COUNT * sizeof(float));
        }
        assert_memory_equal(first, result, COUNT * sizeof(float));
    }
}

static void segments_of_many_tiles_and_large_vectors_work(void **state)
{
    enum { RANKS = 4, COUNT = 700001, BLOCK_ROWS = 16, TILES = 5 };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);

    job.config.block_rows = BLOCK_ROWS;
    job.config.segment_elems = (size_t) TILES * BLOCK_ROWS * QUANT_LANES;
    job.config.depth = 8;
    quant_outcome_t outcome = quant_job_clean(&job, 1, result);
    assert_within_bound(&job, result, outcome.bound);
}

/* 127 * k has the scale k, a bf16 number: nothing is ever rounded. */
static void multiples_of_127_are_exact(void **state)
{
    enum { RANKS = 9, COUNT = 9001 };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        for (size_t i = 0; i < COUNT; ++i) {
            inputs[rank][i] = -127.0f * 0x1p10f;
        }
    }
    (void) quant_job_clean(&job, 1, result);
    for (size_t i = 0; i < COUNT; ++i) {
        assert_true(RANKS * -127.0f * 0x1p10f == result[i]);
    }
}

/* A constant is the largest value of its lane: only the rounding of the scale is left. */
static void constants_are_off_by_the_rounding_of_scales_only(void **state)
{
    enum { RANKS = 8, COUNT = 70000 };
    const float value = 0.7310586f;
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        for (size_t i = 0; i < COUNT; ++i) {
            inputs[rank][i] = value;
        }
    }
    (void) quant_job_clean(&job, 1, result);
    for (size_t i = 0; i < COUNT; ++i) {
        assert_true(result[0] == result[i]);
        assert_true(fabsf(result[i] - RANKS * value) <=
                    value * 0x1p-8f * (RANKS * (RANKS + 1) / 2.0f) * 1.05f);
    }
}

static void fp32_on_both_stages_is_the_float_sum_in_the_order_of_the_algorithm(void **state)
{
    const grid_case_t *grid = *state;
    SCOPED float **inputs = quant_inputs_new(grid->ranks, grid->count, SEED);
    SCOPED float *result = test_alloc(grid->count * sizeof(float));
    SCOPED float *chain = test_alloc(grid->count * sizeof(float));
    quant_job_t job = job_of(grid, inputs, SEED);

    job.mixed_isa = true;
    job.config.reduce_format = &quant_format_fp32;
    job.config.gather_format = &quant_format_fp32;
    (void) quant_job_clean(&job, 1, result);
    quant_oracle_float_sum(&job, chain);
    assert_memory_equal(chain, result, grid->count * sizeof(float));
}

/*
 * What ranks of one node have must not be rounded before it is added up: here it cancels out
 * but for integers, which a scale for the large parts would lose.
 */
static void nothing_is_rounded_on_a_node(void **state)
{
    const float large = 0x1p12f;
    const grid_case_t *grid = *state;
    SCOPED float **inputs = quant_inputs_new(grid->ranks, grid->count, SEED);
    SCOPED float *result = test_alloc(grid->count * sizeof(float));
    quant_job_t job = job_of(grid, inputs, SEED);

    for (unsigned at = 0; at < grid->ranks; ++at) {
        const unsigned place = at % grid->per_node;
        for (size_t i = 0; i < grid->count; ++i) {
            const float part = (float) (i % 61) * large;
            const float small = 0 == at ? 127 : 0;
            inputs[job.config.order[at]][i] = small + (0 == place ? part : 1 == place ? -part : 0);
        }
    }
    (void) quant_job_clean(&job, 1, result);
    for (size_t i = 0; i < grid->count; ++i) {
        assert_true(127 == result[i]);
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
static void each_contribution_is_encoded_once_and_no_total_again(void **state)
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

/* What stands in one element of one or two ranks, and what its sum has to be. */
static const struct special {
    float one;
    float other;
    float sum;
} specials[] = {
    {NAN, 0, NAN},
    {INFINITY, 0, INFINITY},
    {-INFINITY, 0, -INFINITY},
    {INFINITY, -INFINITY, NAN},
    {FLT_MAX, 0, FLT_MAX},
    {FLT_MAX, FLT_MAX, INFINITY},
    {-FLT_MAX, -FLT_MAX, -INFINITY},
};

/* `tiles` of a message: of one tile all of it goes as floats, of several only some tiles do. */
static void check_specials(const quant_algo_t *algo, unsigned tiles)
{
    enum { RANKS = 6, COUNT = 60001, SPECIALS = sizeof(specials) / sizeof(specials[0]) };
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = quant_job_new(algo, RANKS, COUNT, inputs, SEED);
    test_random_t random = test_random_of(SEED, 7);
    size_t places[SPECIALS];

    job.config.segment_elems = tiles * quant_tile_elems(job.config.block_rows);
    job.mixed_isa = true;
    for (unsigned s = 0; s < SPECIALS; ++s) {
        places[s] = s * (COUNT / SPECIALS) + test_random_below(&random, COUNT / SPECIALS);
        unsigned rank = (unsigned) test_random_below(&random, RANKS);
        for (unsigned r = 0; r < RANKS; ++r) {
            inputs[r][places[s]] = 0;
        }
        inputs[rank][places[s]] = specials[s].one;
        inputs[(rank + 1 + s) % RANKS][places[s]] += specials[s].other;
    }
    quant_outcome_t outcome = quant_job_clean(&job, 1, result);
    for (unsigned s = 0; s < SPECIALS; ++s) {
        float got = result[places[s]];
        assert_true(isnan(specials[s].sum) ? isnan(got) : specials[s].sum == got);
        result[places[s]] = 0;
        for (unsigned r = 0; r < RANKS; ++r) {
            inputs[r][places[s]] = 0;
        }
    }
    assert_within_bound(&job, result, outcome.bound);
}

static void non_finite_values_stay_where_they_are(void **state)
{
    check_specials(*state, 1);
    check_specials(*state, 3);
}

static void huge_and_tiny_values_keep_the_bound(void **state)
{
    enum { RANKS = 4, COUNT = 20000 };
    static const float extremes[] = {1.6e38f, -1e30f, 1e-40f, -FLT_MIN, 1e-37f, -0.0f};
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        for (size_t i = 0; i < COUNT; ++i) {
            /* Whole lanes of one magnitude: otherwise the largest hides the others. */
            size_t kind = i % 64 % (sizeof(extremes) / sizeof(extremes[0]));
            inputs[rank][i] = (float) ((rank + i / 64) % 3) / (2 * RANKS) * extremes[kind];
        }
    }
    quant_outcome_t outcome = quant_job_clean(&job, 1, result);
    assert_within_bound(&job, result, outcome.bound);
}

static void add_row(const grid_case_t *grid, const char *text, CMUnitTestFunction function)
{
    unit_add_row(function, grid, sizeof *grid, "%s_of_%u_ranks_%u_a_node_%s", grid->algo->name,
                 grid->ranks, grid->per_node, text);
}

static void add_grid(const quant_algo_t *algo)
{
    const grid_case_t seven = {.algo = algo, .ranks = 7, .count = 40009};

    for (unsigned r = 0; r < RANK_CASES; ++r) {
        for (unsigned c = 0; c < COUNT_CASES; ++c) {
            const grid_case_t one = {.algo = algo,
                                     .ranks = rank_cases[r],
                                     .count = count_cases[c].per_rank * rank_cases[r] +
                                              (size_t) count_cases[c].plus};
            add_row(&one, count_cases[c].name, sums_are_equal_everywhere_and_within_the_bound);
        }
    }
    add_row(&seven, "fp32_on_both_stages",
            fp32_on_both_stages_is_the_float_sum_in_the_order_of_the_algorithm);
}

/* Nodes of several ranks. */
static void add_shapes(void)
{
    static const size_t counts[] = {1, 64, 4097, 40009};

    for (unsigned s = 0; s < QUANT_SHAPES; ++s) {
        grid_case_t one = {.algo = quant_algo_by_name("hierarchical"),
                           .ranks = quant_shapes[s].nodes * quant_shapes[s].per_node,
                           .per_node = quant_shapes[s].per_node};
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); ++c) {
            one.count = counts[c];
            add_row(&one, "are_equal", sums_are_equal_everywhere_and_within_the_bound);
        }
        add_row(&one, "fp32_on_both_stages",
                fp32_on_both_stages_is_the_float_sum_in_the_order_of_the_algorithm);
        add_row(&one, "nothing_is_rounded_on_a_node", nothing_is_rounded_on_a_node);
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(results_repeat_from_run_to_run_and_call_to_call),
        cmocka_unit_test(segments_of_many_tiles_and_large_vectors_work),
        cmocka_unit_test(multiples_of_127_are_exact),
        cmocka_unit_test(constants_are_off_by_the_rounding_of_scales_only),
        cmocka_unit_test(each_contribution_is_encoded_once_and_no_total_again),
        cmocka_unit_test(non_finite_values_stay_where_they_are),
        cmocka_unit_test(huge_and_tiny_values_keep_the_bound),
    };

    printf("# seed %d\n", SEED);
    for (size_t a = 0; a < JOB_ALGOS; ++a) {
        add_grid(quant_algo_at(a));
    }
    quant_job_add(UNIT_TESTS(each));
    add_shapes();
    return unit_run("sums");
}
