/*
 * Selection: which algorithm a message gets, and what the user's settings make
 * of it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "lowlat_net.h"
#include "lowlat_rules.h"
#include "lowlat_staging.h"
#include "quant_algos.h"
#include "quant_settings.h"
#include "quant_valid.h"
#include "quant_wire.h"

enum { ARENA_BYTES = 1048576 };
#define LIMIT "below:300000-inf"

static bool cores_shared; /* what the groups of a test are like */

static lowlat_group_t group_of(unsigned ranks)
{
    return (lowlat_group_t){
        .ranks = ranks, .cores_shared = cores_shared, .arena_bytes = ARENA_BYTES};
}

static int share_cores(void **state)
{
    cores_shared = true;
    return 0;
}

static int own_cores(void **state)
{
    cores_shared = false;
    return 0;
}

/* No rule is wrong but one that contradicts `reproducible`. */
static void complain(void *context, const char *what)
{
    const lowlat_config_t *config = context;

    assert_true(config->reproducible);
    assert_non_null(strstr(what, "coll_lowlat_reproducible"));
}

static lowlat_map_t map_of_group(const lowlat_group_t *group, lowlat_config_t config)
{
    const char *text = NULL == config.rules ? "" : config.rules;
    const lowlat_shape_t shape = lowlat_shape_of(group);
    lowlat_rules_t rules;
    lowlat_map_t map;

    lowlat_rules_init(&rules, text, config.reproducible, false, complain, &config);
    lowlat_map_init(&map, &config, &rules, &shape, group);
    return map;
}

static lowlat_map_t map_of(unsigned ranks, lowlat_config_t config)
{
    const lowlat_group_t group = group_of(ranks);

    return map_of_group(&group, config);
}

/* 2 ranks: the longest message of one-shot. */
TEST(the_way_of_staging_bounds_one_shot)
{
    static const size_t max_bytes[LOWLAT_WAYS] = {
        [LOWLAT_WAY_ORDINARY] = 16 << 10,
        [LOWLAT_WAY_PREFETCHING] = 32 << 10,
        [LOWLAT_WAY_STREAMING] = 8 << 20,
    };

    for (lowlat_way_t way = LOWLAT_WAY_ORDINARY; way < LOWLAT_WAYS; ++way) {
        lowlat_group_t group = group_of(2);

        group.way = way;
        const lowlat_map_t map = map_of_group(&group, (lowlat_config_t){0});
        assert_int_equal(LOWLAT_ALGORITHM_ONESHOT, lowlat_map_lookup(&map, max_bytes[way]));
        assert_int_equal(LOWLAT_ALGORITHM_TWOSHOT, lowlat_map_lookup(&map, max_bytes[way] + 1));
    }
}

TEST(short_messages_go_in_one_shot_and_long_ones_in_two)
{
    for (unsigned ranks = 2; ranks <= 100; ++ranks) {
        const lowlat_map_t map = map_of(ranks, (lowlat_config_t){0});
        assert_int_equal(LOWLAT_ALGORITHM_ONESHOT, lowlat_map_lookup(&map, 1));
        assert_int_equal(LOWLAT_ALGORITHM_ONESHOT, lowlat_map_lookup(&map, 56));
        assert_int_equal(LOWLAT_ALGORITHM_TWOSHOT, lowlat_map_lookup(&map, (size_t) 1 << 24));
        assert_int_equal(LOWLAT_ALGORITHM_TWOSHOT, lowlat_map_lookup(&map, SIZE_MAX));
    }
}

TEST(entries_ascend_and_more_ranks_never_raise_a_limit)
{
    size_t limit = SIZE_MAX;
    for (unsigned ranks = 2; ranks <= 100; ++ranks) {
        const lowlat_map_t map = map_of(ranks, (lowlat_config_t){0});
        for (unsigned i = 1; i < map.entries; ++i) {
            assert_true(map.entry[i].max_bytes > map.entry[i - 1].max_bytes);
        }
        assert_true(map.entry[0].max_bytes <= limit);
        limit = map.entry[0].max_bytes;
    }
}

TEST(a_forced_algorithm_takes_all)
{
    for (unsigned algorithm = 0; algorithm < LOWLAT_NODES_FIRST; ++algorithm) {
        const lowlat_map_t map = map_of(8, (lowlat_config_t){.algorithm = 1 + (int) algorithm});

        assert_int_equal(algorithm, lowlat_map_lookup(&map, 1));
        assert_int_equal(algorithm, lowlat_map_lookup(&map, SIZE_MAX));
    }
}

