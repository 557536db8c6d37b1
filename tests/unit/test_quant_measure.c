/*
 * Measuring an error: figures that can be computed by hand, and values that are not finite.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "quant_measure.h"

enum { BLOCK = 2, ONE_BLOCK = 64 };

static quant_measure_t measure_floats(const float *result, const float *exact, size_t count)
{
    const quant_errors_t errors = quant_errors(result, exact, count, BLOCK);
    return quant_measure_of(&errors, count);
}

static void the_numbers_are_what_they_are_called(void **state)
{
    const float exact[] = {3, -4, 0, 12};
    const float result[] = {3.5f, -4, 1, 10};
    const quant_measure_t measure = measure_floats(result, exact, 4);
    (void) state;

    assert_true(measure.mse == (0.25 + 1 + 4) / 4);
    assert_true(measure.nmse == (0.25 + 1 + 4) / (9 + 16 + 144));
    assert_true(measure.block_nmse == (1.0 + 4) / 144);
    assert_true(measure.error == 2);
}

static void equal_vectors_have_no_error(void **state)
{
    const float values[] = {0, -1, NAN, INFINITY, -INFINITY, 3e38f};
    const quant_measure_t measure = measure_floats(values, values, 6);
    (void) state;

    assert_true(measure.mse == 0 && measure.nmse == 0 && measure.error == 0);
}

static void a_zero_result_has_no_relation(void **state)
{
    const float zeros[] = {0, 0};
    const float result[] = {0, 1};
    (void) state;

    assert_true(measure_floats(zeros, zeros, 2).nmse == 0);
    assert_true(isinf(measure_floats(result, zeros, 2).nmse));
    assert_true(measure_floats(result, zeros, 2).mse == 0.5);
}

static void what_is_finite_on_one_side_only_is_infinitely_wrong(void **state)
{
    static const float pairs[][2] = {
        {NAN, 1}, {1, NAN}, {INFINITY, 1}, {1, -INFINITY}, {INFINITY, -INFINITY}, {NAN, INFINITY}};
    (void) state;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        const float result[] = {pairs[i][0], 2};
        const float exact[] = {pairs[i][1], 2};
        const quant_measure_t measure = measure_floats(result, exact, 2);
        assert_true(isinf(measure.mse) && isinf(measure.nmse) && isinf(measure.error));
    }
}

static void values_that_are_not_finite_leave_the_others_measured(void **state)
{
    const float exact[] = {INFINITY, 2, NAN};
    const float result[] = {INFINITY, 3, NAN};
    const quant_measure_t measure = measure_floats(result, exact, 3);
    (void) state;

    assert_true(measure.nmse == 0.25);
    assert_true(measure.error == 1);
}

static void the_largest_floats_do_not_overflow(void **state)
{
    const float exact[] = {3e38f, 3e38f};
    const float result[] = {3e38f, -3e38f};
    const quant_measure_t measure = measure_floats(result, exact, 2);
    (void) state;

    assert_true(isfinite(measure.mse));
    assert_true(measure.nmse == 2);
    assert_true(measure.error == 2 * (double) 3e38f);
}

static void shares_add_up_to_the_whole(void **state)
{
    const float exact[] = {3, -4, 0, 12, 7};
    const float result[] = {3.5f, -4, 1, 10, 8};
    const quant_errors_t rest = quant_errors(result + 2, exact + 2, 3, BLOCK);
    quant_errors_t total = quant_errors(result, exact, 2, BLOCK);
    (void) state;

    quant_errors_add(&total, &rest);
    const quant_measure_t sum = quant_measure_of(&total, 5);
    const quant_measure_t whole = measure_floats(result, exact, 5);
    assert_true(sum.mse == whole.mse && sum.nmse == whole.nmse && sum.error == whole.error);
    assert_true(sum.block_nmse == whole.block_nmse && whole.block_nmse == (1.0 + 4) / 144);
    assert_true(whole.error == 2);
}

static void doubles_are_measured_as_doubles(void **state)
{
    const double exact[] = {1, 1e300, 4};
    const double result[] = {1, 1e300, 4 + 1e-12};
    const quant_errors_t errors = quant_errors_doubles(result, exact, 3, ONE_BLOCK);
    (void) state;

    assert_true(errors.largest == result[2] - 4 && errors.largest > 0);
}

/* Where the squares of the numbers are no doubles. */
static void doubles_of_any_size_are_measured(void **state)
{
    static const double sizes[] = {1e-300, 1e-170, 1e-100, 1, 1e100, 1e160, 1e300};
    (void) state;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const double exact[] = {3 * sizes[i], -4 * sizes[i]};
        const double result[] = {3 * sizes[i], -5 * sizes[i]};
        const quant_errors_t errors = quant_errors_doubles(result, exact, 2, ONE_BLOCK);
        const quant_measure_t measure = quant_measure_of(&errors, 2);
        assert_true(fabs(measure.nmse - 1.0 / 25) < 1e-15);
        assert_true(fabs(measure.error / sizes[i] - 1) < 1e-15);
    }
}

