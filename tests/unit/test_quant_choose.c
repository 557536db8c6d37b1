/*
 * The choice of format and algorithm: an exhaustive search with quant_error_mse() finds nothing
 * that the rules would prefer.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_choose.h"
#include "quant_mse.h"

enum { BLOCK = 64 };

static const unsigned ranks_of[] = {2, 3, 4, 8, 16, 17, 31, 64, 65, 103, 128};
static const double targets[] = {3e-2, 1e-2, 1e-3, 2e-4, 1e-4, 1e-5, 1e-7, 2e-9};

enum {
    RANKS = sizeof ranks_of / sizeof ranks_of[0],
    TARGETS = sizeof targets / sizeof targets[0],
};

/* What is named; NULL is left open. */
typedef struct wanted {
    const quant_format_t *format;
    const quant_algo_t *algo;
    unsigned per_node;
    bool exact_reduce; /* partial sums are not quantized */
    bool alone;
    bool feedback;
    double target_nmse;
} wanted_t;

typedef struct choice {
    const quant_format_t *format;
    const quant_algo_t *algo;
    double nmse; /* predicted */
} choice_t;

static wanted_t want_anything(double target)
{
    return (wanted_t){.target_nmse = target};
}

static double nmse_of(const quant_format_t *format, const quant_algo_t *algo, unsigned ranks)
{
    const quant_config_t config = {
        .algo = algo, .reduce_format = format, .gather_format = format, .block_rows = BLOCK};
    return quant_error_mse(&config, ranks, 1) / ranks;
}

static bool choose(const wanted_t *wanted, unsigned ranks, choice_t *choice)
{
    quant_config_t config = {
        .algo = wanted->algo,
        .reduce_format = wanted->exact_reduce ? &quant_format_fp32 : wanted->format,
        .gather_format = wanted->format,
        .block_rows = BLOCK,
        .feedback = wanted->feedback,
        .per_node = wanted->per_node,
        .alone = wanted->alone,
    };

    if (!quant_choose(&config, ranks, wanted->target_nmse)) {
        assert_ptr_equal(wanted->algo, config.algo);
        assert_ptr_equal(wanted->format, config.gather_format);
        return false;
    }
    *choice = (choice_t){
        .format = quant_config_format(&config),
        .algo = config.algo,
        .nmse = quant_error_mse(&config, ranks, 1) / ranks * (wanted->feedback ? 2 : 1),
    };
    return true;
}

/* Bytes of a million elements. */
static size_t bytes_of(const quant_format_t *format)
{
    return quant_payload_bytes(format, 1000000, BLOCK);
}

static bool is_open_to_choice(const char *name, unsigned ranks)
{
    return 0 == strcmp(name, "semi_loop") || (0 == strcmp(name, "full_loop") && ranks <= 4) ||
           (0 == strcmp(name, "direct") && ranks <= 16) ||
           (0 == strcmp(name, "recursive_halving") && ranks <= 64);
}

/* What is taken as long as its error allows it. */
static const quant_algo_t *usual_algo(unsigned ranks)
{
    return quant_algo_at(ranks <= 4 ? QUANT_ALGO_full_loop : QUANT_ALGO_semi_loop);
}

TEST(without_a_target_it_is_int8_on_a_loop)
{
    const wanted_t wanted = want_anything(0);

    for (size_t i = 0; i < RANKS; ++i) {
        choice_t choice = {0};
        assert_true(choose(&wanted, ranks_of[i], &choice));
        assert_ptr_equal(ranks_of[i] < 104 ? &quant_format_int8 : &quant_format_int9,
                         choice.format);
        assert_ptr_equal(usual_algo(ranks_of[i]), choice.algo);
    }
}

TEST(what_is_named_is_taken_where_there_is_no_target)
{
    for (size_t f = 0; NULL != quant_format_at(f); ++f) {
        for (size_t a = 0; NULL != quant_algo_at(a); ++a) {
            wanted_t wanted = want_anything(0);
            choice_t choice = {0};

            wanted.format = quant_format_at(f);
            wanted.algo = quant_algo_at(a);
            wanted.per_node = 2;
            assert_true(choose(&wanted, 6, &choice));
            assert_ptr_equal(wanted.format, choice.format);
            assert_ptr_equal(wanted.algo, choice.algo);
        }
    }
}

