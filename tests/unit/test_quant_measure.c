/*
 * Measuring an error: figures that can be computed by hand, and values that are not finite.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_measure.h"

TEST(the_numbers_are_what_they_are_called)
{
    const float exact[] = {3, -4, 0, 12};
    const float result[] = {3.5f, -4, 1, 10};
    const quant_measure_t measure = quant_measure(result, exact, false, 4);

    assert_true(measure.nmse == (0.25 + 1 + 4) / (9 + 16 + 144));
    assert_true(measure.error == 2);
}

TEST(equal_vectors_have_no_error)
{
    const float values[] = {0, -1, NAN, INFINITY, -INFINITY, 3e38f};
    const quant_measure_t measure = quant_measure(values, values, false, 6);

    assert_true(measure.nmse == 0 && measure.error == 0);
}

TEST(a_zero_result_has_no_relation)
{
    const float zeros[] = {0, 0};
    const float result[] = {0, 1};

    assert_true(quant_measure(zeros, zeros, false, 2).nmse == 0);
    assert_true(isinf(quant_measure(result, zeros, false, 2).nmse));
}

TEST(what_is_finite_on_one_side_only_is_infinitely_wrong)
{
    static const float pairs[][2] = {
        {NAN, 1}, {1, NAN}, {INFINITY, 1}, {1, -INFINITY}, {INFINITY, -INFINITY}, {NAN, INFINITY}};

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        const float result[] = {pairs[i][0], 2};
        const float exact[] = {pairs[i][1], 2};
        const quant_measure_t measure = quant_measure(result, exact, false, 2);
        assert_true(isinf(measure.nmse) && isinf(measure.error));
    }
}

TEST(values_that_are_not_finite_leave_the_others_measured)
{
    const float exact[] = {INFINITY, 2, NAN};
    const float result[] = {INFINITY, 3, NAN};
    const quant_measure_t measure = quant_measure(result, exact, false, 3);

    assert_true(measure.nmse == 0.25);
    assert_true(measure.error == 1);
}

TEST(the_largest_floats_do_not_overflow)
{
    const float exact[] = {3e38f, 3e38f};
    const float result[] = {3e38f, -3e38f};
    const quant_measure_t measure = quant_measure(result, exact, false, 2);

    assert_true(measure.nmse == 2);
    assert_true(measure.error == 2 * (double) 3e38f);
}

TEST(doubles_are_measured_as_doubles)
{
    const double exact[] = {1, 1e300, 4};
    const double result[] = {1, 1e300, 4 + 1e-12};
    const quant_measure_t measure = quant_measure(result, exact, true, 3);

    assert_true(measure.error == result[2] - 4 && measure.error > 0);
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

TEST(an_infinite_error_of_the_largest_doubles_is_infinite)
{
    const double exact[] = {1.7e308, 1.7e308};
    const double result[] = {INFINITY, 1.7e308};
    const quant_measure_t measure = quant_measure(result, exact, true, 2);

    assert_true(isinf(measure.nmse) && isinf(measure.error));
}

TEST(each_number_is_raised_by_itself)
{
    quant_measure_t largest = {.nmse = 2, .error = 3};
    const quant_measure_t other = {.nmse = 1, .error = 4};

    quant_measure_raise(&largest, &other);
    assert_true(largest.nmse == 2 && largest.error == 4);
}
