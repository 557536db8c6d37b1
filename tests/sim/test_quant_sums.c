/*
 * What every algorithm of coll_quant promises, under random schedules of the network, of an
 * allreduce, of its stages, a reduce-scatter and an allgather of one block per rank, and of
 * doubling, by which short vectors go: equal bits everywhere, an error below the bound,
 * independence of depth, place, messages and instruction set, and what is not finite stays where it
 * is.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "unit.h"
#include "quant_job.h"

enum { SEED = 20261120, SEGMENT_BYTES = 2048 };

static const unsigned rank_cases[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17};

/* Elements per rank times `per_rank`, plus `plus`; of a stage those of a block. */
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

/* Those of one length of blocks have the same bits; doubling is not for minishards. */
static const quant_variant_t variants[] = {
    {64, 3, false, false, 0, 0, 0}, {64, 3, true, true, 1, 0, 0},    {64, 6, false, true, 2, 0, 0},
    {64, 8, true, false, 0, 0, 0},  {64, 64, true, true, 99, 0, 0},  {8, 3, true, true, 0, 0, 0},
    {8, 4, false, false, 2, 0, 0},  {8, 6, true, false, 1, 0, 0},    {8, 8, false, true, 99, 0, 0},
    {8, 5, true, true, 2, 0, 3},    {32, 3, true, true, 0, 3, 0},    {32, 8, false, false, 4, 3, 1},
    {32, 4, true, false, 2, 3, 2},  {128, 6, false, true, 1, 1, 0},  {128, 3, true, true, 0, 1, 1},
    {16, 3, true, true, 0, 40, 3},  {256, 4, false, false, 2, 7, 0},
};

enum {
    RANK_CASES = sizeof(rank_cases) / sizeof(rank_cases[0]),
    COUNT_CASES = sizeof(count_cases) / sizeof(count_cases[0]),
    VARIANTS = sizeof(variants) / sizeof(variants[0]),
    MANY_RANKS_OF_STAGES = 9, /* what is more takes long and is the same code */
};

/* What is called: by an algorithm, or by doubling. */
typedef struct kind {
    const quant_algo_t *algo;
    exchange_collective_t collective;
    bool doubles_up;
    const char *name;
} kind_t;

static const kind_t calls_of[] = {
    {NULL, EXCHANGE_ALLREDUCE, false, "allreduce"},
    {NULL, EXCHANGE_REDUCE_SCATTER, false, "reduce_scatter"},
    {NULL, EXCHANGE_ALLGATHER, false, "allgather"},
};
enum { CALLS_OF = sizeof(calls_of) / sizeof(calls_of[0]) };

typedef struct grid_case {
    kind_t kind;
    unsigned ranks;
    unsigned per_node; /* 0: as quant_job_group() says */
    size_t count;
} grid_case_t;

static quant_job_t job_of(const kind_t *kind, unsigned ranks, size_t count)
{
    quant_job_t job = quant_job_new(kind->algo, ranks, count, NULL, SEED);

    job.collective = kind->collective;
    job.asks_oracle = true;
    job.config.doubling_bytes = kind->doubles_up ? (count + 1) * sizeof(double) : 0;
    return job;
}

static quant_job_t job_of_grid(const grid_case_t *grid)
{
    quant_job_t job = job_of(&grid->kind, grid->ranks, grid->count);

    quant_job_group(&job, grid->per_node);
    return job;
}

static size_t result_bytes(const quant_job_t *job)
{
    return quant_job_result_count(job) * sizeof(double);
}

static void results_are_the_same_whatever_the_schedule_and_within_the_bound(void **state)
{
    const grid_case_t *grid = *state;
    quant_job_t job = job_of_grid(grid);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    const size_t bytes = quant_job_result_count(&job) * sizeof(float);
    SCOPED float *result = test_alloc(bytes);
    SCOPED float *first = test_alloc(bytes);
    unsigned first_block_rows = 0;

    for (unsigned v = 0; v < VARIANTS; ++v) {
        if (grid->kind.doubles_up && 64 != variants[v].block_rows) {
            continue;
        }
        job.config.segment_bytes = SEGMENT_BYTES;
        quant_job_vary(&job, &variants[v], SEED + v);
        if (first_block_rows == variants[v].block_rows) {
            (void) quant_job_clean(&job, 1, result);
            assert_memory_equal(first, result, bytes);
            continue;
        }
        const quant_errors_t errors = quant_job_errors(&job, 1, first);
        for (unsigned rank = 0; rank < job.ranks && !grid->kind.doubles_up; ++rank) {
            /* One for each segment, which has at most twice what the worst of its lanes has. */
            const double told = (double) errors.outcome.bounds[rank];
            assert_true(isinf(told) || told <= 2 * errors.bound);
        }
        first_block_rows = variants[v].block_rows;
    }
}

