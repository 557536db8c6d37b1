/*
 * The cut of a call: so many tiles and messages as are asked for, as far as they may be; without
 * either what it always was.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "quant_algos.h"
#include "quant_mse.h"
#include "quant_settings.h"
#include "quant_valid.h"

/* clang-format off */
static const size_t lengths[] = {
    0, 1, 63, 64, 65, 511, 512, 513, 4096, 4097, 262143, 262144, 262145, 1000003, 1 << 24,
    SIZE_MAX / 4, SIZE_MAX / 64 - 64, SIZE_MAX - 63, SIZE_MAX - 1, SIZE_MAX,
};
/* clang-format on */
static const int numbers[] = {0, 1, 2, 3, 7, 64, 1000, 1000000};
static const size_t segments[] = {2048, 61440, 8388608};

enum {
    LENGTHS = sizeof lengths / sizeof lengths[0],
    NUMBERS = sizeof numbers / sizeof numbers[0],
    SEGMENTS = sizeof segments / sizeof segments[0],
};

static quant_config_t config_of(int minishards, int microshards, size_t segment_bytes,
                                const quant_format_t *format)
{
    static quant_kernels_t kernels;
    quant_settings_t settings = quant_defaults();

    settings.minishards = minishards;
    settings.microshards = microshards;
    settings.segment_bytes = segment_bytes;
    kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_config_t config = {.kernels = &kernels};
    settings.format = QUANT_CHOICE_AUTO + 1 + (int) format->code;
    assert_true(quant_settings_config(&settings, 2, &config));
    assert_true(quant_config_is_valid(&config));
    return config;
}

static quant_cut_t cut_of(int minishards, int microshards, size_t shard_elems)
{
    const quant_config_t config = config_of(minishards, microshards, 61440, &quant_format_int8);
    return quant_cut(&config, shard_elems);
}

static size_t divide_up(size_t value, size_t by)
{
    return value / by + (0 != value % by);
}

/* The defaults: 64 rows, 14 tiles of 4224 bytes and a header in 60 KiB. */
TEST(without_either_no_length_changes_anything)
{
    for (size_t l = 0; l < LENGTHS; ++l) {
        const quant_cut_t cut = cut_of(0, 0, lengths[l]);
        assert_int_equal(64, cut.block_rows);
        assert_int_equal(14 * 4096, cut.segment_elems);
    }
}

TEST(minishards_are_the_tiles_of_the_longest_shard)
{
    for (size_t l = 0; l < LENGTHS; ++l) {
        for (size_t m = 1; m < NUMBERS; ++m) {
            const size_t rows = divide_up(lengths[l], 64);
            const unsigned got = cut_of(numbers[m], 0, lengths[l]).block_rows;
            const size_t tiles = divide_up(rows, got);
            assert_in_range(got, 8, 4096);
            /* So many, or fewer where one tile less would be too few; outside of the limits as near
             * as may be. */
            assert_true(tiles <= (size_t) numbers[m] || 4096 == got);
            assert_true(8 == got || divide_up(rows, got / 2) > (size_t) numbers[m]);
            assert_int_equal(0, got & (got - 1));
        }
    }
}

TEST(microshards_are_the_messages_of_the_longest_shard)
{
    for (size_t l = 0; l < LENGTHS; ++l) {
        for (size_t m = 0; m < NUMBERS; ++m) {
            for (size_t u = 1; u < NUMBERS; ++u) {
                const quant_config_t config =
                    config_of(numbers[m], numbers[u], 61440, &quant_format_int8);
                const quant_cut_t cut = quant_cut(&config, lengths[l]);
                const size_t tile = (size_t) cut.block_rows * 64;
                const size_t most = config.segment_elems / tile * tile;
                const size_t messages = divide_up(lengths[l], cut.segment_elems);
                assert_true(messages <= (size_t) numbers[u] || most == cut.segment_elems);
                assert_true(tile == cut.segment_elems ||
                            divide_up(lengths[l], cut.segment_elems - tile) > (size_t) numbers[u]);
            }
        }
    }
}

