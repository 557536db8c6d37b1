/*
 * The index arithmetic of workloads/matmul: where tiles lie, which products a rank makes, what it
 * fetches for them, and what that moves.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "cost.h"
#include "random_jobs.h"
#include "spec.h"

enum { SEED = 20261123, RANDOM_CASES = 200, MOST_RANKS = 12, MOST_ELEMENTS = 70 * 70 };

/* The job of a text that must be right. */
static job_t parse(const char *text, size_t m, size_t k, size_t n, size_t ranks)
{
    const size_t dims[DIMS] = {[DIM_M] = m, [DIM_K] = k, [DIM_N] = n};
    char error[256] = "";
    job_t job;

    if (!job_parse(text, dims, ranks, &job, error, sizeof error)) {
        fail_msg("%s: %s", text, error);
    }
    return job;
}

/* A function for each of the random jobs; `stationary` in turn. */
static void for_random_jobs(void (*check)(const problem_t *problem, int stationary))
{
    random_job_t random;

    random_job_seed(&random, SEED);
    for (size_t i = 0; i < RANDOM_CASES; i++) {
        const size_t ranks = 1 + i % MOST_RANKS;
        random_job_next(&random, ranks);
        const job_t job =
            parse(random.text, random.dims[DIM_M], random.dims[DIM_K], random.dims[DIM_N], ranks);
        for (int stationary = 0; stationary < MATRICES; stationary++) {
            check(&job.problem, stationary);
        }
    }
}

static products_t list_products(const problem_t *problem, int stationary, size_t rank)
{
    products_t products;

    assert_true(products_init(&products, problem, stationary, rank));
    return products;
}

static bool is_inside(box_t inner, box_t outer)
{
    const box_t both = box_overlap(inner, outer);

    return memcmp(&both, &inner, sizeof inner) == 0;
}

static void check_places(const problem_t *problem, int matrix)
{
    const layout_t *layout = &problem->layout[matrix];
    static unsigned char taken[MOST_ELEMENTS];
    size_t elements = 0;

    for (size_t member = 0; member < layout_members(layout); member++) {
        const size_t stored = layout_stored(layout, member);
        tile_t tile;
        memset(taken, 0, sizeof taken);
        for (bool more = layout_first_tile(layout, member, &tile); more;
             more = layout_next_tile(layout, &tile)) {
            const box_t bounds = layout_tile_bounds(layout, tile);
            const size_t offset = layout_offset(layout, tile);
            assert_int_equal(member, layout_owner(layout, tile));
            for (size_t i = 0; i < box_elements(bounds); i++) {
                assert_true(offset + i < stored && !taken[offset + i]++);
                elements++;
            }
        }
        for (size_t i = 0; i < stored; i++) {
            assert_true(taken[i]);
        }
    }
    assert_int_equal(layout->shape[ROW] * layout->shape[COLUMN], elements);
}

static void elements_have_places_of_their_own(void **state)
{
    for_random_jobs(check_places);
}

static void an_example_of_tiles(void **state)
{
    static const size_t owners[3][3] = {{0, 1, 0}, {2, 3, 2}, {0, 1, 0}}; /* as in layout.h */
    const job_t job = parse("row,row,3x4@2x2,C", 8, 5, 9, 4);
    const layout_t *layout = &job.problem.layout[MATRIX_C];

    for (size_t row = 0; row < 3; row++) {
        for (size_t column = 0; column < 3; column++) {
            assert_int_equal(owners[row][column], layout_owner(layout, (tile_t){{row, column}}));
        }
    }
    assert_int_equal((3 + 2) * (4 + 1), layout_stored(layout, 0));
    assert_int_equal(3 * 4, layout_stored(layout, 3));
    /* Behind tiles of 3 x 4, 3 x 1 and 2 x 4. */
    assert_int_equal(12 + 3 + 8, layout_offset(layout, (tile_t){{2, 2}}));
}

/* Of all products of elements each is made once, by a rank that holds the stationary tile, and from
 * one tile of each matrix. */
static void check_cover(const problem_t *problem, int stationary)
{
    const size_t rows = problem->layout[MATRIX_A].shape[ROW];
    const size_t inner = problem->layout[MATRIX_A].shape[COLUMN];
    const size_t columns = problem->layout[MATRIX_B].shape[COLUMN];
    unsigned char *made = calloc(rows * inner, columns);

    assert_non_null(made);
    for (size_t rank = 0; rank < problem->ranks; rank++) {
        products_t products = list_products(problem, stationary, rank);
        for (size_t i = 0; i < products.count; i++) {
            const product_t *product = &products.list[i];
            for (int matrix = 0; matrix < MATRICES; matrix++) {
                assert_true(
                    is_inside(product_slice(product, matrix),
                              layout_tile_bounds(&problem->layout[matrix], product->tile[matrix])));
            }
            const layout_t *layout = &problem->layout[stationary];
            assert_int_equal(rank % layout_members(layout),
                             layout_owner(layout, product->tile[stationary]));
            const range_t *dim = product->dim;
            for (size_t m = dim[DIM_M].begin; m < dim[DIM_M].end; m++) {
                for (size_t k = dim[DIM_K].begin; k < dim[DIM_K].end; k++) {
                    for (size_t n = dim[DIM_N].begin; n < dim[DIM_N].end; n++) {
                        made[(m * inner + k) * columns + n]++;
                    }
                }
            }
        }
        products_fini(&products);
    }
    for (size_t i = 0; i < rows * inner * columns; i++) {
        assert_int_equal(1, made[i]);
    }
    free(made);
}