/* Many groups, many calls: ranks run ahead as far as nothing holds them. */
static void ranks_that_run_ahead_do_no_harm(void **state)
{
    enum { RUNS = 24, CALLS = 3, RANKS = 6, BLOCK = 8, COUNT = 40 * BLOCK * QUANT_LANES + 13 };
    const kind_t *kind = *state;
    const bool is_stage = EXCHANGE_ALLREDUCE != kind->collective;
    quant_job_t job = job_of(kind, RANKS, is_stage ? COUNT : RANKS * COUNT);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(result_bytes(&job));
    SCOPED float *first = test_alloc(result_bytes(&job));

    job.config.block_rows = BLOCK;
    job.config.segment_elems = (size_t) BLOCK * QUANT_LANES;
    for (unsigned run = 0; run < RUNS; ++run) {
        job.config.depth = 3 + run % 4 * 3;
        job.in_place = 1 == run % 2;
        job.network.seed = SEED + run;
        job.network.delay_max = 0 == run % 3 ? 1 : 100;
        job.network.eager_max = 0 == run % 5 ? 0 : 1000;
        (void) quant_job_clean(&job, 0 == run ? 1 : CALLS, 0 == run ? first : result);
        assert_true(0 == run || 0 == memcmp(first, result, result_bytes(&job) / 2));
    }
}

TEST_OF_ALGOS(segments_of_many_tiles_and_large_vectors_work)
{
    enum { RANKS = 4, COUNT = 700001, BLOCK_ROWS = 16, TILES = 5 };
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, NULL, SEED);
    job.asks_oracle = true;
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));

    job.config.block_rows = BLOCK_ROWS;
    job.config.segment_elems = (size_t) TILES * BLOCK_ROWS * QUANT_LANES;
    job.config.depth = 8;
    (void) quant_job_errors(&job, 1, result);
}

static void without_quantization_it_is_the_float_sum_in_the_order_of_the_algorithm(void **state)
{
    quant_job_t job = job_of_grid(*state);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    const size_t bytes = quant_job_result_count(&job) * sizeof(float);
    SCOPED float *result = test_alloc(bytes);
    SCOPED float *expected = test_alloc(bytes);

    job.in_place = EXCHANGE_ALLREDUCE != job.collective;
    job.mixed_isa = true;
    job.config.reduce_format = &quant_format_fp32;
    job.config.gather_format = &quant_format_fp32;
    (void) quant_job_clean(&job, 1, result);
    quant_oracle_float_sum(&job, expected);
    assert_memory_equal(expected, result, bytes);
}

/*
 * What ranks of one node have must not be rounded before it is added up: here it cancels out
 * but for integers, which a scale for the large parts would lose.
 */
