/*
 * Strategies of sharded products: which there are, and that the worked problems of the text come
 * out as it says, within 2 % (Austin et al., questions 4 to 7 and 9).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "layout.h"
#include "strategy.h"

static const double text_tolerance = 0.02;
static const double exact = 1e-12;
enum { MOST_EXTENT = 1 << 20 };

/* Bytes of bfloat16; rates of the text. */
typedef struct tpu {
    double w_ici; /* both directions */
    double flops_per_second;
} tpu_t;
static const tpu_t v4p = {9e10, 2.75e14};
static const tpu_t v5e = {9e10, 1.97e14};
static const tpu_t v5p = {1.8e11, 4.59e14};

static void assert_within(double expected, double value, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected))) {
        fail_msg("%.6g instead of %.6g", value, expected);
    }
}

static shard_problem_t problem_of(const tpu_t *tpu, const char *mesh, const char *product, size_t i,
                                  size_t j, size_t k)
{
    const shard_link_t link = {tpu->w_ici / 2, 1e-6, false};
    shard_problem_t problem = {.network = {.topology = SHARD_TORUS,
                                           .link = {link, link, link},
                                           .flops_per_second = tpu->flops_per_second,
                                           .overlapped = true},
                               .shape = {{i, j, k}},
                               .element_bytes = 2};
    char error[SHARD_ERROR_BYTES];

    if (!shard_mesh_parse(mesh, &problem.mesh, error) ||
        !shard_product_parse(product, &problem.mesh, &problem.product, error)) {
        fail_msg("%s", error);
    }
    return problem;
}

/* The strategy that is printed so. */
static shard_strategy_t strategy_of(const shard_problem_t *problem, const char *text)
{
    shard_strategy_t strategies[SHARD_MAX_STRATEGIES];
    const unsigned count = shard_strategies_find(problem, strategies);

    for (unsigned s = 0; s < count; ++s) {
        char own[SHARD_STRATEGY_TEXT_BYTES];
        shard_strategy_print(problem, &strategies[s], own);
        if (0 == strcmp(own, text)) {
            return strategies[s];
        }
    }
    fail_msg("no strategy %s", text);
    return strategies[0];
}

/* The four cases on a mesh of one axis: all strategies, and no others. */
static void one_axis_has_four_strategies(void **state)
{
    static const struct {
        const char *product;
        const char *strategies[4];
    } rows[] = {
        {"A[I_X,J] B[J,K] -> C[I_X,K]",
         {"A[I_X,J] B[J,K] -> C[I_X,K]",
          "AllToAll_X A, Slice_X B, A[I,J_X] B[J_X,K] -> C[I,K]{U_X}, ReduceScatter_X C",
          "AllGather_X A, Slice_X B, A[I,J] B[J,K_X] -> C[I,K_X], AllToAll_X C",
          "AllGather_X A, A[I,J] B[J,K] -> C[I,K], Slice_X C"}},
        {"A[I,J_X] B[J,K] -> C[I,K]",
         {"AllGather_X A, A[I,J] B[J,K] -> C[I,K]",
          "Slice_X B, A[I,J_X] B[J_X,K] -> C[I,K]{U_X}, AllReduce_X C",
          "AllToAll_X A, A[I_X,J] B[J,K] -> C[I_X,K], AllGather_X C",
          "AllGather_X A, Slice_X B, A[I,J] B[J,K_X] -> C[I,K_X], AllGather_X C"}},
        {"A[I,J_X] B[J_X,K] -> C[I,K_X]",
         {"A[I,J_X] B[J_X,K] -> C[I,K]{U_X}, ReduceScatter_X C",
          "AllGather_X A, AllGather_X B, A[I,J] B[J,K] -> C[I,K], Slice_X C",
          "AllGather_X A, AllToAll_X B, A[I,J] B[J,K_X] -> C[I,K_X]",
          "AllToAll_X A, AllGather_X B, A[I_X,J] B[J,K] -> C[I_X,K], AllToAll_X C"}},
        {"A[I_X,J] B[J,K_X] -> C[I_X,K]",
         {"AllGather_X B, A[I_X,J] B[J,K] -> C[I_X,K]",
          "AllGather_X A, A[I,J] B[J,K_X] -> C[I,K_X], AllToAll_X C",
          "AllToAll_X A, AllToAll_X B, A[I,J_X] B[J_X,K] -> C[I,K]{U_X}, ReduceScatter_X C",
          "AllGather_X A, AllGather_X B, A[I,J] B[J,K] -> C[I,K], Slice_X C"}},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        const shard_problem_t problem = problem_of(&v4p, "X=4", rows[i].product, 64, 64, 64);
        shard_strategy_t strategies[SHARD_MAX_STRATEGIES];
        assert_int_equal(shard_strategies_find(&problem, strategies), 4);
        for (unsigned s = 0; s < 4; ++s) {
            (void) strategy_of(&problem, rows[i].strategies[s]);
        }
    }
}

