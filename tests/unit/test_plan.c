/*
 * From trials to rules: what was fastest is taken, and nothing that lost.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lowlat_plan.h"
#include "lowlat_select.h"
#include "testlib.h"

enum { SEED = 20261123, MARGIN = 5 };

/* Candidates with several owners in each node. */
enum {
    BELOW,
    DOUBLING,
    HALVING,
    DIRECT,
    LEADERS, /* + DOUBLING - 1 ... */
    CANDIDATES = LEADERS + DIRECT
};

/* A network: a call takes steps * alpha + copies * bytes * beta. */
typedef struct cost {
    double steps;
    double copies;
} cost_t;

static lowlat_trials_t trials_of(unsigned owners, const cost_t *costs, const size_t *bytes,
                                 unsigned lengths, double alpha, double beta)
{
    lowlat_trials_t trials = {.lengths = lengths};

    trials.candidates = lowlat_plan_candidates(trials.candidate, owners);
    for (unsigned length = 0; length < lengths; ++length) {
        trials.bytes[length] = bytes[length];
        for (unsigned i = 0; i < trials.candidates; ++i) {
            trials.seconds[length][i] =
                costs[i].steps * alpha + costs[i].copies * (double) bytes[length] * beta;
        }
    }
    return trials;
}

/* The algorithm that a plan has for a length. */
static unsigned planned_algorithm(const lowlat_plan_t *plan, size_t bytes)
{
    for (unsigned i = 0; i < plan->rules; ++i) {
        if (bytes <= plan->rule[i].max_bytes) {
            return plan->rule[i].algorithm;
        }
    }
    fail_msg("the plan ends");
    return LOWLAT_PASS_DOWN;
}

static const size_t lengths[] = {8, 1024, 8192, 65536, 524288};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static void candidates_are_all_reproducible_algorithms_and_the_component_below(void **state)
{
    lowlat_candidate_t candidates[LOWLAT_PLAN_CANDIDATES];
    (void) state;

    assert_int_equal(LEADERS, lowlat_plan_candidates(candidates, 1));
    assert_int_equal(LOWLAT_PASS_DOWN, candidates[BELOW].algorithm);
    assert_int_equal(CANDIDATES, lowlat_plan_candidates(candidates, 2));
    for (unsigned i = BELOW + 1; i < CANDIDATES; ++i) {
        assert_int_equal(i >= LEADERS, candidates[i].leaders);
        assert_int_equal((unsigned) LOWLAT_NODES_FIRST + (i - 1) % DIRECT, candidates[i].algorithm);
    }
}

/* On a slow network doubling, then halving, then direct; each where it is fastest. */
static void the_fastest_is_taken(void **state)
{
    static const cost_t costs[] = {{6, 3}, {2, 2}, {4, 1.2}, {6, 1}};
    const lowlat_trials_t trials = trials_of(1, costs, lengths, LENGTHS, 10e-6, 1e-9);
    lowlat_plan_t plan;
    (void) state;

    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_int_equal(LOWLAT_ALGORITHM_DOUBLING, planned_algorithm(&plan, 1));
    assert_int_equal(LOWLAT_ALGORITHM_DOUBLING, planned_algorithm(&plan, 8192));
    assert_int_equal(LOWLAT_ALGORITHM_HALVING, planned_algorithm(&plan, 8193));
    assert_int_equal(LOWLAT_ALGORITHM_HALVING, planned_algorithm(&plan, 65536));
    assert_int_equal(LOWLAT_ALGORITHM_DIRECT, planned_algorithm(&plan, 65537));
    assert_int_equal(LOWLAT_ALGORITHM_DIRECT, planned_algorithm(&plan, SIZE_MAX));
}