static void nothing_is_rounded_on_a_node(void **state)
{
    const float large = 0x1p12f;
    const grid_case_t *grid = *state;
    quant_job_t job = job_of_grid(grid);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(grid->count * sizeof(float));

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

/* ---- numbers that are none, or large ---- */

/* What stands in one element of one or two ranks. */
static const struct special {
    float one;
    float other;
} specials[] = {
    {NAN, 0},     {INFINITY, 0},      {-INFINITY, 0},       {INFINITY, -INFINITY},
    {FLT_MAX, 0}, {FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX},
};

/* A large number that one rank has comes back, and the others are as near as without specials. */
static void check_beside(const quant_job_t *job, const size_t *places, unsigned count,
                         float **inputs, float *result)
{
    SCOPED double *exact = test_alloc(job->count * sizeof(double));
    SCOPED double *bound = test_alloc(job->count * sizeof(double));

    for (unsigned s = 0; s < count; ++s) {
        assert_true(FLT_MAX != specials[s].one || 0 != specials[s].other ||
                    FLT_MAX == result[places[s]]);
        result[places[s]] = 0;
        for (unsigned rank = 0; rank < job->ranks; ++rank) {
            inputs[rank][places[s]] = 0;
        }
    }
    quant_oracle_exact(job, exact);
    quant_oracle_bound(job, bound);
    for (size_t i = 0; i < job->count; ++i) {
        assert_true(fabs((double) result[i] - exact[i]) <= bound[i]);
    }
}

/* In the first block of a stage; `tiles` of a message: several are coded but for some of them. */
static void check_specials(const kind_t *kind, unsigned tiles)
{
    enum { RANKS = 6, COUNT = 24581, SPECIALS = sizeof(specials) / sizeof(specials[0]) };
    quant_job_t job = job_of(kind, RANKS, COUNT);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(result_bytes(&job));
    test_random_t random = test_random_of(SEED, 7);
    size_t places[SPECIALS];

    job.config.segment_elems = tiles * quant_tile_elems(job.config.block_rows);
    job.mixed_isa = true;
    for (unsigned s = 0; s < SPECIALS; ++s) {
        const size_t at = s * (COUNT / SPECIALS) + test_random_below(&random, COUNT / SPECIALS);
        places[s] = at;
        const unsigned rank = (unsigned) test_random_below(&random, RANKS);
        for (unsigned r = 0; r < RANKS; ++r) {
            inputs[r][at] = 0;
        }
        inputs[rank][at] = specials[s].one;
        inputs[(rank + 1 + s) % RANKS][at] += specials[s].other;
    }
    const quant_errors_t errors = quant_job_errors(&job, 1, result);
    const bool scatters = EXCHANGE_REDUCE_SCATTER == kind->collective;
    assert_true(isinf(errors.outcome.bounds[0]) || EXCHANGE_ALLGATHER == kind->collective);
    assert_true(!scatters || isfinite(errors.outcome.bounds[1]));
    if (EXCHANGE_ALLREDUCE == kind->collective && !kind->doubles_up) {
        check_beside(&job, places, SPECIALS, inputs, result);
    }
}

static void what_is_not_finite_stays_where_it_is(void **state)
{
    check_specials(*state, 1);
    check_specials(*state, 3);
}

TEST_OF_ALGOS(doubles_that_no_float_holds_keep_their_meaning)
{
    enum { RANKS = 6, COUNT = 49229, HUGE_AT = 5 };
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, NULL, SEED);
    SCOPED double *result = test_alloc(COUNT * sizeof *result);

    job.config.doubles = true;
    job.mixed_isa = true;
    SCOPED double **inputs = (double **) quant_job_draw(&job, SEED);
    inputs[1][HUGE_AT] = 1e300;
    inputs[2][COUNT / 2] = (double) NAN;
    inputs[3][COUNT - 1] = -(double) INFINITY;
    const quant_errors_t errors = quant_job_errors(&job, 1, result);
    assert_true(isinf(errors.outcome.bound));
    assert_true(fabs(result[HUGE_AT] / 1e300 - 1) < 4 * DBL_EPSILON);
}

TEST_OF_ALGOS(huge_and_tiny_values_keep_the_bound)
{
    enum { RANKS = 4, COUNT = 20000 };
    static const float extremes[] = {1.6e38f, -1e30f, 1e-40f, -FLT_MIN, 1e-37f, -0.0f};
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, NULL, SEED);
    job.asks_oracle = true;
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        for (size_t i = 0; i < COUNT; ++i) {
            /* Whole lanes of one magnitude: otherwise the largest hides the others. */
            size_t kind = i % 64 % (sizeof(extremes) / sizeof(extremes[0]));
            inputs[rank][i] = (float) ((rank + i / 64) % 3) / (2 * RANKS) * extremes[kind];
        }
    }
    (void) quant_job_errors(&job, 1, result);
}

/* What a rank has in an element near the largest float, by its kind; one rank leads. */
static float part_near_the_top(size_t kind, bool leads, double share, unsigned ranks)
{
    switch (kind) {
    case 0: /* the largest float, and numbers that it absorbs: each is coded where it is alone */
        return leads ? FLT_MAX : (float) ((share - 0.5) * 0x1p95);
    case 1: /* parts of a sum a little below it, each of them below 2^127 */
        return (float) (share / ranks * (double) FLT_MAX);
    case 2: /* around the limit of the formats */
        return (float) ((share - 0.5) * 0x1p97);
    default: /* too large for a float, in whatever order they are added */
        return leads ? FLT_MAX : 0x1p104f;
    }
}