TEST(a_choice_is_below_the_target_and_nothing_cheaper_is)
{
    for (size_t i = 0; i < RANKS; ++i) {
        for (size_t t = 0; t < TARGETS; ++t) {
            const wanted_t wanted = want_anything(targets[t]);
            choice_t choice = {0};
            size_t cheapest = SIZE_MAX;

            for (size_t f = 0; NULL != quant_format_at(f); ++f) {
                for (size_t a = 0; NULL != quant_algo_at(a); ++a) {
                    const quant_format_t *format = quant_format_at(f);
                    if (format->scaled && bytes_of(format) < cheapest &&
                        is_open_to_choice(quant_algo_at(a)->name, ranks_of[i]) &&
                        nmse_of(format, quant_algo_at(a), ranks_of[i]) * QUANT_CHOOSE_MARGIN <
                            targets[t]) {
                        cheapest = bytes_of(format);
                    }
                }
            }
            assert_int_equal(SIZE_MAX != cheapest, choose(&wanted, ranks_of[i], &choice));
            if (SIZE_MAX == cheapest) {
                assert_null(choice.format);
                continue;
            }
            const double nmse = nmse_of(choice.format, choice.algo, ranks_of[i]);
            assert_int_equal(cheapest, bytes_of(choice.format));
            assert_true(nmse * QUANT_CHOOSE_MARGIN < targets[t]);
            assert_true(fabs(choice.nmse / nmse - 1) < 1e-12);
        }
    }
}

TEST(the_usual_algorithm_is_left_only_where_its_error_is_too_large)
{
    unsigned left = 0;

    for (size_t i = 0; i < RANKS; ++i) {
        for (size_t t = 0; t < TARGETS; ++t) {
            const wanted_t wanted = want_anything(targets[t]);
            const quant_algo_t *usual = usual_algo(ranks_of[i]);
            choice_t choice = {0};
            if (choose(&wanted, ranks_of[i], &choice)) {
                const bool met =
                    nmse_of(choice.format, usual, ranks_of[i]) * QUANT_CHOOSE_MARGIN < targets[t];
                assert_int_equal(met, usual == choice.algo);
                left += !met;
            }
        }
    }
    assert_true(left > 0);
}

TEST(where_there_are_no_levels_it_is_left_open)
{
    for (unsigned per_node = 0; per_node <= 1; ++per_node) {
        for (size_t t = 0; t <= TARGETS; ++t) {
            for (size_t i = 0; i < RANKS; ++i) {
                const wanted_t open = want_anything(t < TARGETS ? targets[t] : 0);
                wanted_t wanted = open;
                choice_t choice = {0};
                choice_t expected = {0};

                wanted.algo = quant_algo_at(QUANT_ALGO_hierarchical);
                wanted.per_node = per_node;
                assert_int_equal(choose(&open, ranks_of[i], &expected),
                                 choose(&wanted, ranks_of[i], &choice));
                assert_ptr_equal(expected.algo, choice.algo);
                assert_ptr_equal(expected.format, choice.format);
            }
        }
    }
}

/* What the call before left is in each call, too. */
TEST(with_feedback_a_call_has_the_error_of_two)
{
    for (size_t i = 0; i < RANKS; ++i) {
        for (size_t t = 0; t < TARGETS; ++t) {
            const wanted_t half = want_anything(targets[t] / 2);
            wanted_t wanted = want_anything(targets[t]);
            choice_t choice = {0};
            choice_t expected = {0};

            wanted.feedback = true;
            assert_int_equal(choose(&half, ranks_of[i], &expected),
                             choose(&wanted, ranks_of[i], &choice));
            assert_ptr_equal(expected.algo, choice.algo);
            assert_ptr_equal(expected.format, choice.format);
            assert_true(fabs(choice.nmse - 2 * expected.nmse) <= 1e-12 * choice.nmse);
        }
    }
}

/* ---- by hand ---- */

static const quant_format_t *format_named(const char *name)
{
    size_t f = 0;

    while (NULL != name && 0 != strcmp(name, quant_format_at(f)->name)) {
        ++f;
    }
    return NULL == name ? NULL : quant_format_at(f);
}

static const quant_algo_t *algo_named(const char *name)
{
    size_t a = 0;

    while (NULL != name && 0 != strcmp(name, quant_algo_at(a)->name)) {
        ++a;
    }
    return NULL == name ? NULL : quant_algo_at(a);
}