/* Each step begins where the last one ended, and the results are where they are asked for. */
static void every_strategy_ends_with_the_result(void **state)
{
    static const char *const products[] = {
        "A[I_X,J_Y] B[J_Y,K_Z] -> C[I_X,K_Z]", "A[I_XY,J] B[J_Z,K] -> C[I,K_YX]",
        "A[I_ZY,J_X] B[J,K_XYZ] -> C[I_Y,K_Z]", "A[I,J] B[J,K] -> C[I,K]"};

    (void) state;
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); ++i) {
        const shard_problem_t problem = problem_of(&v4p, "X=2,Y=2,Z=2", products[i], 64, 64, 64);
        shard_strategy_t strategies[SHARD_MAX_STRATEGIES];
        const unsigned count = shard_strategies_find(&problem, strategies);
        assert_in_range(count, 10, SHARD_MAX_STRATEGIES);
        double before = 0;
        for (unsigned s = 0; s < count; ++s) {
            const shard_strategy_t *strategy = &strategies[s];
            for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
                shard_layout_t layout =
                    SHARD_C == m ? strategy->layout[m] : problem.product.layout[m];
                for (unsigned step = 0; step < strategy->steps[m].count; ++step) {
                    shard_step_apply(&strategy->steps[m].step[step], &layout);
                }
                assert_true(shard_layout_equal(&layout, SHARD_C == m ? &problem.product.layout[m]
                                                                     : &strategy->layout[m]));
            }
            const double seconds = shard_strategy_cost(&problem, strategy).seconds;
            assert_true(seconds >= before);
            before = seconds;
        }
    }
}

/* Parts of 6 rows over 4 ranks there are none: strategies that need them are left out. */
static void parts_that_do_not_divide_are_left_out(void **state)
{
    const shard_problem_t problem = problem_of(&v4p, "X=4", "A[I,J_X] B[J,K] -> C[I,K]", 6, 64, 6);
    shard_strategy_t strategies[SHARD_MAX_STRATEGIES];

    (void) state;
    assert_int_equal(shard_strategies_find(&problem, strategies), 2);
}

/* ---- question 4: gather Y, or multiply the shards and reduce? ---- */

static const char *const gather_first = "AllGather_X B, A[I,J] B[J,K] -> C[I,K]";
static const char *const reduce_after =
    "Slice_X A, A[I,J_X] B[J_X,K] -> C[I,K]{U_X}, AllReduce_X C";

static shard_problem_t question_4(size_t batch, size_t d)
{
    return problem_of(&v4p, "X=4", "A[I,J] B[J_X,K] -> C[I,K]", batch, d, 32768);
}

/* The least extent of a dimension with which a strategy computes longer than it communicates. */
static double compute_bound_from(const shard_problem_t *problem, const shard_strategy_t *strategy,
                                 shard_dimension_t dimension, size_t step)
{
    shard_problem_t sized = *problem;
    shard_cost_t cost;

    sized.shape.extent[dimension] = 0;
    do {
        sized.shape.extent[dimension] += step;
        cost = shard_strategy_cost(&sized, strategy);
    } while (cost.compute_seconds <= cost.communication_seconds);
    return (double) sized.shape.extent[dimension];
}

static void question_4_costs_what_the_text_says(void **state)
{
    const double b = 1024;
    const double d = 8192;
    const double f = 32768;
    const shard_problem_t problem = question_4((size_t) b, (size_t) d);
    const shard_strategy_t gather = strategy_of(&problem, gather_first);
    const shard_strategy_t reduce = strategy_of(&problem, reduce_after);
    const shard_cost_t option_1 = shard_strategy_cost(&problem, &reduce);
    const shard_cost_t option_2 = shard_strategy_cost(&problem, &gather);

    (void) state;
    assert_within(2 * b * d * f / 4, option_1.flops, exact);
    assert_within(4 * b * f / v4p.w_ici, option_1.communication_seconds, exact);
    assert_within(2 * b * d * f, option_2.flops, exact);
    assert_within(2 * d * f / v4p.w_ici, option_2.communication_seconds, exact);
    assert_within(fmax(2 * b * d * f / v4p.flops_per_second, 2 * d * f / v4p.w_ici),
                  option_2.seconds, exact);
}