/* In every format: none becomes infinite that a sum of floats would not be, and none finite. */
TEST_OF_ALGOS(sums_near_the_largest_float_are_infinite_where_they_have_to_be)
{
    enum { RANKS = 5, COUNT = 12007, STRETCH = 500, KINDS = 4 };
    quant_job_t job = quant_job_new(*state, RANKS, COUNT, NULL, SEED);
    SCOPED float **inputs = quant_job_draw(&job, SEED);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    test_random_t random = test_random_of(SEED, 0);
    const quant_format_t *format = NULL;

    job.mixed_isa = true;
    job.config.block_rows = QUANT_BLOCK_ROWS_MIN;
    for (size_t i = 0; i < COUNT; ++i) {
        const unsigned lead = (unsigned) test_random_below(&random, RANKS);
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            inputs[rank][i] = part_near_the_top(i / STRETCH % KINDS, rank == lead,
                                                test_random_unit(&random), RANKS);
        }
    }
    for (size_t f = 0; NULL != (format = quant_format_at(f)); ++f) {
        job.config.reduce_format = format;
        job.config.gather_format = format;
        /* Each addition may lose half a unit in the last place, all encodings together another. */
        assert_true(quant_job_errors(&job, 1, result).worst < RANKS * 0x1p103);
    }
}

static void add_row(const grid_case_t *grid, const char *text, CMUnitTestFunction function)
{
    unit_add_row(function, grid, sizeof *grid, "%s, %s of %u ranks, %u on a node: %s",
                 grid->kind.algo->name, grid->kind.name, grid->ranks, grid->per_node, text);
}

static void add_kind(const kind_t *kind)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(ranks_that_run_ahead_do_no_harm),
        cmocka_unit_test(what_is_not_finite_stays_where_it_is),
    };
    const bool is_stage = EXCHANGE_ALLREDUCE != kind->collective;
    const grid_case_t seven = {.kind = *kind, .ranks = 7, .count = is_stage ? 10007 : 40009};

    for (unsigned r = 0; r < RANK_CASES; ++r) {
        for (unsigned c = 0; c < COUNT_CASES; ++c) {
            const struct count_case *of = &count_cases[c];
            const size_t parts = is_stage ? 1 : rank_cases[r];
            const grid_case_t one = {.kind = *kind,
                                     .ranks = rank_cases[r],
                                     .count = of->per_rank * parts + (size_t) of->plus};
            if (!is_stage || rank_cases[r] <= MANY_RANKS_OF_STAGES) {
                add_row(&one, of->name,
                        results_are_the_same_whatever_the_schedule_and_within_the_bound);
            }
        }
    }
    if (!kind->doubles_up) {
        add_row(&seven, "without quantization",
                without_quantization_it_is_the_float_sum_in_the_order_of_the_algorithm);
    }
    for (unsigned i = 0; i < sizeof each / sizeof each[0]; ++i) {
        unit_add_row(each[i].test_func, kind, sizeof *kind, "%s: %s", kind->name, each[i].name);
    }
}

/* Nodes of several ranks. */
static void add_shapes(void)
{
    static const size_t counts[] = {1, 64, 4097, 40009};

    for (unsigned s = 0; s < QUANT_SHAPES; ++s) {
        grid_case_t one = {.kind = calls_of[0],
                           .ranks = quant_shapes[s].nodes * quant_shapes[s].per_node,
                           .per_node = quant_shapes[s].per_node};
        one.kind.algo = quant_algo_at(QUANT_ALGO_hierarchical);
        /* Many ranks take long. */
        const size_t first = one.ranks > 16 ? 2 : 0;
        const size_t end = sizeof(counts) / sizeof(counts[0]) - (one.ranks > 16);
        for (size_t c = first; c < end; ++c) {
            one.count = counts[c];
            add_row(&one, "the same",
                    results_are_the_same_whatever_the_schedule_and_within_the_bound);
        }
        add_row(&one, "without quantization",
                without_quantization_it_is_the_float_sum_in_the_order_of_the_algorithm);
        add_row(&one, "nothing_is_rounded_on_a_node", nothing_is_rounded_on_a_node);
    }
}

int main(void)
{
    const kind_t doubling = {quant_algo_at(0), EXCHANGE_ALLREDUCE, true, "doubling"};

    printf("# seed %d\n", SEED);
    for (size_t i = 0; i < JOB_ALGOS * CALLS_OF; ++i) {
        kind_t kind = calls_of[i % CALLS_OF];
        kind.algo = quant_algo_at(i / CALLS_OF);
        add_kind(&kind);
    }
    add_kind(&doubling);
    add_shapes();
    return unit_run("sums");
}