TEST(reproducible_takes_every_length_reproducible)
{
    for (int choice = 0; choice <= (int) LOWLAT_ALGORITHM_NONE; ++choice) {
        for (unsigned ranks = 2; ranks <= 100; ++ranks) {
            const lowlat_map_t map = map_of(
                ranks,
                (lowlat_config_t){.algorithm = choice, .rules = LIMIT, .reproducible = true});
            for (size_t bytes = 1; bytes < (size_t) 1 << 40; bytes *= 2) {
                const unsigned algorithm = lowlat_map_lookup(&map, bytes);
                assert_true(algorithm < LOWLAT_ALGORITHMS);
                assert_true(lowlat_algorithms[algorithm].reproducible);
            }
        }
    }
}

/* ---- several nodes ---- */

static lowlat_map_t nodes_map_of(unsigned nodes, lowlat_config_t config)
{
    lowlat_net_t net = {.nodes = nodes, .owners = 1};
    const lowlat_group_t group = {.ranks = 1, .arena_bytes = ARENA_BYTES, .net = &net};

    return map_of_group(&group, config);
}

TEST(nodes_learn_all_lengths)
{
    enum { TEXT_BYTES = 256 };
    char text[TEXT_BYTES];

    /* What is for one node does not matter, nor do rules: these are for selectors. */
    for (int choice = 0; choice <= (int) LOWLAT_NODES_FIRST; ++choice) {
        const lowlat_config_t config = {.algorithm = choice, .rules = LIMIT};
        const lowlat_map_t map = nodes_map_of(3, config);
        assert_int_equal(LOWLAT_LEARNED, lowlat_map_lookup(&map, 1));
        assert_int_equal(LOWLAT_LEARNED, lowlat_map_lookup(&map, SIZE_MAX));
    }
    const lowlat_map_t map = nodes_map_of(3, (lowlat_config_t){0});
    lowlat_map_describe(&map, text, sizeof text);
    assert_string_equal("learned:0-inf", text);
}

TEST(nodes_take_the_algorithm_that_is_forced)
{
    for (unsigned algorithm = LOWLAT_NODES_FIRST; algorithm < LOWLAT_ALGORITHMS; ++algorithm) {
        const lowlat_config_t config = {.algorithm = 1 + (int) algorithm};
        const lowlat_map_t map = nodes_map_of(3, config);

        assert_int_equal(algorithm, lowlat_forced(&config, true));
        assert_int_equal(LOWLAT_NOT_FORCED, lowlat_forced(&config, false));
        assert_int_equal(algorithm, lowlat_map_lookup(&map, 1));
        assert_int_equal(algorithm, lowlat_map_lookup(&map, SIZE_MAX));
    }
}

TEST(none_passes_everything_down_between_nodes_only)
{
    const lowlat_config_t config = {.algorithm = LOWLAT_ALGORITHM_NONE, .reproducible = true};
    const lowlat_map_t nodes = nodes_map_of(2, config);
    const lowlat_map_t node = map_of(2, config);

    assert_int_equal(LOWLAT_NOT_FORCED, lowlat_forced(&config, true));
    assert_int_equal(LOWLAT_PASS_DOWN, lowlat_map_lookup(&nodes, 1));
    assert_int_equal(LOWLAT_PASS_DOWN, lowlat_map_lookup(&nodes, SIZE_MAX));
    assert_int_equal(LOWLAT_ALGORITHM_ONESHOT, lowlat_map_lookup(&node, 1));
}

/* Also where the ring, whose order depends on the position, was asked for. */
TEST(reproducible_takes_every_length_between_nodes)
{
    for (int choice = 0; choice < (int) LOWLAT_ALGORITHM_NONE; ++choice) {
        const lowlat_config_t config = {.algorithm = choice, .reproducible = true};
        const unsigned forced = lowlat_forced(&config, true);
        const unsigned taken = LOWLAT_NOT_FORCED == forced ? (unsigned) LOWLAT_LEARNED : forced;
        for (unsigned nodes = 2; nodes <= 100; ++nodes) {
            const lowlat_map_t map = nodes_map_of(nodes, config);
            assert_int_equal(taken, lowlat_map_lookup(&map, 1));
            assert_int_equal(taken, lowlat_map_lookup(&map, SIZE_MAX));
        }
    }
}

