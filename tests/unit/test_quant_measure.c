/*
 * Measuring an error: figures that can be computed by hand, and values that are not finite.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_measure.h"

enum { MOST = 6 };

TEST(examples_are_measured_as_computed_by_hand)
{
    static const struct {
        bool doubles;
        size_t elems;
        double result[MOST];
        double exact[MOST];
        quant_measure_t measure;
    } rows[] = {
        /* clang-format off */
        {false, 4, {3.5, -4, 1, 10}, {3, -4, 0, 12}, {(0.25 + 1 + 4) / (9 + 16 + 144), 2}},
        {false, 6, {0, -1, NAN, INFINITY, -INFINITY, 3e38}, {0, -1, NAN, INFINITY, -INFINITY, 3e38}, {0, 0}},
        /* What is zero has no relation. */
        {false, 2, {0, 0}, {0, 0}, {0, 0}},
        {false, 2, {0, 1}, {0, 0}, {INFINITY, 1}},
        /* What is finite on one side only is infinitely wrong. */
        {false, 2, {NAN, 2}, {1, 2}, {INFINITY, INFINITY}},
        {false, 2, {1, 2}, {NAN, 2}, {INFINITY, INFINITY}},
        {false, 2, {INFINITY, 2}, {1, 2}, {INFINITY, INFINITY}},
        {false, 2, {1, 2}, {-INFINITY, 2}, {INFINITY, INFINITY}},
        {false, 2, {INFINITY, 2}, {-INFINITY, 2}, {INFINITY, INFINITY}},
        {false, 2, {NAN, 2}, {INFINITY, 2}, {INFINITY, INFINITY}},
        {true, 2, {INFINITY, 1.7e308}, {1.7e308, 1.7e308}, {INFINITY, INFINITY}},
        /* Others are measured all the same. */
        {false, 3, {INFINITY, 3, NAN}, {INFINITY, 2, NAN}, {0.25, 1}},
        /* The largest do not overflow, and what is double stays so. */
        {false, 2, {0x1p127, -0x1p127}, {0x1p127, 0x1p127}, {2, 0x1p128}},
        {true, 3, {1, 1e300, 4 + 1e-12}, {1, 1e300, 4}, {0, (4 + 1e-12) - 4}},
        /* clang-format on */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const bool doubles = rows[i].doubles;
        float result[MOST];
        float exact[MOST];
        for (size_t k = 0; k < MOST && !doubles; ++k) {
            result[k] = (float) rows[i].result[k];
            exact[k] = (float) rows[i].exact[k];
        }
        const quant_measure_t measure =
            quant_measure(doubles ? (const void *) rows[i].result : result,
                          doubles ? (const void *) rows[i].exact : exact, doubles, rows[i].elems);
        assert_true(measure.nmse == rows[i].measure.nmse);
        assert_true(measure.error == rows[i].measure.error);
    }
}

/* Where the squares of the numbers are no doubles. */
TEST(doubles_of_any_size_are_measured)
{
    static const double sizes[] = {1e-300, 1e-170, 1e-100, 1, 1e100, 1e160, 1e300};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const double exact[] = {3 * sizes[i], -4 * sizes[i]};
        const double result[] = {3 * sizes[i], -5 * sizes[i]};
        const quant_measure_t measure = quant_measure(result, exact, true, 2);
        assert_true(fabs(measure.nmse - 1.0 / 25) < 1e-15);
        assert_true(fabs(measure.error / sizes[i] - 1) < 1e-15);
    }
}

TEST(each_number_is_raised_by_itself)
{
    quant_measure_t largest = {.nmse = 2, .error = 3};
    const quant_measure_t other = {.nmse = 1, .error = 4};

    quant_measure_raise(&largest, &other);
    assert_true(largest.nmse == 2 && largest.error == 4);
}
