/*
 * Rotation and rounding with noise: every instruction set writes the bytes of the
 * scalar kernels, no error is above the bound in the message, and rounding is right
 * on average.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "quant_error.h"
#include "quant_wire.h"
#include "testlib.h"
#include "transform_options.h"

enum { SEED = 4712, NAME_BYTES = 96, TILE = 64 * QUANT_LANES, ISAS = 3 };

static const arc_isa_t isas[ISAS] = {ARC_ISA_SCALAR, ARC_ISA_AVX2, ARC_ISA_AVX512};

/* What one instruction set makes of a vector; the canaries of all buffers are checked. */
typedef struct trip {
    size_t bytes;
    size_t hop_bytes;
    float bound;
    float sum_error;
    const quant_format_t *found;
    test_buffer_t message;
    test_buffer_t hop; /* the message with the sums */
    test_buffer_t decoded;
    test_buffer_t sum; /* decoded + x */
    test_buffer_t tile;
} trip_t;

static quant_wire_segment_t segment_of(const quant_format_t *format, const struct option *option,
                                       size_t count, unsigned block_rows, uint64_t key)
{
    return (quant_wire_segment_t){
        .codec =
            {
                .format = format,
                .transform = {.rounding = option->rounding, .rotation = option->rotation},
                .key = key,
                .block_rows = block_rows,
                .elems = count,
            },
        .sequence = 7,
    };
}

static trip_t trip_new(quant_wire_segment_t segment, arc_isa_t isa, const float *x)
{
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(isa));
    const size_t bytes = segment.codec.elems * sizeof(float);
    const size_t most =
        quant_wire_bytes_max(segment.codec.format, segment.codec.elems, segment.codec.block_rows);
    trip_t trip = {
        .message = test_buffer_new(most, 4),
        .hop = test_buffer_new(most, 8),
        .decoded = test_buffer_new(bytes, 4),
        .sum = test_buffer_new(bytes, 12),
        .tile = test_buffer_new(quant_tile_elems(segment.codec.block_rows) * sizeof(float), 4),
    };

    segment.codec.kernels = &kernels;
    segment.codec.tile = (float *) trip.tile.data;
    quant_wire_segment_t next = segment;
    next.codec.key = segment.codec.key + 1;
    trip.bytes = quant_wire_pack(&segment, x, 0, trip.message.data);
    assert_int_equal(ARC_OK, quant_wire_check(&segment, trip.message.data, trip.bytes));
    trip.found = quant_wire_format(trip.message.data);
    trip.bound = quant_wire_bound(trip.message.data);
    quant_wire_unpack(&segment, trip.message.data, (float *) trip.decoded.data);
    trip.sum_error = quant_wire_add(&segment, trip.message.data, x, 0, (float *) trip.sum.data);
    trip.hop_bytes = quant_wire_hop(&segment, &next, trip.message.data, x, 0, trip.hop.data);
    assert_true(test_buffer_intact(&trip.message) && test_buffer_intact(&trip.hop));
    assert_true(test_buffer_intact(&trip.decoded) && test_buffer_intact(&trip.sum));
    assert_true(test_buffer_intact(&trip.tile));
    return trip;
}

static void trip_free(trip_t *trip)
{
    test_buffer_free(&trip->message);
    test_buffer_free(&trip->hop);
    test_buffer_free(&trip->decoded);
    test_buffer_free(&trip->sum);
    test_buffer_free(&trip->tile);
}

static void assert_same_trip(const trip_t *expected, const trip_t *trip)
{
    assert_int_equal(expected->bytes, trip->bytes);
    assert_int_equal(expected->hop_bytes, trip->hop_bytes);
    assert_memory_equal(expected->message.data, trip->message.data, trip->bytes);
    assert_memory_equal(expected->hop.data, trip->hop.data, trip->hop_bytes);
    assert_memory_equal(expected->decoded.data, trip->decoded.data, trip->decoded.bytes);
    assert_memory_equal(expected->sum.data, trip->sum.data, trip->sum.bytes);
}