static void question_4_crosses_where_the_text_says(void **state)
{
    const shard_problem_t small = question_4(1024, 4096);
    const shard_problem_t large = question_4(8192, 8192);
    const shard_strategy_t gather = strategy_of(&small, gather_first);
    const shard_strategy_t reduce = strategy_of(&small, reduce_after);

    (void) state;
    /* C/W is 3000: gathering first is compute-bound from that batch on ... */
    assert_within(3000, compute_bound_from(&small, &gather, SHARD_I, 1), text_tolerance);
    /* ... and reducing from D = 2 |X| 3000 on, with D = 8000 for |X| < 8000/6000 = 1.33 only */
    assert_within(2 * 4 * 3000, compute_bound_from(&small, &reduce, SHARD_J, 4), text_tolerance);
    /* B < 3000: reducing is faster where D > 2 B */
    assert_within(4096 / 2.0,
                  (double) shard_strategy_crossover(&small, &reduce, &gather, SHARD_I, 3000),
                  0.001);
    /* B > 3000: where D > 2 C/W, 6000 */
    assert_within(6000,
                  (double) shard_strategy_crossover(&large, &reduce, &gather, SHARD_J, MOST_EXTENT),
                  text_tolerance);
}

/* ---- question 5: minimum latency on 4x4x4, all three inputs as one likes ---- */

static void question_5_comes_out_as_in_the_text(void **state)
{
    const double i = 16384;
    const double j = 16384;
    const double k = 16384;
    const shard_problem_t problem = problem_of(&v5p, "X=4,Y=4,Z=4", "A[I,J] B[J,K] -> C[I,K]",
                                               (size_t) i, (size_t) j, (size_t) k);
    const shard_strategy_t options[] = {
        strategy_of(&problem, "A[I,J] B[J,K] -> C[I,K]"),
        strategy_of(&problem, "Slice_XYZ A, A[I_XYZ,J] B[J,K] -> C[I_XYZ,K], AllGather_XYZ C"),
        strategy_of(&problem, "Slice_XYZ A, Slice_XYZ B, A[I,J_XYZ] B[J_XYZ,K] -> "
                              "C[I,K]{U_XYZ}, AllReduce_XYZ C"),
        strategy_of(&problem, "Slice_XYZ B, A[I,J] B[J,K_XYZ] -> C[I,K_XYZ], AllGather_XYZ C"),
    };
    shard_cost_t cost[4];

    (void) state;
    for (unsigned option = 0; option < 4; ++option) {
        cost[option] = shard_strategy_cost(&problem, &options[option]);
        assert_within(2 * i * j * k / v5p.flops_per_second / (0 == option ? 1 : 64),
                      cost[option].compute_seconds, exact);
    }
    assert_true(0 == cost[0].communication_seconds);
    assert_within(2 * i * k / (3 * v5p.w_ici), cost[1].communication_seconds, exact);
    assert_within(2 * cost[1].communication_seconds, cost[2].communication_seconds, exact);
    assert_within(cost[1].communication_seconds, cost[3].communication_seconds, exact);
    /* C / 3W is 850: replicate all below, cut I or K from there on */
    assert_within(
        850,
        (double) shard_strategy_crossover(&problem, &options[0], &options[1], SHARD_J, MOST_EXTENT),
        text_tolerance);
}

/* With J = 4096 nothing is faster than to cut I, or K, over all axes. */
static void question_5_finds_the_least_latency(void **state)
{
    const shard_problem_t problem =
        problem_of(&v5p, "X=4,Y=4,Z=4", "A[I,J] B[J,K] -> C[I,K]", 16384, 4096, 16384);
    const shard_strategy_t rows =
        strategy_of(&problem, "Slice_XYZ A, A[I_XYZ,J] B[J,K] -> C[I_XYZ,K], AllGather_XYZ C");
    shard_strategy_t strategies[SHARD_MAX_STRATEGIES];

    (void) state;
    assert_true(shard_strategies_find(&problem, strategies) > 0);
    assert_within(shard_strategy_cost(&problem, &rows).seconds,
                  shard_strategy_cost(&problem, &strategies[0]).seconds, exact);
}