static void all_products_are_made_once(void **state)
{
    for_random_jobs(check_cover);
}

/* How many tiles of a matrix overlap a box: all are looked at. */
static size_t count_overlapping(const layout_t *layout, range_t rows, range_t columns,
                                tile_t *tiles)
{
    const box_t box = {{rows, columns}};
    size_t count = 0;

    for (size_t i = 0; i < layout_tiles(layout, ROW); i++) {
        for (size_t j = 0; j < layout_tiles(layout, COLUMN); j++) {
            const tile_t tile = {{i, j}};
            if (box_elements(box_overlap(layout_tile_bounds(layout, tile), box)) > 0) {
                tiles[count++] = tile;
            }
        }
    }
    return count;
}

/* The number of products of one tile of C as in algorithm 1 of the paper. */
static size_t count_algorithm_1(const problem_t *problem, tile_t c)
{
    static tile_t a_tiles[MOST_ELEMENTS];
    static tile_t b_tiles[MOST_ELEMENTS];
    const layout_t *a = &problem->layout[MATRIX_A];
    const box_t c_bounds = layout_tile_bounds(&problem->layout[MATRIX_C], c);
    const size_t count =
        count_overlapping(a, c_bounds.side[ROW], (range_t){0, a->shape[COLUMN]}, a_tiles);
    size_t products = 0;

    for (size_t i = 0; i < count; i++) {
        products += count_overlapping(&problem->layout[MATRIX_B],
                                      layout_tile_bounds(a, a_tiles[i]).side[COLUMN],
                                      c_bounds.side[COLUMN], b_tiles);
    }
    return products;
}

static void check_algorithm_1(const problem_t *problem, int stationary)
{
    const layout_t *c = &problem->layout[MATRIX_C];

    if (stationary != MATRIX_C || c->replication > 1) {
        return; /* the algorithm is about this one */
    }
    for (size_t rank = 0; rank < problem->ranks; rank++) {
        products_t products = list_products(problem, stationary, rank);
        size_t expected = 0;
        tile_t tile;
        for (bool more = layout_first_tile(c, rank, &tile); more;
             more = layout_next_tile(c, &tile)) {
            expected += count_algorithm_1(problem, tile);
        }
        assert_int_equal(expected, products.count);
        products_fini(&products);
    }
}

static void the_products_are_as_many_as_in_the_paper(void **state)
{
    for_random_jobs(check_algorithm_1);
}

/* Plays the gets of a rank, PREFETCH products ahead, and looks into the buffers before each
 * product. */
static void check_buffers(const problem_t *problem, int stationary)
{
    struct {
        tile_t tile;
        box_t part;
    } buffer[MATRIX_C][SLOTS];

    for (size_t rank = 0; rank < problem->ranks; rank++) {
        products_t products = list_products(problem, stationary, rank);
        size_t fetched = 0;
        memset(buffer, 0, sizeof buffer);
        for (size_t i = 0; i < products.count; i++) {
            for (; fetched <= i + PREFETCH && fetched < products.count; fetched++) {
                for (int matrix = 0; matrix < MATRIX_C; matrix++) {
                    const operand_t *operand = &products.list[fetched].operand[matrix];
                    if (operand->fetch) {
                        buffer[matrix][operand->slot].tile = products.list[fetched].tile[matrix];
                        buffer[matrix][operand->slot].part = operand->part;
                    }
                }
            }
            for (int matrix = 0; matrix < MATRIX_C; matrix++) {
                const product_t *product = &products.list[i];
                const operand_t *operand = &product->operand[matrix];
                const layout_t *layout = &problem->layout[matrix];
                const bool own =
                    layout_owner(layout, product->tile[matrix]) == rank % layout_members(layout);
                assert_int_equal(own, operand->local);
                assert_true(operand->local || is_inside(product_slice(product, matrix),
                                                        buffer[matrix][operand->slot].part));
                assert_true(operand->local ||
                            memcmp(&product->tile[matrix], &buffer[matrix][operand->slot].tile,
                                   sizeof(tile_t)) == 0);
            }
        }
        products_fini(&products);
    }
}

static void what_is_multiplied_has_been_fetched(void **state)
{
    for_random_jobs(check_buffers);
}