/* The largest error of `values` as multiples of x. */
static double worst_error(const test_buffer_t *values, double times, const float *x, size_t count)
{
    double worst = 0;

    for (size_t i = 0; i < count; ++i) {
        double value = (double) ((const float *) values->data)[i];
        worst = fmax(worst, fabs(value - times * (double) x[i]));
    }
    return worst;
}

/* The sums of a trip once more, packed by themselves: a hop does just that. */
static void assert_hop_is_a_sum_and_a_packing(const quant_wire_segment_t *segment,
                                              const trip_t *trip)
{
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    test_buffer_t packed = test_buffer_new(trip->hop.bytes, 0);
    quant_wire_segment_t next = *segment;

    next.codec.kernels = &kernels;
    next.codec.key += 1;
    next.codec.tile = (float *) trip->tile.data;
    assert_int_equal(trip->hop_bytes, quant_wire_pack(&next, (const float *) trip->sum.data,
                                                      trip->sum_error, packed.data));
    assert_memory_equal(packed.data, trip->hop.data, trip->hop_bytes);
    test_buffer_free(&packed);
}

static void check_vector(const quant_wire_segment_t *segment, const float *x)
{
    const size_t count = segment->codec.elems;
    trip_t scalar = trip_new(*segment, ARC_ISA_SCALAR, x);

    assert_true(worst_error(&scalar.decoded, 1, x, count) <= (double) scalar.bound);
    assert_true(worst_error(&scalar.sum, 2, x, count) <= (double) scalar.sum_error);
    assert_hop_is_a_sum_and_a_packing(segment, &scalar);
    for (size_t i = 1; i < ISAS; ++i) {
        trip_t trip = trip_new(*segment, isas[i], x);
        assert_same_trip(&scalar, &trip);
        trip_free(&trip);
    }
    trip_free(&scalar);
}

/* ---- data ---- */

static void fill_normal(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        x[i] = (float) test_random_normal(random);
    }
}

static void fill_around_five(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        x[i] = (float) (5 + test_random_normal(random));
    }
}

static void fill_outliers(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        double times = 0 == test_random_below(random, 100) ? 10 + 90 * test_random_unit(random) : 1;
        x[i] = (float) (times * test_random_normal(random));
    }
}

/* From denormals to 2^117; each eight of their own size. */
static void fill_sizes(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        int power = (int) (i / 8 * 37 % 265) - 148;
        x[i] = (float) ldexp(2 * test_random_unit(random) - 1, power);
    }
}

/* All of the largest magnitude, with signs that a transform gathers in one number: 2^k of them. */
static void fill_constant(test_random_t *random, float *x, size_t count)
{
    const float value = (float) (1 + test_random_unit(random));

    for (size_t i = 0; i < count; ++i) {
        x[i] = 0 == i % 3 ? value : -value;
    }
}

static void fill_near_the_limit(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        x[i] = (float) ((2 * test_random_unit(random) - 1) * 0x1p90);
    }
    x[count - 1] = 0 == count % 2 ? FLT_MAX : 0x1.fffffep94f;
}

static const struct data_case {
    const char *name;
    void (*fill)(test_random_t *random, float *x, size_t count);
} data_cases[] = {
    {"normal", fill_normal},
    {"outliers", fill_outliers},
    {"sizes", fill_sizes},
    {"constant", fill_constant},
    {"near_the_limit", fill_near_the_limit},
};

enum { DATA_CASES = sizeof(data_cases) / sizeof(data_cases[0]) };

typedef struct grid_case {
    char name[NAME_BYTES];
    const quant_format_t *format;
    const struct option *option;
} grid_case_t;

