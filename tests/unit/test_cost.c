/*
 * The cost model against figures worked out by hand, and at its limits.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "cost_model.h"

/* Numbers to reckon with in the head, no machine's. */
static const cost_model_t round_model = {
    .intra = {.alpha_seconds = 1, .beta_seconds_per_byte = 0.001},
    .inter = {.alpha_seconds = 10, .beta_seconds_per_byte = 0.01},
    .eta = 1.5,
    .gamma_seconds_per_byte = 0.0001,
};

static const unsigned some_nodes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16};
enum { SOME_NODES = sizeof(some_nodes) / sizeof(some_nodes[0]) };

static void assert_close(double expected, double value)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.17g instead of %.17g", value, expected);
    }
}

static void costs_are_those_worked_out_by_hand(void **state)
{
    static const struct {
        const char *algorithm;
        unsigned nodes;
        unsigned ranks_per_node;
        size_t bytes;
        double seconds;
    } rows[] = {
        /* 14 steps of 10 + 10; 7/8 of 8000 bytes added */
        {"ring", 4, 2, 8000, 280.7},
        /* 2 in the chain, 4 x 10 in the tree, 3/2 x 80 for the bytes; 2 x 8000 bytes added */
        {"tree", 4, 2, 8000, 163.6},
        /* one step of 1 + 8, two of 10 + 80; 3 x 8000 bytes added */
        {"doubling", 4, 2, 8000, 191.4},
        /* two steps of 1 + 4 inside, two of 10 + 1.5 x 40 between; 4000 + 2 x 4000 bytes added */
        {"hierarchical", 4, 2, 8000, 151.2},
        /* the same, but 3/4 x 1.5 x 40 for all bytes between the nodes */
        {"hierarchical_printed", 4, 2, 8000, 76.2},
        /* two steps of 1 + 4 inside, six of 10 + 10 between; 4000 + 3/4 x 4000 bytes added */
        {"hierarchical_ring", 4, 2, 8000, 130.7},
        /* no powers of two: fold, one or two steps, unfold */
        {"doubling", 3, 1, 1000, 60.2},
        {"doubling", 3, 2, 6000, 281.8},
        {"hierarchical", 3, 1, 1000, 75.2},
        /* the same inside; four messages of 10, 3/2 x 40 for the bytes; 4000 + 3000 bytes added */
        {"hierarchical_halving", 4, 2, 8000, 110.7},
        /* there and back 10 + 10, two messages of 10 + 5; 1000 + 500 bytes added */
        {"hierarchical_halving", 3, 1, 1000, 70.15},
        {"hierarchical", 7, 1, 1000, 100.3},
        /* four steps up and down a tree of three, 4/3 of 10 for the bytes; 1000 added */
        {"tree", 3, 1, 1000, 40 + 40.0 / 3 + 0.1},
        /* latency alone */
        {"ring", 2, 2, 0, 60},
        {"tree", 2, 2, 0, 22},
        {"doubling", 2, 2, 0, 11},
        {"hierarchical", 2, 2, 0, 12},
        {"hierarchical_printed", 2, 2, 0, 12},
        {"hierarchical_ring", 2, 2, 0, 22},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        const cost_algorithm_t *algorithm = cost_algorithm_by_name(rows[i].algorithm);
        assert_non_null(algorithm);
        assert_close(rows[i].seconds, algorithm->seconds(&round_model, rows[i].nodes,
                                                         rows[i].ranks_per_node, rows[i].bytes));
    }
}

/* ---- limits ---- */

static void one_rank_has_nothing_to_do(void **state)
{
    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        assert_true(0 == cost_algorithms[i].seconds(&round_model, 1, 1, 1000));
    }
}

static void one_node_does_not_ask_the_network(void **state)
{
    cost_model_t no_network = round_model;

    no_network.inter = (cost_level_t){1e30, 1e30};
    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        cost_seconds_fn_t seconds = cost_algorithms[i].seconds;
        assert_close(seconds(&round_model, 1, 6, 6000), seconds(&no_network, 1, 6, 6000));
        assert_true(seconds(&round_model, 1, 6, 6000) > 0);
    }
    double ring = cost_ring_seconds(&round_model, 1, 6, 6000);
    assert_close(ring, cost_hierarchical_seconds(&round_model, 1, 6, 6000));
    assert_close(ring, cost_hierarchical_ring_seconds(&round_model, 1, 6, 6000));
}

static void one_rank_per_node_does_not_ask_the_node(void **state)
{
    cost_model_t no_memory = round_model;

    no_memory.intra = (cost_level_t){1e30, 1e30};
    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        cost_seconds_fn_t seconds = cost_algorithms[i].seconds;
        assert_close(seconds(&round_model, 8, 1, 6000), seconds(&no_memory, 8, 1, 6000));
    }
    cost_model_t no_flags = round_model;
    no_flags.eta = 1;
    for (unsigned n = 0; n < SOME_NODES; ++n) {
        assert_close(cost_doubling_seconds(&no_flags, some_nodes[n], 1, 6000),
                     cost_hierarchical_seconds(&no_flags, some_nodes[n], 1, 6000));
        assert_close(cost_ring_seconds(&no_flags, some_nodes[n], 1, 6000),
                     cost_hierarchical_ring_seconds(&no_flags, some_nodes[n], 1, 6000));
    }
}

