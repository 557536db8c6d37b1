/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "growth.h"
#include "quant_mse.h"

static void assert_close(double expected, double value, double tolerance)
{
    assert_true(fabs(value / expected - 1) < tolerance);
}

/* Tabulated values of the integral, to their last digit. */
TEST(coefficients_of_int8_are_those_of_the_table)
{
    static const struct {
        unsigned block_rows;
        double coefficient;
    } rows[] = {{16, 2.282e-5},   {32, 2.907e-5},   {64, 3.546e-5},
                {128, 4.195e-5},  {256, 4.850e-5},  {512, 5.510e-5},
                {1024, 6.176e-5}, {2048, 6.845e-5}, {4096, 7.518e-5}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        assert_close(rows[i].coefficient,
                     quant_error_coefficient(&quant_format_int8, rows[i].block_rows), 2e-4);
    }
}

/* So what meets a target with the longest blocks meets it with all others. */
TEST(longer_blocks_never_have_less_error)
{
    const quant_format_t *format = NULL;

    for (size_t f = 0; NULL != (format = quant_format_at(f)); ++f) {
        double last = 0;
        for (unsigned rows = QUANT_BLOCK_ROWS_MIN; rows <= QUANT_BLOCK_ROWS_MAX;
             rows += rows / QUANT_BLOCK_ROWS_MIN) {
            const double c = quant_error_coefficient(format, rows);
            assert_true(c >= last * (1 - 1e-9));
            last = c;
        }
    }
}

static double growth_of(const quant_algo_t *algo, unsigned ranks)
{
    const exchange_shape_t shape = exchange_shape_flat(ranks);
    return exchange_tree_reduce_growth(algo->tree, &shape);
}

TEST(growth_is_the_closed_form_of_the_algorithm)
{
    static const struct {
        unsigned algo;
        double (*growth)(unsigned ranks);
        double of_8;
        double of_16;
    } rows[] = {
        {QUANT_ALGO_full_loop, growth_of_loop, 28, 120},
        {QUANT_ALGO_semi_loop, growth_of_semi_loop, 16, 64},
        {QUANT_ALGO_direct, growth_of_direct, 7, 15},
        {QUANT_ALGO_recursive_halving, growth_of_halving, 12, 32},
        {QUANT_ALGO_hierarchical, growth_of_nodes, 16, 64},
    };
    size_t algos = 0;

    for (; NULL != quant_algo_at(algos); ++algos) {
    }
    assert_int_equal(algos, sizeof(rows) / sizeof(rows[0]));
    for (size_t i = 0; i < algos; ++i) {
        const quant_algo_t *algo = quant_algo_at(rows[i].algo);
        assert_true(rows[i].of_8 == growth_of(algo, 8));
        assert_true(rows[i].of_16 == growth_of(algo, 16));
        for (unsigned ranks = 1; ranks <= 65; ++ranks) {
            assert_true(rows[i].growth(ranks) == growth_of(algo, ranks));
        }
    }
}

/* What is exact adds nothing; a message between nodes has the parts of a whole node. */
TEST(with_levels_only_nodes_count_each_with_all_its_ranks)
{
    const quant_algo_t *algo = quant_algo_at(QUANT_ALGO_hierarchical);
    const double c = quant_error_coefficient(&quant_format_int8, 64);

    for (unsigned nodes = 1; nodes <= 33; ++nodes) {
        for (unsigned p = 1; p <= 9; ++p) {
            const exchange_shape_t shape = {.nodes = nodes, .per_node = p};
            const quant_config_t config = {.algo = algo,
                                           .reduce_format = &quant_format_int8,
                                           .gather_format = &quant_format_int8,
                                           .block_rows = 64,
                                           .per_node = p};
            const double growth = p * growth_of_nodes(nodes);

            assert_true(growth == exchange_tree_reduce_growth(algo->tree, &shape));
            assert_close((growth + nodes * p) * c, quant_error_mse(&config, nodes * p, 1), 1e-12);
        }
    }
    /* Other algorithms do not care. */
    const quant_config_t config = {.algo = quant_algo_at(QUANT_ALGO_full_loop),
                                   .reduce_format = &quant_format_int8,
                                   .gather_format = &quant_format_fp32,
                                   .block_rows = 64,
                                   .per_node = 2};
    assert_close(28 * c, quant_error_mse(&config, 8, 1), 1e-12);
}

TEST(the_stages_add_up)
{
    const quant_algo_t *ring = quant_algo_at(QUANT_ALGO_full_loop);
    const quant_config_t reduce = {.algo = ring,
                                   .reduce_format = &quant_format_int8,
                                   .gather_format = &quant_format_fp32,
                                   .block_rows = 64};
    const quant_config_t gather = {.algo = ring,
                                   .reduce_format = &quant_format_fp32,
                                   .gather_format = &quant_format_int8,
                                   .block_rows = 64};
    const double c = quant_error_coefficient(&quant_format_int8, 64);

    assert_close(28 * c, quant_error_mse(&reduce, 8, 1), 1e-12);
    assert_close(8 * c, quant_error_mse(&gather, 8, 1), 1e-12);
    assert_close(8 * c * 4, quant_error_mse(&gather, 8, 4), 1e-12);
}