static void all_sets_agree_and_keep_the_bound(void **state)
{
    static const size_t counts[] = {1,        2,    63,   64,   65,   127,      128,
                                    129,      511,  513,  700,  1000, 1984,     TILE - 64,
                                    TILE - 1, TILE, 4097, 6400, 9999, 2 * TILE, 3 * TILE + 65};
    static const unsigned block_rows[] = {8, 64, 16, 256, 32, QUANT_BLOCK_ROWS_MAX};
    const grid_case_t *grid = *state;
    test_random_t random = test_random_of(SEED, 0);

    for (size_t d = 0; d < DATA_CASES; ++d) {
        for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); ++n) {
            test_buffer_t input = test_buffer_new(counts[n] * sizeof(float), 4);
            quant_wire_segment_t segment =
                segment_of(grid->format, grid->option, counts[n], block_rows[(n + d) % 6],
                           test_random_bits(&random));
            data_cases[d].fill(&random, (float *) input.data, counts[n]);
            check_vector(&segment, (const float *) input.data);
            assert_true(test_buffer_intact(&input));
            test_buffer_free(&input);
        }
    }
}

/* Any format may follow any other: partial sums in one, totals in another, or fp32. */
static void a_hop_between_any_formats_is_a_sum_and_a_packing(void **state)
{
    enum { COUNT = 1500, ROWS = 8 };
    const grid_case_t *grid = *state;
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(ARC_ISA_AVX512));
    test_random_t random = test_random_of(SEED, 1);
    float tile[ROWS * QUANT_LANES];
    float x[COUNT];
    float sum[COUNT];
    uint8_t message[3][16 + COUNT * 8];

    for (size_t f = 0; NULL != quant_format_at(f); ++f) {
        quant_wire_segment_t in = segment_of(quant_format_at(f), grid->option, COUNT, ROWS, f);
        quant_wire_segment_t out = segment_of(grid->format, grid->option, COUNT, ROWS, 99);
        in.codec.kernels = out.codec.kernels = &kernels;
        in.codec.tile = out.codec.tile = tile;
        fill_normal(&random, x, COUNT);
        (void) quant_wire_pack(&in, x, 0, message[0]);
        float error = quant_wire_add(&in, message[0], x, 0, sum);
        size_t bytes = quant_wire_pack(&out, sum, error, message[1]);
        assert_int_equal(bytes, quant_wire_hop(&in, &out, message[0], x, 0, message[2]));
        assert_memory_equal(message[1], message[2], bytes);
    }
}

/* ---- what is refused ---- */

/* One tile of 64 rows, all of the segment; of four of 8 rows, the one that it is in. */
static void what_does_not_fit_is_kept_as_it_is(void **state)
{
    static const float values[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -0x1p94f, 0x1p93f};
    enum { COUNT = 2000, TILE_OF_8 = 8 * QUANT_LANES };
    const grid_case_t *grid = *state;
    test_random_t random = test_random_of(SEED, 2);
    float x[COUNT];

    fill_normal(&random, x, COUNT);
    for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); ++v) {
        const size_t place = 0 == v ? COUNT - 1 : test_random_below(&random, COUNT);
        const float before = x[place];
        const bool fits = fabsf(values[v]) < 0x1p95f &&
                          (QUANT_ROTATION_NONE == grid->option->rotation || !grid->format->scaled);
        x[place] = values[v];
        for (size_t i = 0; i < ISAS; ++i) {
            quant_wire_segment_t segment = segment_of(grid->format, grid->option, COUNT, 64, v + 1);
            trip_t trip = trip_new(segment, isas[i], x);
            if (!fits && &quant_format_fp16 != grid->format && &quant_format_bf16 != grid->format) {
                assert_ptr_equal(&quant_format_fp32, trip.found);
                assert_memory_equal(x, trip.decoded.data, sizeof(x));
            }
            trip_free(&trip);
            segment = segment_of(grid->format, grid->option, COUNT, 8, v + 1);
            trip = trip_new(segment, isas[i], x);
            assert_hop_is_a_sum_and_a_packing(&segment, &trip);
            if (!fits && grid->format->scaled) {
                const size_t first = place / TILE_OF_8 * TILE_OF_8;
                const size_t end = first + TILE_OF_8 < COUNT ? first + TILE_OF_8 : COUNT;
                assert_ptr_equal(grid->format, trip.found);
                assert_int_equal(sizeof(quant_wire_header_t) +
                                     quant_payload_bytes(grid->format, COUNT, 8) +
                                     (end - first) * sizeof(float),
                                 trip.bytes);
                assert_memory_equal(x + first, (float *) trip.decoded.data + first,
                                    (end - first) * sizeof(float));
            }
            trip_free(&trip);
        }
        x[place] = before;
    }
}