static void more_bytes_or_more_nodes_never_take_less(void **state)
{
    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        cost_seconds_fn_t seconds = cost_algorithms[i].seconds;
        for (unsigned nodes = 1; nodes <= 4096; nodes *= 2) {
            for (size_t bytes = 1; bytes <= (size_t) 1 << 30; bytes *= 2) {
                double here = seconds(&round_model, nodes, 4, bytes);
                assert_true(here < seconds(&round_model, nodes, 4, 2 * bytes));
                assert_true(here < seconds(&round_model, 2 * nodes, 4, bytes));
            }
        }
    }
}

/* Every rank must get at least 2 (N-1)/N of a vector through its link. */
static void only_the_printed_equation_is_below_the_least_possible(void **state)
{
    const cost_model_t only_bytes = {.inter = {.beta_seconds_per_byte = 1}, .eta = 1};
    const double bytes = 6720;

    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        for (unsigned n = 1; n < SOME_NODES; ++n) {
            const double nodes = some_nodes[n];
            const double least = 2 * (nodes - 1) / nodes * bytes;
            double seconds =
                cost_algorithms[i].seconds(&only_bytes, some_nodes[n], 1, (size_t) bytes);
            if (cost_hierarchical_printed_seconds == cost_algorithms[i].seconds) {
                assert_close(least / 2, seconds);
            } else {
                assert_true(seconds >= least * (1 - 1e-12));
            }
        }
    }
}

/* ---- crossover ---- */

static void doubling_and_ring_change_places_where_worked_out_by_hand(void **state)
{
    /* 4 nodes of 1: 2 (8 + m/128) = 6 (8 + m/4/128) at m = 8192, exact in binary. */
    const cost_model_t model = {.inter = {.alpha_seconds = 8, .beta_seconds_per_byte = 1.0 / 128},
                                .eta = 1};
    size_t bytes = 0;

    assert_int_equal(ARC_OK, cost_crossover_find(&model, cost_doubling_seconds, cost_ring_seconds,
                                                 4, 1, 0, SIZE_MAX, &bytes));
    assert_int_equal(8192, bytes);
    assert_int_equal(ARC_OK, cost_crossover_find(&model, cost_doubling_seconds, cost_ring_seconds,
                                                 4, 1, 8191, 8192, &bytes));
    assert_int_equal(8192, bytes);
}

static void on_both_sides_of_a_crossover_another_one_wins(void **state)
{
    unsigned found = 0;

    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        for (size_t k = 0; k < cost_algorithms_count; ++k) {
            cost_seconds_fn_t small = cost_algorithms[i].seconds;
            cost_seconds_fn_t large = cost_algorithms[k].seconds;
            size_t bytes = 0;
            if (ARC_OK ==
                cost_crossover_find(&round_model, small, large, 16, 4, 1, 1 << 30, &bytes)) {
                ++found;
                assert_true(small(&round_model, 16, 4, bytes - 1) <
                            large(&round_model, 16, 4, bytes - 1));
                assert_true(small(&round_model, 16, 4, bytes) >= large(&round_model, 16, 4, bytes));
                assert_int_equal(ARC_UNSUPPORTED, cost_crossover_find(&round_model, large, small,
                                                                      16, 4, 1, 1 << 30, &bytes));
            }
        }
    }
    assert_true(found > 0);
}

static void no_crossover_leaves_the_result_alone(void **state)
{
    const cost_model_t model = {.inter = {.alpha_seconds = 8, .beta_seconds_per_byte = 1.0 / 128},
                                .eta = 1};
    static const struct {
        cost_seconds_fn_t small;
        cost_seconds_fn_t large;
        size_t min_bytes;
        size_t max_bytes;
        arc_status_t status;
    } rows[] = {
        {cost_doubling_seconds, cost_doubling_seconds, 0, SIZE_MAX, ARC_UNSUPPORTED},
        {cost_ring_seconds, cost_doubling_seconds, 0, SIZE_MAX, ARC_UNSUPPORTED},
        {cost_doubling_seconds, cost_ring_seconds, 0, 8191, ARC_UNSUPPORTED},
        {cost_doubling_seconds, cost_ring_seconds, 8192, SIZE_MAX, ARC_UNSUPPORTED},
        {cost_doubling_seconds, cost_ring_seconds, 2, 1, ARC_ERR_INVALID},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        size_t bytes = 42;
        assert_int_equal(rows[i].status,
                         cost_crossover_find(&model, rows[i].small, rows[i].large, 4, 1,
                                             rows[i].min_bytes, rows[i].max_bytes, &bytes));
        assert_int_equal(42, bytes);
    }
}

static void algorithms_are_found_by_name(void **state)
{
    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        assert_ptr_equal(&cost_algorithms[i], cost_algorithm_by_name(cost_algorithms[i].name));
    }
    assert_null(cost_algorithm_by_name("no such algorithm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_worked_out_by_hand),
        cmocka_unit_test(one_rank_has_nothing_to_do),
        cmocka_unit_test(one_node_does_not_ask_the_network),
        cmocka_unit_test(one_rank_per_node_does_not_ask_the_node),
        cmocka_unit_test(more_bytes_or_more_nodes_never_take_less),
        cmocka_unit_test(only_the_printed_equation_is_below_the_least_possible),
        cmocka_unit_test(doubling_and_ring_change_places_where_worked_out_by_hand),
        cmocka_unit_test(on_both_sides_of_a_crossover_another_one_wins),
        cmocka_unit_test(no_crossover_leaves_the_result_alone),
        cmocka_unit_test(algorithms_are_found_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