/* Targets in c, the coefficient of int8, or as they are. */
TEST(examples_are_chosen_as_computed_by_hand)
{
    static const struct {
        unsigned ranks;
        wanted_t wanted; /* but for format and algorithm */
        double target_c;
        const char *wanted_format;
        const char *wanted_algo;
        const char *format; /* NULL: nothing is chosen */
        const char *algo;
        double nmse_c; /* 0: any */
    } rows[] = {
        /* clang-format off */
        /* What is named restricts the choice. */
        {8, {.target_nmse = 1e-4}, 0, "int16", NULL, "int16", "semi_loop", 0},
        /* 4.5 c = 1.6e-4 with the full loop, 1.9 c = 6.6e-5 with direct. */
        {8, {.target_nmse = 1e-4}, 0, "int8", NULL, "int8", "direct", 0},
        {8, {.target_nmse = 1e-4}, 0, "int8", "full_loop", NULL, NULL, 0},
        {8, {.target_nmse = 1e-4}, 0, NULL, "full_loop", "int9", "full_loop", 0},
        /* Formats without scales and the exact one serve who names them. */
        {8, {.target_nmse = 1e-4}, 0, "fp16", "full_loop", "fp16", "full_loop", 0},
        {8, {.target_nmse = 1e-30}, 0, "fp32", "full_loop", "fp32", "full_loop", 0},
        /* 4 nodes: (12 + 8)/8 c; direct has (7 + 8)/8 c. */
        {8, {.per_node = 2}, 0, NULL, NULL, "int8", "hierarchical", 2.5},
        {8, {.per_node = 2}, 2.7, NULL, NULL, "int8", "hierarchical", 2.5},
        {8, {.per_node = 2}, 2.4, NULL, NULL, "int8", "direct", 15.0 / 8},
        {8, {.per_node = 2}, 2.4, NULL, "hierarchical", "int9", "hierarchical", 0},
        /* Stages that are exact leave room. */
        {8, {.exact_reduce = false}, 1.5, NULL, NULL, "int9", "semi_loop", 0},
        {8, {.exact_reduce = true}, 1.5, NULL, NULL, "int8", "semi_loop", 1},
        /* The limit of auto is not for what is named. */
        {256, {.per_node = 0}, 0, "int4", NULL, "int4", "semi_loop", 0},
        /* A target goes before the limit of auto, whichever is larger. */
        {8, {.target_nmse = 0.1}, 0, NULL, NULL, "int4", "semi_loop", 0},
        /* The algorithm alone is named: 511/2 + 1 times c. */
        {512, {.per_node = 0}, 0, NULL, "full_loop", "int10", "full_loop", 0},
        /* To auto the number of ranks is all that matters. */
        {2, {.per_node = 1}, 0, NULL, NULL, "int8", "full_loop", 0},
        {64, {.per_node = 1}, 0, NULL, NULL, "int8", "semi_loop", 0},
        {102, {.per_node = 1}, 0, NULL, NULL, "int8", "semi_loop", 0},
        {104, {.per_node = 1}, 0, NULL, NULL, "int9", "semi_loop", 0},
        {256, {.per_node = 1}, 0, NULL, NULL, "int9", "semi_loop", 0},
        {420, {.per_node = 1}, 0, NULL, NULL, "int9", "semi_loop", 0},
        {424, {.per_node = 1}, 0, NULL, NULL, "int10", "semi_loop", 0},
        {1024, {.per_node = 1}, 0, NULL, NULL, "int10", "semi_loop", 0},
        {20000, {.per_node = 1}, 0, NULL, NULL, "int12", "semi_loop", 0},
        {48, {.feedback = true}, 0, NULL, NULL, "int8", "semi_loop", 0},
        {50, {.feedback = true}, 0, NULL, NULL, "int8", "recursive_halving", 0},
        {64, {.feedback = true}, 0, NULL, NULL, "int8", "recursive_halving", 0},
        {65, {.feedback = true}, 0, NULL, NULL, "int9", "semi_loop", 0},
        {512, {.per_node = 8}, 0, NULL, NULL, "int8", "hierarchical", 0},
        {1024, {.per_node = 8}, 0, NULL, NULL, "int8", "hierarchical", 0},
        {4, {.alone = true}, 0, NULL, NULL, "int8", "full_loop", 0},
        {16, {.alone = true}, 0, NULL, NULL, "int8", "semi_loop", 0},
        {17, {.alone = true}, 0, NULL, NULL, "int8", "recursive_halving", 0},
        {104, {.alone = true}, 0, NULL, NULL, "int8", "recursive_halving", 0},
        {512, {.alone = true}, 0, NULL, NULL, "int8", "recursive_halving", 0},
        {513, {.alone = true}, 0, NULL, NULL, "int10", "semi_loop", 0},
        /* clang-format on */
    };
    const double c = quant_error_coefficient(&quant_format_int8, BLOCK);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        wanted_t wanted = rows[i].wanted;
        choice_t choice = {0};

        wanted.format = format_named(rows[i].wanted_format);
        wanted.algo = algo_named(rows[i].wanted_algo);
        wanted.target_nmse += rows[i].target_c * c;
        assert_int_equal(NULL != rows[i].format, choose(&wanted, rows[i].ranks, &choice));
        if (NULL != rows[i].format) {
            const bool of_auto = 0 == wanted.target_nmse && NULL == wanted.format && !wanted.alone;
            assert_string_equal(rows[i].format, choice.format->name);
            assert_string_equal(rows[i].algo, choice.algo->name);
            assert_true(0 == rows[i].nmse_c ||
                        fabs(choice.nmse / (rows[i].nmse_c * c) - 1) < 1e-12);
            assert_true(!of_auto || choice.nmse * QUANT_CHOOSE_MARGIN < QUANT_AUTO_NMSE);
        }
    }
}