TEST(a_selection_can_be_read)
{
    enum { TEXT_BYTES = 256 };
    char text[TEXT_BYTES];

    lowlat_map_t map = map_of(2, (lowlat_config_t){.rules = LIMIT ", half_butterfly:100-1k"});
    lowlat_map_describe(&map, text, sizeof text);
    assert_string_equal("oneshot:0-100,half_butterfly:100-1k,oneshot:1k-16k,twoshot:16k-300000,"
                        "below:300000-inf",
                        text);
    map = map_of(8, (lowlat_config_t){.algorithm = 1 + LOWLAT_ALGORITHM_TWOSHOT});
    lowlat_map_describe(&map, text, sizeof text);
    assert_string_equal("twoshot:0-inf", text);
}

TEST(every_choice_of_format_and_algorithm_exists)
{
    size_t choice = 0;

    assert_string_equal("auto", quant_format_choices[QUANT_CHOICE_AUTO]);
    for (; NULL != quant_format_choices[1 + choice]; ++choice) {
        assert_string_equal(quant_format_choices[1 + choice], quant_format_at(choice)->name);
    }
    assert_null(quant_format_at(choice));
    assert_string_equal("auto", quant_algorithm_choices[QUANT_CHOICE_AUTO]);
    for (choice = 0; NULL != quant_algorithm_choices[1 + choice]; ++choice) {
        assert_string_equal(quant_algorithm_choices[1 + choice], quant_algo_at(choice)->name);
    }
    assert_null(quant_algo_at(choice));
}

/* For two ranks, in this format. */
static quant_config_t config_of(const quant_settings_t *settings, const quant_format_t *format,
                                const quant_kernels_t *kernels)
{
    quant_settings_t named = *settings;
    quant_config_t config = {.kernels = kernels};

    named.format = QUANT_CHOICE_AUTO + 1 + (int) format->code;
    assert_true(quant_settings_config(&named, 2, &config));
    return config;
}

/* As long as it may be, in whole tiles; or one tile. */
TEST(messages_fill_the_segment)
{
    enum { SEGMENTS = 4 };
    static const struct {
        int asked;
        unsigned taken;
    } blocks[] = {{QUANT_BLOCK_ROWS_MIN, QUANT_BLOCK_ROWS_MIN},
                  {64, 64},
                  {100, 128},
                  {QUANT_BLOCK_ROWS_MAX, QUANT_BLOCK_ROWS_MAX}};
    static const size_t segments[SEGMENTS] = {2048, 61440, 100000, 8388608};
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_settings_t settings = quant_defaults();
    const quant_format_t *format = NULL;

    for (size_t f = 0; NULL != (format = quant_format_at(f)); ++f) {
        for (size_t i = 0; i < sizeof blocks / sizeof blocks[0] * SEGMENTS; ++i) {
            settings.block = blocks[i / SEGMENTS].asked;
            settings.segment_bytes = segments[i % SEGMENTS];
            const quant_config_t config = config_of(&settings, format, &kernels);
            const unsigned rows = config.block_rows;
            const size_t tile = quant_tile_elems(rows);
            const size_t bytes = sizeof(quant_wire_header_t) +
                                 quant_payload_bytes(format, config.segment_elems, rows);
            assert_true(quant_config_is_valid(&config));
            assert_true(rows == blocks[i / SEGMENTS].taken || format->exact);
            assert_int_equal(QUANT_DEPTH, config.depth);
            assert_true(bytes <= settings.segment_bytes || tile == config.segment_elems);
            assert_true(bytes + quant_payload_bytes(format, tile, rows) > settings.segment_bytes);
        }
    }
}

TEST(stages_choose_what_is_quantized)
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

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        settings.stages = rows[i].stages;
        const quant_config_t config = config_of(&settings, &quant_format_int8, &kernels);
        assert_ptr_equal(rows[i].reduce, config.reduce_format);
        assert_ptr_equal(rows[i].gather, config.gather_format);
        assert_int_equal(QUANT_STAGES_NONE == settings.stages ? QUANT_BLOCK_ROWS_MIN
                                                              : settings.block,
                         config.block_rows);
    }
}

