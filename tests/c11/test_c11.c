/*
 * The algorithms on a node under C11's memory model: no race, right sums, and every acquire and
 * release that they name is needed.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "c11_job.h"

enum { MOST_RUNS = 200000, SEEDS = 300 };

static const c11_case_t all_cases[] = {
    {.ranks = 2, .call = {{"oneshot", 1}, {"oneshot", 100}, {"oneshot", 1}, {"oneshot", 120}}},
    {.ranks = 3, .call = {{"oneshot", 1}, {"oneshot", 20}, {"oneshot", 1}, {"oneshot", 20}}},
    {.ranks = 2, .call = {{"oneshot", 160}}},
    {.ranks = 2, .call = {{"twoshot", 1}, {"twoshot", 90}, {"twoshot", 20}}},
    {.ranks = 3, .call = {{"twoshot", 9}, {"twoshot", 2}}},
    {.ranks = 2, .call = {{"half_butterfly", 1}, {"half_butterfly", 200}, {"half_butterfly", 1}}},
    {.ranks = 3, .call = {{"half_butterfly", 1}, {"half_butterfly", 40}, {"half_butterfly", 1}}},
    {.ranks = 2, .call = {{"butterfly", 1}, {"butterfly", 60}}},
    {.ranks = 3, .call = {{"butterfly", 9}, {"butterfly", 2}}},
    {.ranks = 2, .call = {{"twoshot", 60}, {"oneshot", 9}, {"twoshot", 60}}, .streams = true},
    {.ranks = 3, .call = {{"oneshot", 1}, {"oneshot", 1}}, .agrees = true},
};
enum { ALL_CASES = sizeof all_cases / sizeof all_cases[0] };

static const c11_case_t any_cases[] = {
    {.ranks = 4,
     .call = {{"oneshot", 1}, {"twoshot", 100}, {"butterfly", 99}, {"half_butterfly", 7}}},
    {.ranks = 8,
     .call = {{"butterfly", 200}, {"oneshot", 250}, {"twoshot", 256}, {"butterfly", 31}}},
    {.ranks = 5,
     .call = {{"twoshot", 250}, {"twoshot", 3}, {"half_butterfly", 150}, {"oneshot", 2}}},
    {.ranks = 8,
     .members = {4, 2},
     .call = {{"oneshot", 1}, {"twoshot", 200}, {"oneshot", 140}, {"twoshot", 16}}},
    {.ranks = 8,
     .members = {2, 2, 2},
     .call = {{"twoshot", 64}, {"oneshot", 10}, {"oneshot", 200}, {"twoshot", 250}}},
    {.ranks = 7,
     .members = {3, 2},
     .call = {{"oneshot", 5}, {"oneshot", 150}, {"twoshot", 256}, {"twoshot", 12}},
     .streams = true},
    {.ranks = 6, .call = {{"oneshot", 1}, {"twoshot", 30}}, .agrees = true},
};
enum { ANY_CASES = sizeof any_cases / sizeof any_cases[0] };

TEST(every_execution_of_few_ranks_is_right)
{
    for (unsigned i = 0; i < ALL_CASES; ++i) {
        size_t runs = 0;
        const char *wrong = c11_job_all(&all_cases[i], MOST_RUNS, &runs);
        print_message("# case %u: %zu executions%s%s\n", i, runs, NULL == wrong ? "" : ": ",
                      NULL == wrong ? "" : wrong);
        assert_null(wrong);
        assert_true(runs < MOST_RUNS && runs > 1);
    }
}

TEST(drawn_executions_of_more_ranks_are_right)
{
    for (unsigned i = 0; i < ANY_CASES; ++i) {
        for (unsigned seed = 0; seed < SEEDS; ++seed) {
            const char *wrong = c11_job_any(&any_cases[i], seed);
            if (NULL != wrong) {
                print_message("# case %u, seed %u: %s\n", i, seed, wrong);
            }
            assert_null(wrong);
        }
    }
}

static const char *find_wrong(void)
{
    const char *wrong = NULL;
    size_t runs = 0;

    for (unsigned i = 0; i < ALL_CASES && NULL == wrong; ++i) {
        wrong = c11_job_all(&all_cases[i], MOST_RUNS, &runs);
    }
    for (unsigned i = 0; i < ANY_CASES * SEEDS && NULL == wrong; ++i) {
        wrong = c11_job_any(&any_cases[i % ANY_CASES], i / ANY_CASES);
    }
    return wrong;
}

/* Those before have found all places. */
TEST(every_order_is_needed)
{
    unsigned superfluous = 0;

    assert_true(c11_places() >= 4);
    for (size_t i = 0; i < c11_places(); ++i) {
        c11_weaken(i);
        const char *wrong = find_wrong();
        print_message("# %s:%d relaxed: %s\n", strrchr(c11_place(i).file, '/') + 1,
                      c11_place(i).line, NULL == wrong ? "NOT NOTICED" : wrong);
        superfluous += NULL == wrong;
    }
    c11_weaken(SIZE_MAX);
    assert_int_equal(0, superfluous);
}

/* Who stages something else in between writes where others may still read a result. */
TEST(one_buffer_set_would_not_do)
{
    static const struct {
        const char *name;
        size_t between;
    } calls[] = {{"oneshot", 20}, {"twoshot", 160}, {"half_butterfly", 20}, {"butterfly", 160}};

    for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
        const char *name = calls[i].name;
        const c11_case_t what = {.ranks = 3,
                                 .call = {{name, 20}, {"oneshot", calls[i].between}, {name, 20}},
                                 .one_buffer_set = true};
        size_t runs = 0;
        const char *wrong = c11_job_all(&what, MOST_RUNS, &runs);
        print_message("# %s: %s\n", name, NULL == wrong ? "NOT NOTICED" : wrong);
        assert_non_null(wrong);
    }
}

TEST(streams_need_their_fence)
{
    const c11_case_t what = {
        .ranks = 2, .call = {{"twoshot", 100}}, .streams = true, .no_fence = true};
    size_t runs = 0;

    assert_non_null(c11_job_all(&what, MOST_RUNS, &runs));
}