static void another_rounding_or_rotation_is_refused(void **state)
{
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    const float x[QUANT_LANES] = {1, 2, 3};
    float tile[8 * QUANT_LANES];
    uint8_t message[1000];
    (void) state;

    for (unsigned sent = 0; sent < QUANT_ROUNDINGS * QUANT_ROTATIONS; ++sent) {
        for (unsigned due = 0; due < QUANT_ROUNDINGS * QUANT_ROTATIONS; ++due) {
            const struct option of_sent = {"", sent / QUANT_ROTATIONS, sent % QUANT_ROTATIONS};
            const struct option of_due = {"", due / QUANT_ROTATIONS, due % QUANT_ROTATIONS};
            quant_wire_segment_t segment =
                segment_of(&quant_format_int8, &of_sent, QUANT_LANES, 8, 1);
            const quant_wire_segment_t expected =
                segment_of(&quant_format_int8, &of_due, QUANT_LANES, 8, 1);
            segment.codec.kernels = &kernels;
            segment.codec.tile = tile;
            size_t bytes = quant_wire_pack(&segment, x, 0, message);
            assert_int_equal(sent == due ? ARC_OK : ARC_ERR_PROTOCOL,
                             quant_wire_check(&expected, message, bytes));
        }
    }
}

/* ---- rotation ---- */

/* Small integers are transformed without rounding: the definition, and back again. */
static void rotation_is_the_walsh_hadamard_transform(void **state)
{
    enum { ELEMS = QUANT_BLOCK_ROWS_MAX * 2 };
    test_random_t random = test_random_of(SEED, 3);
    float *x = test_alloc(ELEMS * sizeof(float));
    float *y = test_alloc(ELEMS * sizeof(float));
    (void) state;

    for (unsigned shift = 3; (size_t) 1 << shift <= QUANT_BLOCK_ROWS_MAX; ++shift) {
        const size_t block = (size_t) 1 << shift;
        const size_t blocks = block < QUANT_LANES ? QUANT_LANES / block : 2;
        for (size_t i = 0; i < ELEMS; ++i) {
            x[i] = (float) ((int) test_random_below(&random, 2001) - 1000);
        }
        for (size_t s = 0; s < ISAS; ++s) {
            const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(isas[s]));
            memcpy(y, x, ELEMS * sizeof(float));
            kernels.rotate(y, blocks, shift, 0.25f);
            for (size_t i = 0; i < blocks * block; ++i) {
                double sum = 0;
                for (size_t j = 0; j < block; ++j) {
                    double term = (double) x[i / block * block + j];
                    sum += 0 == __builtin_popcountll(i % block & j) % 2 ? term : -term;
                }
                assert_true(sum / 4 == (double) y[i]);
            }
            kernels.rotate(y, blocks, shift, 4.0f / (float) block);
            assert_memory_equal(x, y, ELEMS * sizeof(float));
        }
    }
    free(x);
    free(y);
}

static double mean_square_error(const quant_format_t *format, const struct option *option,
                                unsigned block_rows, const float *x, size_t count)
{
    trip_t trip = trip_new(segment_of(format, option, count, block_rows, 5), ARC_ISA_AVX512, x);
    double squares = 0;

    assert_ptr_equal(format, trip.found);
    for (size_t i = 0; i < count; ++i) {
        double error = (double) ((const float *) trip.decoded.data)[i] - (double) x[i];
        squares += error * error;
    }
    trip_free(&trip);
    return squares / (double) count;
}