static void what_does_not_gain_enough_is_passed_down(void **state)
{
    static const cost_t equal[] = {{2, 2}, {2, 2}, {4, 2}, {6, 2}};
    lowlat_trials_t trials = trials_of(1, equal, lengths, LENGTHS, 10e-6, 1e-9);
    lowlat_plan_t plan;
    (void) state;

    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_int_equal(1, plan.rules);
    assert_int_equal(LOWLAT_PASS_DOWN, planned_algorithm(&plan, 1));
    assert_int_equal(LOWLAT_PASS_DOWN, planned_algorithm(&plan, SIZE_MAX));
    lowlat_plan_make(&plan, &trials, 0);
    assert_int_equal(LOWLAT_ALGORITHM_DOUBLING, planned_algorithm(&plan, SIZE_MAX));

    /* One length where it does. */
    trials.seconds[2][DOUBLING] = 0.94 * trials.seconds[2][BELOW];
    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_int_equal(LOWLAT_PASS_DOWN, planned_algorithm(&plan, 1024));
    assert_int_equal(LOWLAT_ALGORITHM_DOUBLING, planned_algorithm(&plan, 1025));
    assert_int_equal(LOWLAT_ALGORITHM_DOUBLING, planned_algorithm(&plan, 8192));
    assert_int_equal(LOWLAT_PASS_DOWN, planned_algorithm(&plan, 8193));
}

/* Trials that ended before bytes counted say nothing about long messages. */
static void long_messages_are_taken_only_if_trials_were_long(void **state)
{
    static const cost_t costs[] = {{6, 3}, {2, 2}, {4, 1.5}, {6, 1}};
    const lowlat_trials_t trials = trials_of(1, costs, lengths, 3, 10e-6, 1e-9);
    lowlat_plan_t plan;
    (void) state;

    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_int_equal(LOWLAT_ALGORITHM_DOUBLING, planned_algorithm(&plan, 8192));
    assert_int_equal(LOWLAT_PASS_DOWN, planned_algorithm(&plan, 8193));
    const lowlat_trials_t one = trials_of(1, costs, lengths, 1, 10e-6, 1e-9);
    lowlat_plan_make(&plan, &one, MARGIN);
    assert_int_equal(LOWLAT_ALGORITHM_DOUBLING, planned_algorithm(&plan, 8));
    assert_int_equal(LOWLAT_PASS_DOWN, planned_algorithm(&plan, 9));
}

/* ... or what comes behind the longest trial: direct is not yet the fastest there, but will be.
 */
static void straight_lines_go_on_behind_the_longest_trial(void **state)
{
    static const cost_t costs[] = {{60, 3}, {20, 2}, {40, 1.5}, {90, 0.5}};
    const lowlat_trials_t trials = trials_of(1, costs, lengths, 4, 1e-6, 10e-9);
    lowlat_plan_t plan;
    (void) state;

    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_int_equal(LOWLAT_ALGORITHM_DIRECT, planned_algorithm(&plan, 65536));
    assert_int_equal(LOWLAT_ALGORITHM_DIRECT, planned_algorithm(&plan, SIZE_MAX));
}

/* What was not measured must promise twice as much. */
static void behind_the_longest_trial_the_margin_is_twice_as_wide(void **state)
{
    static const struct {
        double copies;
        bool taken;
    } rows[] = {{0.93, false}, {0.88, true}};
    lowlat_plan_t plan;
    (void) state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const double copies = rows[i].copies;
        const cost_t costs[] = {{2, 1}, {2, copies}, {2, copies}, {2, copies}};
        const lowlat_trials_t trials = trials_of(1, costs, lengths, LENGTHS, 1e-6, 10e-9);
        lowlat_plan_make(&plan, &trials, MARGIN);
        assert_int_not_equal(LOWLAT_PASS_DOWN, planned_algorithm(&plan, 524288));
        assert_int_equal(rows[i].taken, LOWLAT_PASS_DOWN != planned_algorithm(&plan, SIZE_MAX));
    }
}

