/*
 * Where quantizing gains time: classes of lengths, how long a trial goes on, and what follows from
 * it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "quant_gain.h"

enum { MARGIN = 5, ALWAYS = -100, NEVER = 10000, LAST = QUANT_GAIN_CLASSES - 1, US = 1000 };

static const uint64_t second_ns = 1000000000;

static void a_class_is_the_nearest_power_of_two(void **state)
{
    (void) state;
    for (unsigned class = 2; class < LAST; ++class) {
        const size_t power = (size_t) 1 << class;

        assert_int_equal(quant_gain_class_bytes(class), power);
        assert_int_equal(quant_gain_class(power), class);
        assert_int_equal(quant_gain_class(power + power / 2 - 1), class);
        assert_int_equal(quant_gain_class(power + power / 2), class + 1);
        assert_int_equal(quant_gain_class(2 * power - 1), class + 1);
    }
}

static void the_last_class_has_all_that_is_longer(void **state)
{
    const size_t longest = QUANT_GAIN_LONGEST_BYTES;

    (void) state;
    assert_int_equal(quant_gain_class_bytes(LAST), longest);
    for (size_t bytes = longest; bytes != 0; bytes *= 2) {
        assert_int_equal(quant_gain_class(bytes), LAST);
        assert_int_equal(quant_gain_class(bytes + bytes / 2), LAST);
    }
    assert_int_equal(quant_gain_class(SIZE_MAX), LAST);
}

static void decisions_are_kept_by_class(void **state)
{
    quant_gain_t gain = {0};

    (void) state;
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

static void without_trials_everything_is_quantized(void **state)
{
    const quant_gain_t gain = quant_gain_always();

    (void) state;
    for (unsigned class = 0; class <= LAST; ++class) {
        assert_true(quant_gain_is_decided(&gain, class));
        assert_true(quant_gain_at(&gain, class));
    }
}

static quant_trial_t trial_of(unsigned rounds, uint64_t below_ns, uint64_t quant_ns)
{
    quant_trial_t trial = {0};

    for (unsigned round = 0; round < rounds; ++round) {
        quant_trial_note(&trial, &(quant_times_t){.below_ns = below_ns, .quant_ns = quant_ns});
    }
    return trial;
}

static void what_is_known_is_merged(void **state)
{
    quant_gain_t gain = {.decided = 0x0f, .gains = 0x05};
    const quant_gain_t later = {.decided = 0x36, .gains = 0x22};
    (void) state;

    quant_gain_merge(&gain, &later);
    assert_int_equal(0x3f, gain.decided);
    assert_int_equal(0x23, gain.gains);
}

static void the_margin_decides(void **state)
{
    static const struct {
        uint64_t below_ns;
        uint64_t quant_ns;
        int margin;
        bool gains;
    } cases[] = {
        {1000, 1000, 0, true},       {999, 1000, 0, false},  {1050, 1000, MARGIN, true},
        {1049, 1000, MARGIN, false}, {800, 1000, -20, true}, {799, 1000, -20, false},
        {1, 1000000, ALWAYS, true},  {0, 0, ALWAYS, true},   {100, 1, NEVER, false},
        {101, 1, NEVER, true},       {1000, 500, 100, true}, {999, 500, 100, false},
        {0, 1, MARGIN, false},
    };

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        /* Also where calls take an hour. */
        for (uint64_t unit = 1; unit <= 3600 * second_ns / 1000000; unit *= 7) {
            const quant_trial_t trial =
                trial_of(2, cases[i].below_ns * unit, cases[i].quant_ns * unit);
            assert_int_equal(quant_trial_gains(&trial, cases[i].margin), cases[i].gains);
        }
    }
}

static void the_first_round_counts_only_if_it_is_the_only_one(void **state)
{
    quant_trial_t trial = {0};

    (void) state;
    quant_trial_note(&trial, &(quant_times_t){.below_ns = 1, .quant_ns = 900});
    assert_false(quant_trial_gains(&trial, MARGIN));
    quant_trial_note(&trial, &(quant_times_t){.below_ns = 120, .quant_ns = 100});
    assert_true(quant_trial_gains(&trial, MARGIN));
    assert_int_equal(trial.least.below_ns, 120);
    assert_int_equal(trial.least.quant_ns, 100);
}