/* By hand: 1000000 elements are 15625 rows. */
TEST(examples_are_cut_as_computed_by_hand)
{
    static const struct {
        int minishards;
        int microshards;
        unsigned block_rows;
        size_t tiles; /* of a message */
    } rows[] = {
        {4, 0, 4096, 1},    /* 3907 rows; 256 KiB: longer than 60 */
        {64, 0, 256, 3},    /* 245 rows; 16512 bytes each */
        {1000, 0, 16, 53},  /* 1152 bytes each: 53 and the header are 61072 */
        {1, 1, 4096, 1},    /* the longest tile that there is */
        {64, 16, 256, 4},   /* 3.8 tiles */
        {1000, 3, 16, 256}, /* 326 would be wanted; a buffer holds 4096 rows */
        {0, 100, 64, 3},    /* 10000 elements: 2.4 tiles */
        {0, 2, 64, 14},     /* 60 KiB */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const quant_cut_t cut = cut_of(rows[i].minishards, rows[i].microshards, 1000000);
        assert_int_equal(rows[i].block_rows, cut.block_rows);
        assert_int_equal(rows[i].tiles * rows[i].block_rows * 64, cut.segment_elems);
    }
}

/* What a pipeline makes its buffers for is enough for whatever call. */
TEST(no_message_is_longer_than_its_buffer_nor_than_segment_bytes)
{
    const quant_format_t *format = NULL;

    for (size_t i = 0; i < LENGTHS * NUMBERS * NUMBERS * SEGMENTS; ++i) {
        const int m = numbers[i / LENGTHS % NUMBERS];
        const int u = numbers[i / LENGTHS / NUMBERS % NUMBERS];
        const size_t bytes = segments[i / LENGTHS / NUMBERS / NUMBERS];
        for (size_t f = 0; NULL != (format = quant_format_at(f)); ++f) {
            const quant_config_t config = config_of(m, u, bytes, format);
            const quant_cut_t cut = quant_cut(&config, lengths[i % LENGTHS]);
            const size_t tile = (size_t) cut.block_rows * 64;
            const size_t message = sizeof(quant_wire_header_t) +
                                   quant_payload_bytes(format, cut.segment_elems, cut.block_rows);

            assert_true(cut.segment_elems > 0 && cut.segment_elems <= config.segment_elems);
            assert_int_equal(0, cut.segment_elems % tile);
            assert_true(cut.block_rows <= config.block_rows);
            assert_true(quant_wire_bytes_max(format, cut.segment_elems, cut.block_rows) <=
                        quant_wire_bytes_max(format, config.segment_elems, config.block_rows));
            assert_true(message <= bytes || tile == cut.segment_elems || (m > 0 && u > 0));
        }
    }
}

/* semi_loop of 8: 24 c / 8 is 1.06e-4 with blocks of 64, 2.26e-4 with 4096. */
TEST(a_target_is_met_with_the_longest_blocks)
{
    quant_settings_t settings = quant_defaults();
    quant_config_t config = {0};

    settings.algorithm = 1 + 1; /* auto, full_loop, semi_loop */
    settings.target_nmse = 1.5e-4;
    assert_true(quant_settings_config(&settings, 8, &config));
    assert_string_equal("semi_loop", config.algo->name);
    assert_string_equal("int8", config.gather_format->name);
    settings.minishards = 1000000;
    assert_true(quant_settings_config(&settings, 8, &config));
    assert_string_equal("int9", config.gather_format->name);
    settings.target_nmse = 2.5e-4;
    assert_true(quant_settings_config(&settings, 8, &config));
    assert_string_equal("int8", config.gather_format->name);
    const double nmse = quant_error_mse(&config, 8, 1) / 8;
    assert_true(nmse > 2.25e-4 && nmse < 2.26e-4);
}

/* Of 4 ranks direct has 7 c / 4, 6.2e-5, and doubling 2 c, 7.1e-5. */
TEST(short_vectors_meet_a_target_too)
{
    quant_settings_t settings = quant_defaults();
    quant_config_t config = {0};

    assert_true(quant_settings_config(&settings, 4, &config));
    assert_int_equal(QUANT_DOUBLING_BYTES, config.doubling_bytes);
    settings.target_nmse = 7e-5;
    assert_true(quant_settings_config(&settings, 4, &config));
    assert_string_equal("int8", config.gather_format->name);
    assert_int_equal(0, config.doubling_bytes);
    settings.target_nmse = 8e-5;
    assert_true(quant_settings_config(&settings, 4, &config));
    assert_string_equal("int8", config.gather_format->name);
    assert_int_equal(QUANT_DOUBLING_BYTES, config.doubling_bytes);
}