static void leaders_are_for_the_lengths_where_they_gain(void **state)
{
    static const cost_t costs[] = {{20, 3}, {4, 2}, {8, 2}, {12, 2}, {3, 4}, {7, 4}, {11, 4}};
    lowlat_trials_t trials = trials_of(2, costs, lengths, LENGTHS, 10e-6, 1e-9);
    lowlat_plan_t plan;
    (void) state;

    /* 10 us less, and 2 ns a byte more: up to 5000 bytes. */
    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_int_equal(1024, plan.leader_bytes);
    /* One trial that went wrong decides nothing. */
    trials.seconds[0][LEADERS] = 1.1 * trials.seconds[0][DOUBLING];
    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_int_equal(1024, plan.leader_bytes);
    /* One that was given up, for the others. */
    for (unsigned length = 2; length < LENGTHS; ++length) {
        for (unsigned i = DOUBLING; i < LEADERS; ++i) {
            trials.seconds[length][i] = 0;
        }
    }
    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_true(SIZE_MAX == plan.leader_bytes);
    trials = trials_of(2, costs, lengths, LENGTHS, 10e-6, 1e-9);
    /* Never, and always. */
    for (unsigned length = 0; length < LENGTHS; ++length) {
        trials.seconds[length][LEADERS] = 2 * trials.seconds[length][DOUBLING];
        trials.seconds[length][LEADERS + 1] = 2 * trials.seconds[length][DOUBLING];
        trials.seconds[length][LEADERS + 2] = 2 * trials.seconds[length][DOUBLING];
    }
    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_int_equal(1, plan.leader_bytes);
    for (unsigned length = 0; length < LENGTHS; ++length) {
        trials.seconds[length][LEADERS] = 0.5 * trials.seconds[length][DOUBLING];
    }
    lowlat_plan_make(&plan, &trials, MARGIN);
    assert_true(SIZE_MAX == plan.leader_bytes);
}

static void what_cannot_win_is_not_tried(void **state)
{
    static const cost_t costs[] = {{2, 2}, {2, 2}, {4, 1.5}, {6, 1.5}};
    lowlat_trials_t trials = trials_of(1, costs, lengths, LENGTHS, 10e-6, 1e-9);
    (void) state;

    trials.lengths = 0;
    assert_true(lowlat_plan_wants(&trials, BELOW) && lowlat_plan_wants(&trials, DOUBLING));
    assert_false(lowlat_plan_wants(&trials, HALVING) || lowlat_plan_wants(&trials, DIRECT));
    trials.lengths = 3; /* 8192 bytes: 36 instead of 20 us */
    trials.seconds[0][HALVING] = trials.seconds[0][DIRECT] = 0;
    trials.seconds[1][HALVING] = trials.seconds[1][DIRECT] = 0;
    trials.seconds[2][HALVING] = trials.seconds[2][DIRECT] = 0;
    assert_false(lowlat_plan_wants(&trials, HALVING) || lowlat_plan_wants(&trials, DIRECT));
    trials.lengths = 4; /* 65536: 138 us */
    trials.seconds[3][HALVING] = trials.seconds[3][DIRECT] = 0;
    assert_true(lowlat_plan_wants(&trials, HALVING) && lowlat_plan_wants(&trials, DIRECT));
    trials.seconds[3][BELOW] = trials.seconds[3][DOUBLING] = 150e-6;
    trials.seconds[3][HALVING] = 170e-6;
    trials.seconds[3][DIRECT] = 175e-6;
    assert_true(lowlat_plan_wants(&trials, HALVING));
    assert_false(lowlat_plan_wants(&trials, DIRECT));
    assert_true(lowlat_plan_wants(&trials, DOUBLING));
    trials.seconds[1][DOUBLING] = 2.1 * trials.seconds[1][BELOW];
    assert_false(lowlat_plan_wants(&trials, DOUBLING));
    trials.seconds[3][BELOW] = 400e-6;
    assert_true(lowlat_plan_wants(&trials, BELOW));
}