static void rotation_helps_with_outliers_and_changes_nothing_on_normal_data(void **state)
{
    enum { COUNT = 64 * TILE };
    static const struct option plain = {"", QUANT_ROUNDING_NEAREST, QUANT_ROTATION_NONE};
    static const struct option rotated = {"", QUANT_ROUNDING_NEAREST, QUANT_ROTATION_HADAMARD};
    static const quant_format_t *const formats[] = {&quant_format_int4, &quant_format_int8};
    static const unsigned rows[] = {64, 32};
    test_random_t random = test_random_of(SEED, 4);
    float *x = test_alloc(COUNT * sizeof(float));
    (void) state;

    for (size_t f = 0; f < 4; ++f) {
        const quant_format_t *format = formats[f / 2];
        fill_outliers(&random, x, COUNT);
        double spread = mean_square_error(format, &rotated, rows[f % 2], x, COUNT) /
                        mean_square_error(format, &plain, rows[f % 2], x, COUNT);
        fill_normal(&random, x, COUNT);
        double same = mean_square_error(format, &rotated, rows[f % 2], x, COUNT) /
                      mean_square_error(format, &plain, rows[f % 2], x, COUNT);
        printf("# %s, %u rows: %.3f of the mean square error with outliers, %.3f without\n",
               format->name, rows[f % 2], spread, same);
        assert_true(spread < 0.6);
        assert_true(fabs(same - 1) < 0.05);
        /* Not for these: they add up to one large number. */
        fill_around_five(&random, x, COUNT);
        assert_true(mean_square_error(format, &rotated, rows[f % 2], x, COUNT) >
                    5 * mean_square_error(format, &plain, rows[f % 2], x, COUNT));
    }
    free(x);
}

/* ---- zeros ---- */

static void zeros_of_a_block_of_zeros_are_exact(void **state)
{
    enum { COUNT = 3000 };
    const grid_case_t *grid = *state;
    const bool keeps_all = QUANT_ROUNDING_DITHER != grid->option->rounding &&
                           QUANT_ROTATION_NONE == grid->option->rotation;
    test_random_t random = test_random_of(SEED, 5);
    float x[COUNT];

    fill_normal(&random, x, COUNT);
    for (size_t i = 0; i < COUNT; ++i) {
        x[i] = i % 2 == 0 || i < 640 ? 0 : x[i]; /* ten blocks */
    }
    trip_t trip = trip_new(segment_of(grid->format, grid->option, COUNT, 64, 3), ARC_ISA_AVX512, x);
    for (size_t i = 0; i < COUNT; ++i) {
        const float value = ((const float *) trip.decoded.data)[i];
        assert_true((i >= 640 && (i % 2 != 0 || !keeps_all)) || 0 == value);
    }
    trip_free(&trip);
}

static const struct CMUnitTest single_tests[] = {
    cmocka_unit_test(another_rounding_or_rotation_is_refused),
    cmocka_unit_test(rotation_is_the_walsh_hadamard_transform),
    cmocka_unit_test(rotation_helps_with_outliers_and_changes_nothing_on_normal_data),
};

static const struct CMUnitTest grid_tests[] = {
    cmocka_unit_test(all_sets_agree_and_keep_the_bound),
    cmocka_unit_test(a_hop_between_any_formats_is_a_sum_and_a_packing),
    cmocka_unit_test(what_does_not_fit_is_kept_as_it_is),
    cmocka_unit_test(zeros_of_a_block_of_zeros_are_exact),
};

int main(void)
{
    enum {
        SINGLE = sizeof(single_tests) / sizeof(single_tests[0]),
        EACH = sizeof(grid_tests) / sizeof(grid_tests[0]),
        GRID = QUANT_CODES * OPTIONS * EACH,
    };
    static grid_case_t grid[GRID];
    static struct CMUnitTest tests[GRID + SINGLE];

    printf("# seed %d, best instruction set %s\n", SEED, arc_isa_name(arc_cpu_isa(ARC_ISA_AVX512)));
    for (size_t i = 0; i < GRID; ++i) {
        grid[i].format = quant_format_at(i / EACH / OPTIONS);
        grid[i].option = &options[i / EACH % OPTIONS];
        (void) snprintf(grid[i].name, NAME_BYTES, "%s_%s_%s", grid[i].format->name,
                        grid[i].option->name, grid_tests[i % EACH].name);
        tests[i] = grid_tests[i % EACH];
        tests[i].name = grid[i].name;
        tests[i].initial_state = &grid[i];
    }
    memcpy(tests + GRID, single_tests, sizeof(single_tests));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