/* Whatever the tiles of coded messages are: no more than 2 KiB of the room is left. */
TEST(exact_messages_are_as_long_as_they_may_be)
{
    static const int minishards[] = {0, 1, 1000};
    static const size_t segments[] = {2048, 49152, 61440, 8388608};
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_settings_t settings = quant_defaults();

    settings.stages = QUANT_STAGES_NONE;
    for (size_t i = 0; i < sizeof minishards / sizeof minishards[0]; ++i) {
        for (size_t j = 0; j < sizeof segments / sizeof segments[0]; ++j) {
            settings.minishards = minishards[i];
            settings.segment_bytes = segments[j];
            const quant_config_t config = config_of(&settings, &quant_format_int8, &kernels);
            const quant_cut_t cut = quant_cut(&config, 1 << 24);
            const size_t bytes = sizeof(quant_wire_header_t) + cut.segment_elems * sizeof(float);
            assert_true(quant_config_is_valid(&config));
            assert_true(bytes <= segments[j] ||
                        quant_tile_elems(cut.block_rows) == cut.segment_elems);
            assert_true(bytes + 2048 > segments[j]);
        }
    }
}

TEST(the_info_key_says_off_on_a_format_or_a_target)
{
    static const char *const nothing[] = {"perhaps", "0", "1", "-1e-4", "1e-4x", ""};
    quant_settings_t settings = {.format = QUANT_CHOICE_AUTO, .target_nmse = 0.5};

    assert_int_equal(QUANT_WISH_OFF, quant_wish_parse("off", &settings));
    assert_int_equal(QUANT_WISH_ON, quant_wish_parse("On", &settings));
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; ++i) {
        assert_int_equal(QUANT_WISH_NONE, quant_wish_parse(nothing[i], &settings));
    }
    assert_int_equal(QUANT_CHOICE_AUTO, settings.format);
    assert_true(0.5 == settings.target_nmse);
    assert_int_equal(QUANT_WISH_FORMAT, quant_wish_parse("fp32", &settings));
    assert_string_equal("fp32", quant_format_choices[settings.format]);
    assert_int_equal(QUANT_WISH_TARGET, quant_wish_parse("1e-4", &settings));
    assert_int_equal(QUANT_CHOICE_AUTO, settings.format);
    assert_true(1e-4 == settings.target_nmse);
}

/* What ranks compare after they have chosen: whatever they derive counts, and kernels do not. */
TEST(all_that_is_derived_is_compared)
{
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    const quant_kernels_t others = kernels;
    const quant_settings_t settings = quant_defaults();
    const quant_config_t config = config_of(&settings, &quant_format_int8, &kernels);

    quant_config_t same = config;
    same.kernels = &others;
    assert_true(quant_config_hash(&config) == quant_config_hash(&same));
#define ASSERT_COMPARED(_field, _other)                                       \
    do {                                                                      \
        quant_config_t other = config;                                        \
        other._field = (_other);                                              \
        assert_true(quant_config_hash(&config) != quant_config_hash(&other)); \
    } while (0)
    ASSERT_COMPARED(algo, quant_algo_at(config.algo == quant_algo_at(0)));
    ASSERT_COMPARED(reduce_format, &quant_format_bf16);
    ASSERT_COMPARED(gather_format, &quant_format_bf16);
    ASSERT_COMPARED(block_rows, config.block_rows * 2);
    ASSERT_COMPARED(segment_elems, config.segment_elems * 2);
    ASSERT_COMPARED(segment_bytes, config.segment_bytes * 2);
    ASSERT_COMPARED(minishards, 3);
    ASSERT_COMPARED(microshards, 3);
    ASSERT_COMPARED(depth, config.depth + 1);
    ASSERT_COMPARED(feedback, !config.feedback);
    ASSERT_COMPARED(doubles, !config.doubles);
    ASSERT_COMPARED(storage, !config.storage);
    ASSERT_COMPARED(per_node, 2);
#undef ASSERT_COMPARED
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(short_messages_go_in_one_shot_and_long_ones_in_two,
                                        share_cores, own_cores),
        cmocka_unit_test_setup_teardown(entries_ascend_and_more_ranks_never_raise_a_limit,
                                        share_cores, own_cores),
        cmocka_unit_test_setup_teardown(reproducible_takes_every_length_reproducible, share_cores,
                                        own_cores),
    };
    unit_add(UNIT_TESTS(tests));
    return unit_run("selection");
}