/* One trial that went wrong does not leave leaders, or all owners, without a candidate. */
static void the_first_of_its_kind_is_tried_again(void **state)
{
    static const cost_t costs[] = {{2, 2}, {2, 2}, {4, 1.5}, {6, 1.5}, {2, 2}, {4, 1.5}, {6, 1.5}};
    lowlat_trials_t trials = trials_of(2, costs, lengths, LENGTHS, 10e-6, 1e-9);
    (void) state;

    trials.lengths = 4;
    trials.seconds[3][BELOW] = 200e-6;
    trials.seconds[3][LEADERS] = 100e-6; /* doubling */
    trials.seconds[3][LEADERS + 1] = 110e-6;
    trials.seconds[3][LEADERS + 2] = 120e-6;
    trials.seconds[3][DOUBLING] = 150e-6;
    trials.seconds[3][HALVING] = 140e-6;
    trials.seconds[3][DIRECT] = 141e-6;
    for (unsigned i = DOUBLING; i <= DIRECT; ++i) {
        assert_true((HALVING == i) == lowlat_plan_wants(&trials, i));
    }
    for (unsigned i = 0; i < 3; ++i) {
        assert_true((i < 2) == lowlat_plan_wants(&trials, LEADERS + i));
    }
    trials.seconds[3][HALVING] = 201e-6;
    trials.seconds[3][DOUBLING] = 202e-6;
    trials.seconds[3][DIRECT] = 203e-6;
    assert_false(lowlat_plan_wants(&trials, HALVING));
}

/* Any numbers: every length has an algorithm that was tried there and gained, or none. */
static void a_plan_never_takes_what_lost(void **state)
{
    enum { CASES = 2000, MOST_RULES = LOWLAT_PLAN_RULES };
    test_random_t random = test_random_start(SEED);
    (void) state;

    for (unsigned turn = 0; turn < CASES; ++turn) {
        lowlat_trials_t trials = {.lengths = 1 + (unsigned) test_random_below(&random, 15)};
        lowlat_plan_t plan;

        trials.candidates =
            lowlat_plan_candidates(trials.candidate, 1 + (unsigned) test_random_below(&random, 2));
        for (unsigned length = 0; length < trials.lengths; ++length) {
            trials.bytes[length] = (size_t) 8 << length;
            for (unsigned i = 0; i < trials.candidates; ++i) {
                trials.seconds[length][i] =
                    BELOW != i && 0 == test_random_below(&random, 4)
                        ? 0
                        : 1e-6 * (double) (1 + test_random_below(&random, 1000));
            }
        }
        lowlat_plan_make(&plan, &trials, MARGIN);
        assert_true(plan.rules >= 1 && plan.rules <= MOST_RULES);
        assert_true(SIZE_MAX == plan.rule[plan.rules - 1].max_bytes);
        for (unsigned length = 0; length < trials.lengths; ++length) {
            const unsigned algorithm = planned_algorithm(&plan, trials.bytes[length]);
            const bool leaders = trials.bytes[length] <= plan.leader_bytes;
            bool gained = LOWLAT_PASS_DOWN == algorithm;
            for (unsigned i = BELOW + 1; i < trials.candidates; ++i) {
                const double seconds = trials.seconds[length][i];
                gained = gained || (trials.candidate[i].algorithm == algorithm &&
                                    trials.candidate[i].leaders == leaders && seconds > 0 &&
                                    seconds < trials.seconds[length][BELOW]);
            }
            assert_true(gained);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_are_all_reproducible_algorithms_and_the_component_below),
        cmocka_unit_test(the_fastest_is_taken),
        cmocka_unit_test(what_does_not_gain_enough_is_passed_down),
        cmocka_unit_test(long_messages_are_taken_only_if_trials_were_long),
        cmocka_unit_test(straight_lines_go_on_behind_the_longest_trial),
        cmocka_unit_test(behind_the_longest_trial_the_margin_is_twice_as_wide),
        cmocka_unit_test(leaders_are_for_the_lengths_where_they_gain),
        cmocka_unit_test(what_cannot_win_is_not_tried),
        cmocka_unit_test(the_first_of_its_kind_is_tried_again),
        cmocka_unit_test(a_plan_never_takes_what_lost),
    };

    return cmocka_run_group_tests_name("plans between nodes", tests, NULL, NULL);
}