static void the_least_times_count(void **state)
{
    quant_trial_t trial = trial_of(1, 1, 1);

    (void) state;
    quant_trial_note(&trial, &(quant_times_t){.below_ns = 100, .quant_ns = 500});
    quant_trial_note(&trial, &(quant_times_t){.below_ns = 700, .quant_ns = 90});
    quant_trial_note(&trial, &(quant_times_t){.below_ns = 300, .quant_ns = 200});
    assert_int_equal(trial.least.below_ns, 100);
    assert_int_equal(trial.least.quant_ns, 90);
    assert_true(quant_trial_gains(&trial, MARGIN));
}

static void clear_decisions_end_a_trial(void **state)
{
    static const struct {
        uint64_t ns;
        unsigned rounds; /* with the first one */
    } cases[] = {{100 * US, 5}, {2000 * US, 5}, {5000 * US, 3}, {300000 * US, 3}};

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const uint64_t ns = cases[i].ns;
        for (unsigned rounds = 0; rounds <= cases[i].rounds; ++rounds) {
            const quant_trial_t slower = trial_of(rounds, ns, 2 * ns);
            const quant_trial_t faster = trial_of(rounds, 2 * ns, ns);
            const quant_trial_t close = trial_of(rounds, ns, ns);
            const bool is_last = rounds == cases[i].rounds;

            assert_int_equal(quant_trial_is_enough(&slower, MARGIN), is_last);
            assert_int_equal(quant_trial_is_enough(&faster, MARGIN), is_last);
            assert_false(quant_trial_is_enough(&close, MARGIN));
            /* What is clear depends on the margin: twice as fast is just what 100 % ask for. */
            assert_false(quant_trial_is_enough(&faster, 100));
            assert_int_equal(quant_trial_is_enough(&close, NEVER), is_last);
            assert_int_equal(quant_trial_is_enough(&close, ALWAYS), is_last);
        }
    }
}

static void a_trial_ends(void **state)
{
    static const struct {
        uint64_t ns;
        unsigned rounds;
    } cases[] = {{0, 10}, {100 * US, 10}, {4999 * US, 10}, {5000 * US, 6}, {1000000 * US, 6}};

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        for (unsigned rounds = 0; rounds <= cases[i].rounds; ++rounds) {
            const quant_trial_t trial = trial_of(rounds, cases[i].ns, cases[i].ns);
            assert_int_equal(quant_trial_is_enough(&trial, 0), rounds == cases[i].rounds);
        }
    }
}

static void short_calls_are_repeated(void **state)
{
    static const struct {
        unsigned rounds;
        uint64_t ns;
        unsigned calls;
    } cases[] = {{0, 0, 1},        {1, 10 * US, 8},  {1, 125 * US, 8},  {1, 126 * US, 7},
                 {2, 400 * US, 2}, {2, 501 * US, 1}, {2, 90000 * US, 1}};

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const quant_trial_t slow_below = trial_of(cases[i].rounds, cases[i].ns, 1);
        const quant_trial_t slow_quant = trial_of(cases[i].rounds, 1, cases[i].ns);
        assert_int_equal(quant_trial_calls(&slow_below), cases[i].calls);
        assert_int_equal(quant_trial_calls(&slow_quant), cases[i].calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_is_the_nearest_power_of_two),
        cmocka_unit_test(the_last_class_has_all_that_is_longer),
        cmocka_unit_test(decisions_are_kept_by_class),
        cmocka_unit_test(without_trials_everything_is_quantized),
        cmocka_unit_test(what_is_known_is_merged),
        cmocka_unit_test(the_margin_decides),
        cmocka_unit_test(the_first_round_counts_only_if_it_is_the_only_one),
        cmocka_unit_test(the_least_times_count),
        cmocka_unit_test(clear_decisions_end_a_trial),
        cmocka_unit_test(a_trial_ends),
        cmocka_unit_test(short_calls_are_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
