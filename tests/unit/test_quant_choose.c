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

TEST(what_is_named_restricts_the_choice)
{
    wanted_t wanted = want_anything(1e-4);
    choice_t choice = {0};

    wanted.format = &quant_format_int16;
    assert_true(choose(&wanted, 8, &choice));
    assert_ptr_equal(&quant_format_int16, choice.format);
    assert_string_equal("semi_loop", choice.algo->name);

    /* 4.5 c = 1.6e-4 with the full loop, 1.9 c = 6.6e-5 with direct. */
    wanted.format = &quant_format_int8;
    assert_true(choose(&wanted, 8, &choice));
    assert_string_equal("direct", choice.algo->name);
    wanted.algo = quant_algo_at(QUANT_ALGO_full_loop);
    assert_false(choose(&wanted, 8, &choice));
    wanted.format = NULL;
    assert_true(choose(&wanted, 8, &choice));
    assert_ptr_equal(&quant_format_int9, choice.format);
    assert_string_equal("full_loop", choice.algo->name);

    /* Formats without scales and the exact one serve who names them. */
    wanted.format = &quant_format_fp16;
    assert_true(choose(&wanted, 8, &choice));
    assert_ptr_equal(&quant_format_fp16, choice.format);
    wanted.format = &quant_format_fp32;
    wanted.target_nmse = 1e-30;
    assert_true(choose(&wanted, 8, &choice));
    assert_ptr_equal(&quant_format_fp32, choice.format);
}

TEST(with_levels_the_hierarchical_one_is_taken)
{
    const double c = quant_error_coefficient(&quant_format_int8, BLOCK);
    wanted_t wanted = want_anything(0);
    choice_t choice = {0};

    wanted.per_node = 2;
    assert_true(choose(&wanted, 8, &choice));
    assert_string_equal("hierarchical", choice.algo->name);

    /* 4 nodes: (12 + 8)/8 c; direct has (7 + 8)/8 c. */
    wanted.target_nmse = 2.7 * c;
    assert_true(choose(&wanted, 8, &choice));
    assert_string_equal("hierarchical", choice.algo->name);
    assert_ptr_equal(&quant_format_int8, choice.format);
    assert_true(fabs(choice.nmse / (2.5 * c) - 1) < 1e-12);
    wanted.target_nmse = 2.4 * c;
    assert_true(choose(&wanted, 8, &choice));
    assert_string_equal("direct", choice.algo->name);
    wanted.algo = quant_algo_at(QUANT_ALGO_hierarchical);
    assert_true(choose(&wanted, 8, &choice));
    assert_string_equal("hierarchical", choice.algo->name);
    assert_ptr_equal(&quant_format_int9, choice.format);
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

TEST(stages_that_are_exact_leave_room)
{
    const double c = quant_error_coefficient(&quant_format_int8, BLOCK);
    wanted_t wanted = want_anything(1.5 * c);
    choice_t choice = {0};

    assert_true(choose(&wanted, 8, &choice));
    assert_ptr_equal(&quant_format_int9, choice.format);
    wanted.exact_reduce = true;
    assert_true(choose(&wanted, 8, &choice));
    assert_ptr_equal(&quant_format_int8, choice.format);
    assert_true(fabs(choice.nmse / c - 1) < 1e-12);
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

/* The number of ranks is all that matters. */
TEST(auto_keeps_below_its_limit_with_any_number_of_ranks)
{
    static const struct {
        unsigned ranks;
        unsigned per_node;
        bool feedback;
        const char *format;
        const char *algo;
    } rows[] = {
        {2, 1, false, "int8", "full_loop"},         {64, 1, false, "int8", "semi_loop"},
        {102, 1, false, "int8", "semi_loop"},       {104, 1, false, "int9", "semi_loop"},
        {256, 1, false, "int9", "semi_loop"},       {420, 1, false, "int9", "semi_loop"},
        {424, 1, false, "int10", "semi_loop"},      {1024, 1, false, "int10", "semi_loop"},
        {20000, 1, false, "int12", "semi_loop"},    {48, 1, true, "int8", "semi_loop"},
        {50, 1, true, "int8", "recursive_halving"}, {64, 1, true, "int8", "recursive_halving"},
        {65, 1, true, "int9", "semi_loop"},         {512, 8, false, "int8", "hierarchical"},
        {1024, 8, false, "int8", "hierarchical"},
    };
    static const struct {
        unsigned ranks;
        const char *format;
        const char *algo;
    } alone[] = {
        {4, "int8", "full_loop"},           {16, "int8", "semi_loop"},
        {17, "int8", "recursive_halving"},  {104, "int8", "recursive_halving"},
        {512, "int8", "recursive_halving"}, {513, "int10", "semi_loop"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        wanted_t wanted = want_anything(0);
        choice_t choice = {0};

        wanted.feedback = rows[i].feedback;
        wanted.per_node = rows[i].per_node;
        assert_true(choose(&wanted, rows[i].ranks, &choice));
        assert_string_equal(rows[i].format, choice.format->name);
        assert_string_equal(rows[i].algo, choice.algo->name);
        assert_true(choice.nmse * QUANT_CHOOSE_MARGIN < QUANT_AUTO_NMSE);
    }
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; ++i) {
        wanted_t wanted = want_anything(0);
        choice_t choice = {0};

        wanted.alone = true;
        assert_true(choose(&wanted, alone[i].ranks, &choice));
        assert_string_equal(alone[i].format, choice.format->name);
        assert_string_equal(alone[i].algo, choice.algo->name);
    }
}

TEST(the_limit_of_auto_is_not_for_what_is_named)
{
    wanted_t wanted = want_anything(0);
    choice_t choice = {0};

    wanted.format = &quant_format_int4;
    assert_true(choose(&wanted, 256, &choice));
    assert_ptr_equal(&quant_format_int4, choice.format);
    assert_string_equal("semi_loop", choice.algo->name);
    /* A target goes before it, whichever is larger. */
    wanted.format = NULL;
    wanted.target_nmse = 0.1;
    assert_true(choose(&wanted, 8, &choice));
    assert_ptr_equal(&quant_format_int4, choice.format);
    /* The algorithm alone is named: 511/2 + 1 times c. */
    wanted.target_nmse = 0;
    wanted.algo = quant_algo_at(QUANT_ALGO_full_loop);
    assert_true(choose(&wanted, 512, &choice));
    assert_ptr_equal(&quant_format_int10, choice.format);
    assert_ptr_equal(wanted.algo, choice.algo);
}
