/*
 * Selection: which algorithm a message gets, and what the user's settings make
 * of it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lowlat_select.h"
#include "quant_settings.h"

enum { MAX_BYTES = 262144 };

static lowlat_map_t map_of(unsigned ranks, int algorithm, size_t max_bytes)
{
    const lowlat_config_t config = {.algorithm = algorithm, .max_bytes = max_bytes};
    const lowlat_group_t group = {.ranks = ranks, .arena_bytes = max_bytes, .block_bytes = 8192};
    lowlat_map_t map;

    lowlat_map_init(&map, &config, &group);
    return map;
}

static void small_messages_go_into_a_line_and_long_ones_down(void **state)
{
    (void) state;
    const lowlat_map_t map = map_of(2, LOWLAT_ALGORITHM_AUTO, MAX_BYTES);

    assert_int_equal(LOWLAT_ALGORITHM_INLINE, lowlat_map_lookup(&map, 1));
    assert_int_equal(LOWLAT_ALGORITHM_INLINE, lowlat_map_lookup(&map, LOWLAT_LINE_DATA_BYTES));
    assert_int_equal(LOWLAT_ALGORITHM_STAGED, lowlat_map_lookup(&map, LOWLAT_LINE_DATA_BYTES + 1));
    assert_int_equal(LOWLAT_ALGORITHM_STAGED, lowlat_map_lookup(&map, map.max_bytes));
    assert_int_equal(LOWLAT_ALGORITHMS, lowlat_map_lookup(&map, map.max_bytes + 1));
    assert_true(map.max_bytes <= MAX_BYTES);
}

static void more_ranks_never_raise_a_limit(void **state)
{
    (void) state;
    size_t limit = SIZE_MAX;
    for (unsigned ranks = 2; ranks <= 64; ++ranks) {
        const lowlat_map_t map = map_of(ranks, LOWLAT_ALGORITHM_AUTO, MAX_BYTES);
        assert_true(map.max_bytes <= limit);
        assert_true(map.max_bytes >= LOWLAT_LINE_DATA_BYTES);
        limit = map.max_bytes;
    }
}

static void a_forced_algorithm_takes_all_that_it_can_carry(void **state)
{
    (void) state;
    const lowlat_map_t inline_only = map_of(8, 1 + LOWLAT_ALGORITHM_INLINE, MAX_BYTES);
    const lowlat_map_t staged_only = map_of(8, 1 + LOWLAT_ALGORITHM_STAGED, MAX_BYTES);

    assert_int_equal(LOWLAT_ALGORITHM_INLINE, lowlat_map_lookup(&inline_only, 8));
    assert_int_equal(LOWLAT_ALGORITHMS, lowlat_map_lookup(&inline_only, 57));
    assert_int_equal(LOWLAT_ALGORITHM_STAGED, lowlat_map_lookup(&staged_only, 8));
    assert_int_equal(LOWLAT_ALGORITHM_STAGED, lowlat_map_lookup(&staged_only, MAX_BYTES));
    assert_int_equal(LOWLAT_ALGORITHMS, lowlat_map_lookup(&staged_only, MAX_BYTES + 1));
}

static void max_bytes_bounds_every_algorithm(void **state)
{
    (void) state;
    const lowlat_map_t map = map_of(2, LOWLAT_ALGORITHM_AUTO, 16);

    assert_int_equal(LOWLAT_ALGORITHM_INLINE, lowlat_map_lookup(&map, 16));
    assert_int_equal(LOWLAT_ALGORITHMS, lowlat_map_lookup(&map, 17));
}

static void a_selection_can_be_read(void **state)
{
    enum { TEXT_BYTES = 256 };
    char text[TEXT_BYTES];
    const lowlat_map_t map = map_of(8, 1 + LOWLAT_ALGORITHM_STAGED, 4096);
    (void) state;

    lowlat_map_describe(&map, text, sizeof text);
    assert_string_equal("oneshot_staged to 4096 bytes, longer messages passed down", text);
}

static void every_choice_of_format_and_algorithm_exists(void **state)
{
    size_t choice = 0;
    (void) state;

    for (; NULL != quant_format_choices[choice]; ++choice) {
        assert_string_equal(quant_format_choices[choice], quant_format_at(choice)->name);
    }
    assert_null(quant_format_at(choice));
    for (choice = 0; NULL != quant_algorithm_choices[choice]; ++choice) {
        assert_string_equal(quant_algorithm_choices[choice], quant_algo_at(choice)->name);
    }
    assert_null(quant_algo_at(choice));
}

static quant_settings_t quant_defaults(void)
{
    quant_settings_t settings;
    memset(&settings, 0, sizeof settings);
    for (size_t i = 0; i < quant_params_count; ++i) {
        arc_param_set(&quant_params[i], &settings, quant_params[i].default_value);
    }
    return settings;
}

static void settings_give_valid_configurations(void **state)
{
    static const int blocks[] = {QUANT_BLOCK_ROWS_MIN, 64, 100, QUANT_BLOCK_ROWS_MAX};
    static const size_t segments[] = {2048, 65536, 100000, 67108864};
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_settings_t settings = quant_defaults();
    (void) state;

    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i) {
        for (size_t j = 0; j < sizeof segments / sizeof segments[0]; ++j) {
            settings.block = blocks[i];
            settings.segment_bytes = segments[j];
            const quant_config_t config = quant_settings_config(&settings, 0, &kernels);
            assert_int_equal(ARC_OK, quant_config_check(&config));
            assert_int_equal(blocks[i], config.block_rows);
            assert_int_equal(settings.depth, config.depth);
        }
    }
}

static void stages_choose_what_is_quantized(void **state)
{
    static const struct {
        int stages;
        const quant_format_t *reduce;
        const quant_format_t *gather;
    } rows[] = {
        {QUANT_STAGES_BOTH, &quant_format_int8, &quant_format_int8},
        {QUANT_STAGES_REDUCE_SCATTER, &quant_format_int8, &quant_format_fp32},
        {QUANT_STAGES_ALLGATHER, &quant_format_fp32, &quant_format_int8},
        {QUANT_STAGES_NONE, &quant_format_fp32, &quant_format_fp32},
    };
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_settings_t settings = quant_defaults();
    (void) state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        settings.stages = rows[i].stages;
        const quant_config_t config = quant_settings_config(&settings, 0, &kernels);
        assert_ptr_equal(rows[i].reduce, config.reduce_format);
        assert_ptr_equal(rows[i].gather, config.gather_format);
    }
}

static void the_info_key_says_off_on_or_a_format(void **state)
{
    int format = -1;
    (void) state;

    assert_int_equal(QUANT_WISH_OFF, quant_wish_parse("off", &format));
    assert_int_equal(QUANT_WISH_ON, quant_wish_parse("On", &format));
    assert_int_equal(QUANT_WISH_NONE, quant_wish_parse("perhaps", &format));
    assert_int_equal(-1, format);
    assert_int_equal(QUANT_WISH_FORMAT, quant_wish_parse("fp32", &format));
    assert_string_equal("fp32", quant_format_choices[format]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_messages_go_into_a_line_and_long_ones_down),
        cmocka_unit_test(more_ranks_never_raise_a_limit),
        cmocka_unit_test(a_forced_algorithm_takes_all_that_it_can_carry),
        cmocka_unit_test(max_bytes_bounds_every_algorithm),
        cmocka_unit_test(a_selection_can_be_read),
        cmocka_unit_test(every_choice_of_format_and_algorithm_exists),
        cmocka_unit_test(settings_give_valid_configurations),
        cmocka_unit_test(stages_choose_what_is_quantized),
        cmocka_unit_test(the_info_key_says_off_on_or_a_format),
    };
    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
