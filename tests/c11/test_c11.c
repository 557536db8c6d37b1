/*
 * The algorithms on a node and the rings of puts under C11's memory model: no race, right sums and
 * bytes, and every acquire and release that they name is needed.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "c11_job.h"
#include "c11_ring.h"

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
    {.ranks = 2, .call = {{"oneshot", 1}, {"twoshot", 90}}, .leaves = true},
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

static const c11_ring_case_t all_rings[] = {
    {.slots = 2, .fused_bytes = 8, .bytes = {{8, 8, 8}}},
    {.slots = 2, .fused_bytes = 8, .bytes = {{5, 40, 8, 64}}},
    {.slots = 2, .fused_bytes = 8, .wraps = true, .bytes = {{5, 40, 8}}},
    {.slots = 2, .fused_bytes = 32, .bytes = {{32}}},
    {.slots = 4, .fused_bytes = 8, .bytes = {{100, 8, 100}}},
    {.slots = 2, .fused_bytes = 8, .wraps = true, .bytes = {{8, 40}, {40, 8}}},
    {.slots = 2, .fused_bytes = 8, .bytes = {{8, 40, 8}, {40}}},
    {.slots = 3, .fused_bytes = 8, .answers = true, .bytes = {{40, 8, 8, 40}, {8, 8, 8}}},
};
enum { ALL_RINGS = sizeof all_rings / sizeof all_rings[0] };

static const c11_ring_case_t any_rings[] = {
    {.slots = 4,
     .fused_bytes = 8,
     .answers = true,
     .bytes = {{40, 8, 40, 8, 40, 5, 128, 64, 1, 63, 8, 50, 2, 8, 100},
               {8, 8, 8, 8, 8, 40, 30, 8, 3, 8, 8, 8, 128, 60}}},
    {.slots = 3,
     .fused_bytes = 40,
     .bytes = {{8, 36, 64, 20, 50, 1, 2, 4, 40, 41, 33, 16, 32, 40, 48, 64, 39, 7, 7, 7},
               {40, 8, 40, 8, 64, 8, 60, 8, 8, 8, 40, 41, 40, 4, 2, 3, 5, 6, 44, 12}}},
    {.slots = 4,
     .bytes = {{128, 40, 8, 120, 30, 1, 2, 4, 128, 63, 50, 16, 8, 40, 100, 128, 128, 128, 9, 65},
               {64, 8, 128}}},
};
enum { ANY_RINGS = sizeof any_rings / sizeof any_rings[0] };

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

/* What is wrong with puts, or NULL; how many executions there were of each case. */
static const char *find_wrong_put(size_t *runs)
{
    for (unsigned i = 0; i < ALL_RINGS; ++i) {
        const c11_run_t run = c11_ring_run(&all_rings[i]);
        runs[i] = c11_run_all(&run, MOST_RUNS);
        if (NULL != c11_wrong()) {
            return c11_wrong();
        }
    }
    for (unsigned i = 0; i < ANY_RINGS * SEEDS; ++i) {
        const c11_run_t run = c11_ring_run(&any_rings[i % ANY_RINGS]);
        if (!c11_run_any(&run, i / ANY_RINGS)) {
            return c11_wrong();
        }
    }
    return NULL;
}

TEST(puts_are_right)
{
    size_t runs[ALL_RINGS] = {0};
    const char *wrong = find_wrong_put(runs);

    for (unsigned i = 0; i < ALL_RINGS; ++i) {
        print_message("# ring %u: %zu executions\n", i, runs[i]);
    }
    assert_string_equal("", NULL == wrong ? "" : wrong);
    for (unsigned i = 0; i < ALL_RINGS; ++i) {
        assert_true(runs[i] < MOST_RUNS && runs[i] > 1);
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
    size_t runs[ALL_RINGS];
    unsigned superfluous = 0;

    assert_true(c11_places() >= 8);
    for (size_t i = 0; i < c11_places(); ++i) {
        c11_weaken(i);
        const c11_place_t place = c11_place(i);
        const char *wrong =
            NULL != strstr(place.file, "put_ring") ? find_wrong_put(runs) : find_wrong();
        print_message("# %s:%d without %s: %s\n", strrchr(place.file, '/') + 1, place.line,
                      __ATOMIC_ACQUIRE == place.order ? "acquire" : "release",
                      NULL == wrong ? "NOT NOTICED" : wrong);
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

/* Before a header, and before a credit. */
TEST(puts_need_the_fences_of_their_window)
{
    static const c11_ring_case_t what[] = {
        {.slots = 2, .fused_bytes = 8, .bytes = {{40}}, .ignores_fences = true},
        {.slots = 2, .fused_bytes = 8, .bytes = {{8, 8}}, .ignores_fences = true},
    };

    for (unsigned i = 0; i < sizeof what / sizeof what[0]; ++i) {
        const c11_run_t run = c11_ring_run(&what[i]);
        (void) c11_run_all(&run, MOST_RUNS);
        assert_non_null(c11_wrong());
    }
}
