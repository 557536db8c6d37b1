/*
 * Where quantizing gains time: what was decided.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "quant_gain.h"

enum { LAST = 8 * sizeof((quant_gain_t *) NULL)->decided - 1 };

static void decisions_are_kept_by_class(void **state)
{
    quant_gain_t gain = {0};

    for (unsigned class = 0; class <= LAST; ++class) {
        assert_false(quant_gain_is_decided(&gain, class));
        quant_gain_decide(&gain, class, class % 3 == 0);
        for (unsigned other = 0; other <= LAST; ++other) {
            assert_int_equal(quant_gain_is_decided(&gain, other), other <= class);
            assert_int_equal(quant_gain_at(&gain, other), other <= class && other % 3 == 0);
        }
    }
    quant_gain_decide(&gain, 3, false);
    assert_false(quant_gain_at(&gain, 3));
    assert_true(quant_gain_is_decided(&gain, 3));
}

static void with_nothing_learned_everything_is_quantized(void **state)
{
    const quant_gain_t gain = quant_gain_always();

    for (unsigned class = 0; class <= LAST; ++class) {
        assert_true(quant_gain_is_decided(&gain, class));
        assert_true(quant_gain_at(&gain, class));
    }
}

static void what_is_known_is_merged(void **state)
{
    quant_gain_t gain = {.decided = 0x0f, .gains = 0x05};
    const quant_gain_t later = {.decided = 0x36, .gains = 0x22};

    quant_gain_merge(&gain, &later);
    assert_int_equal(0x3f, gain.decided);
    assert_int_equal(0x23, gain.gains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_are_kept_by_class),
        cmocka_unit_test(with_nothing_learned_everything_is_quantized),
        cmocka_unit_test(what_is_known_is_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