static void check_sums(const problem_t *problem, int stationary)
{
    for (size_t rank = 0; rank < problem->ranks; rank++) {
        products_t products = list_products(problem, stationary, rank);
        for (size_t i = 0; i < products.count; i++) {
            const product_t *product = &products.list[i];
            assert_int_equal(i + 1 == products.count || product[1].first, product->last);
            if (!product->first) {
                const box_t slice = product_slice(product, MATRIX_C);
                const box_t before = product_slice(product - 1, MATRIX_C);
                assert_memory_equal(&before, &slice, sizeof slice);
            }
        }
        products_fini(&products);
    }
}

static void sums_that_are_joined_are_of_one_slice(void **state)
{
    for_random_jobs(check_sums);
}

static void ranks_do_not_begin_with_the_same_tile(void **state)
{
    const job_t job = parse("row,row,row,C", 64, 64, 64, 4);
    bool begun[4] = {false};

    for (size_t rank = 0; rank < 4; rank++) {
        products_t products = list_products(&job.problem, MATRIX_C, rank);
        assert_int_equal(4, products.count);
        const size_t first = products.list[0].tile[MATRIX_B].index[ROW];
        assert_false(begun[first]);
        begun[first] = true;
        products_fini(&products);
    }
}

/* Bytes that are easily found by hand; 64 x 64 floats are 16384 bytes. */
static void bytes_of_simple_cases(void **state)
{
    static const struct {
        const char *job;
        int stationary;
        double tile_bytes;
        double reduce_bytes;
    } rows[] = {
        /* Each of 4 ranks gets the 3 tiles of B that it has not. */
        {"row,row,row,C", MATRIX_C, 3 * 16384, 0},
        /* ... none where it has all of B. */
        {"row,row*4,row,C", MATRIX_C, 0, 0},
        /* Outer product: nothing is got, and of each sum for C 3 of 4 parts go elsewhere. */
        {"col,row,row,A", MATRIX_A, 3 * 16384, 0},
        /* ... all stay where each rank has a C, which is then added up: 2 * 3/4 of 4 copies. */
        {"col,row,row*4,B", MATRIX_B, 0, 2 * 3 * 16384},
        /* Two replicas of C, each with half of the inner dimension: another tile of A, half of one
           of B. */
        {"col,row,block*2,C", MATRIX_C, 4 * (4096 + 2048), 2 * 16384},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const job_t job = parse(rows[i].job, 64, 64, 64, 4);
        cost_t cost;
        assert_true(cost_predict(&job.problem, rows[i].stationary, &cost));
        assert_true(rows[i].tile_bytes == cost.tile_bytes);
        assert_true(rows[i].reduce_bytes == cost.reduce_bytes);
    }
}

static void what_cannot_be_is_refused_with_a_reason(void **state)
{
    static const struct {
        const char *job;
        const char *reason;
    } rows[] = {
        {"row,row,row", "use A,B,C,STAYS"},
        {"row,row,row,D", "is not what stays"},
        {"row,row,row,C,A", "is not what stays"},
        {"rows,row,row,A", "partitioning 'rows' of A: use row"},
        {"row,row*4,row,A", "replication '4' of B: must divide the number of ranks, which is 6"},
        {"row,row*0,row,A", "replication '0' of B"},
        {"row,row*-1,row,A", "replication '-1' of B"},
        {"row,row*2x,row,A", "replication '2x' of B"},
        {"row,row,8x8@2x2,A", "a process grid of 4, but a replica has 6"},
        {"row,row,8x8@2x3*2,A", "a process grid of 6, but a replica has 3"},
        {"row,row,0x8@2x3,A", "at least 1 row"},
        {"row,row,8x-8@2x3,A", "partitioning '8x-8@2x3' of C: use row"},
        {"row,row,8x8@2x3x,A", "partitioning '8x8@2x3x' of C: use row"},
    };
    static const size_t right[DIMS] = {64, 64, 64};
    static const size_t empty[DIMS] = {64, 0, 64};
    static const size_t large[DIMS] = {64, 1 << 30, 64};
    char error[256];
    job_t job;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_false(job_parse(rows[i].job, right, 6, &job, error, sizeof error));
        if (strstr(error, rows[i].reason) == NULL) {
            fail_msg("%s: %s", rows[i].job, error);
        }
    }
    assert_false(job_parse("row,row,row,A", empty, 6, &job, error, sizeof error));
    assert_non_null(strstr(error, "A of 64 x 0"));
    assert_false(job_parse("row,row,row,A", large, 6, &job, error, sizeof error));
    assert_non_null(strstr(error, "at most"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_have_places_of_their_own),
        cmocka_unit_test(an_example_of_tiles),
        cmocka_unit_test(all_products_are_made_once),
        cmocka_unit_test(the_products_are_as_many_as_in_the_paper),
        cmocka_unit_test(what_is_multiplied_has_been_fetched),
        cmocka_unit_test(sums_that_are_joined_are_of_one_slice),
        cmocka_unit_test(ranks_do_not_begin_with_the_same_tile),
        cmocka_unit_test(bytes_of_simple_cases),
        cmocka_unit_test(what_cannot_be_is_refused_with_a_reason),
    };

    printf("# seed %d\n", SEED);
    return cmocka_run_group_tests_name("matmul", tests, NULL, NULL);
}