static void an_infinite_error_of_the_largest_doubles_is_infinite(void **state)
{
    const double exact[] = {1.7e308, 1.7e308};
    const double result[] = {INFINITY, 1.7e308};
    const quant_errors_t errors = quant_errors_doubles(result, exact, 2, ONE_BLOCK);
    const quant_measure_t measure = quant_measure_of(&errors, 2);
    (void) state;

    assert_true(isinf(measure.mse) && isinf(measure.nmse) && isinf(measure.error));
}

static void shares_of_different_size_add_up(void **state)
{
    const double exact[] = {3e-200, 4e-200, 6e300, 8e300};
    const double result[] = {3e-200, 5e-200, 6e300, 7e300};
    const double lost = INFINITY;
    const quant_errors_t infinite = quant_errors_doubles(&lost, exact, 1, ONE_BLOCK);
    const quant_errors_t large = quant_errors_doubles(result + 2, exact + 2, 2, ONE_BLOCK);
    quant_errors_t total = {0};
    (void) state;

    const quant_errors_t small = quant_errors_doubles(result, exact, 2, ONE_BLOCK);
    quant_errors_add(&total, &small);
    assert_true(fabs(quant_measure_of(&total, 2).nmse - 1.0 / 25) < 1e-15);
    quant_errors_add(&total, &large);
    assert_true(fabs(quant_measure_of(&total, 4).nmse - 1.0 / 100) < 1e-15);
    quant_errors_add(&total, &infinite);
    assert_true(isinf(quant_measure_of(&total, 5).nmse));
}

/* Numbers of 1e-3 next to numbers of 1e3 that come out as zero: the mean does not show it. */
static void the_worst_block_is_found_among_larger_numbers(void **state)
{
    const float exact[] = {1e3f, -2e3f, 1e-3f, 2e-3f, 3e3f};
    const float result[] = {1e3f, -2e3f, 0, 0, 3.3e3f};
    const quant_measure_t measure = measure_floats(result, exact, 5);
    (void) state;

    assert_true(measure.block_nmse == 1);
    assert_true(measure.nmse > 0 && measure.nmse < 0.01);
    /* The last block is one number. */
    assert_true(fabs(measure_floats(result + 4, exact + 4, 1).block_nmse - 0.01) < 1e-6);
}

static void a_block_of_zeros_is_exact_or_infinitely_wrong(void **state)
{
    const float exact[] = {0, 0, 1, 1};
    const float right[] = {0, 0, 1, 1.5f};
    const float wrong[] = {0, 1e-6f, 1, 1.5f};
    (void) state;

    assert_true(measure_floats(right, exact, 4).block_nmse == 0.125);
    assert_true(isinf(measure_floats(wrong, exact, 4).block_nmse));
    assert_true(measure_floats(wrong, exact, 4).nmse < 0.2);
}

/* Squares of a block's numbers must not vanish next to those of another one. */
static void blocks_of_doubles_are_measured_in_their_own_units(void **state)
{
    static const double exact[] = {1e300, 1e300, 3e-200, 4e-200, 0, 0};
    static const double result[] = {1e300, 1e300, 3e-200, 5e-200, 0, 0};
    (void) state;

    const quant_errors_t errors = quant_errors_doubles(result, exact, 6, BLOCK);
    assert_true(fabs(quant_measure_of(&errors, 6).block_nmse - 1.0 / 25) < 1e-15);
    const quant_errors_t small = quant_errors_doubles(result + 2, exact + 2, 4, BLOCK);
    assert_true(fabs(quant_measure_of(&small, 4).nmse - 1.0 / 25) < 1e-15);
    const quant_errors_t none = quant_errors_doubles(result, exact, 0, BLOCK);
    quant_errors_t total = {0};
    quant_errors_add(&total, &none);
    quant_errors_add(&total, &small);
    assert_true(fabs(quant_measure_of(&total, 4).nmse - 1.0 / 25) < 1e-15);
}

static void each_number_is_raised_by_itself(void **state)
{
    quant_measure_t largest = {.mse = 1, .nmse = 2, .block_nmse = 5, .error = 3};
    const quant_measure_t other = {.mse = 2, .nmse = 1, .block_nmse = 6, .error = 4};
    (void) state;

    quant_measure_raise(&largest, &other);
    assert_true(largest.mse == 2 && largest.nmse == 2 && largest.error == 4);
    assert_true(largest.block_nmse == 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_are_what_they_are_called),
        cmocka_unit_test(equal_vectors_have_no_error),
        cmocka_unit_test(a_zero_result_has_no_relation),
        cmocka_unit_test(what_is_finite_on_one_side_only_is_infinitely_wrong),
        cmocka_unit_test(values_that_are_not_finite_leave_the_others_measured),
        cmocka_unit_test(the_largest_floats_do_not_overflow),
        cmocka_unit_test(shares_add_up_to_the_whole),
        cmocka_unit_test(doubles_are_measured_as_doubles),
        cmocka_unit_test(doubles_of_any_size_are_measured),
        cmocka_unit_test(an_infinite_error_of_the_largest_doubles_is_infinite),
        cmocka_unit_test(shares_of_different_size_add_up),
        cmocka_unit_test(the_worst_block_is_found_among_larger_numbers),
        cmocka_unit_test(a_block_of_zeros_is_exact_or_infinitely_wrong),
        cmocka_unit_test(blocks_of_doubles_are_measured_in_their_own_units),
        cmocka_unit_test(each_number_is_raised_by_itself),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