/* ---- questions 6, 7 and 9 ---- */

static void question_6_communicates_as_the_text_says(void **state)
{
    static const struct {
        const char *product;
        const char *fastest;
    } rows[] = {
        {"A[I_X,J_Y] B[J_Y,K] -> C[I_X,K]", "A[I_X,J_Y] B[J_Y,K] -> C[I_X,K]{U_Y}, AllReduce_Y C"},
        {"A[I_X,J] B[J_X,K_Y] -> C[I_X,K_Y]", "AllGather_X B, A[I_X,J] B[J,K_Y] -> C[I_X,K_Y]"},
        {"A[I_X,J] B[J,K_Y] -> C[I_X,K_Y]", "A[I_X,J] B[J,K_Y] -> C[I_X,K_Y]"},
    };
    const double i = 16384;
    const double j = 32768;
    const double k = 8192;
    shard_cost_t cost[3];

    (void) state;
    for (unsigned row = 0; row < 3; ++row) {
        const shard_problem_t problem =
            problem_of(&v5e, "X=4,Y=4", rows[row].product, (size_t) i, (size_t) j, (size_t) k);
        const shard_strategy_t strategy = strategy_of(&problem, rows[row].fastest);
        cost[row] = shard_strategy_cost(&problem, &strategy);
    }
    assert_within(4 * i * k / (4 * 9e10), cost[0].communication_seconds, text_tolerance);
    assert_within(i * j * k / 8 / 1.97e14, cost[0].compute_seconds, text_tolerance);
    assert_within(2 * j * k / 4 / 9e10, cost[1].communication_seconds, text_tolerance);
    assert_true(0 == cost[2].communication_seconds);
}

/* D = 8192, F = 32768 on 2x2: B and C of 2^29 bytes, T[D,D] of 2^27, and less than 300 MB on each.
 */
static void question_7_has_the_bytes_of_the_text(void **state)
{
    const shard_problem_t problem =
        problem_of(&v5e, "X=2,Y=2", "A[I,J_XY] B[J_XY,K] -> C[I,K]", 8192, 32768, 8192);
    const shard_strategy_t strategy =
        strategy_of(&problem, "A[I,J_XY] B[J_XY,K] -> C[I,K]{U_XY}, AllReduce_XY C");
    double held = 0;

    (void) state;
    for (shard_matrix_t m = SHARD_A; m <= SHARD_B; ++m) {
        const double bytes = 2 * (double) shard_local_elements(&problem.mesh, &problem.shape, m,
                                                               &problem.product.layout[m]);
        assert_within(1 << 29, 4 * bytes, exact);
        held += bytes;
    }
    assert_true(held < 300e6);
    assert_within(1 << 27, shard_strategy_cost(&problem, &strategy).array_bytes, exact);
}

/* NM/W to gather A first, NK/W to scatter the sums. */
static void question_9_compares_as_the_text_says(void **state)
{
    const double n = 4096;
    const double m = 8192;
    const double k = 2048;
    const shard_problem_t problem =
        problem_of(&v4p, "X=4", "A[I,J_X] B[J,K] -> C[I,K_X]", (size_t) n, (size_t) m, (size_t) k);
    const shard_strategy_t gather =
        strategy_of(&problem, "AllGather_X A, Slice_X B, A[I,J] B[J,K_X] -> C[I,K_X]");
    const shard_strategy_t scatter =
        strategy_of(&problem, "Slice_X B, A[I,J_X] B[J_X,K] -> C[I,K]{U_X}, ReduceScatter_X C");

    (void) state;
    assert_within(2 * n * m / v4p.w_ici,
                  shard_strategy_cost(&problem, &gather).communication_seconds, exact);
    assert_within(2 * n * k / v4p.w_ici,
                  shard_strategy_cost(&problem, &scatter).communication_seconds, exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_axis_has_four_strategies),
        cmocka_unit_test(every_strategy_ends_with_the_result),
        cmocka_unit_test(parts_that_do_not_divide_are_left_out),
        cmocka_unit_test(question_4_costs_what_the_text_says),
        cmocka_unit_test(question_4_crosses_where_the_text_says),
        cmocka_unit_test(question_5_comes_out_as_in_the_text),
        cmocka_unit_test(question_5_finds_the_least_latency),
        cmocka_unit_test(question_6_communicates_as_the_text_says),
        cmocka_unit_test(question_7_has_the_bytes_of_the_text),
        cmocka_unit_test(question_9_compares_as_the_text_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
