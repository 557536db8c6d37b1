/*
 * The codecs: every instruction set writes the bytes of the scalar kernels, no
 * byte outside its buffers, and an error below the proven bound.
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

enum { NAME_BYTES = 64, TILE = 64 * QUANT_LANES, SEED = 4711, MISALIGNED = 4 };

static const arc_isa_t isas[] = {ARC_ISA_SCALAR, ARC_ISA_AVX2, ARC_ISA_AVX512};
static const unsigned block_rows_cases[] = {8, 64, 100, 256};

/* Lengths 1 .. 130 are added to these. */
static const size_t around_tiles[] = {511,  512,  513,  1024,  2 * TILE - 65, TILE - 64,   TILE - 1,
                                      TILE, 4097, 4160, 10007, 3 * TILE,      3 * TILE + 1};

typedef void (*fill_fn_t)(test_random_t *random, float *x, size_t count);

static void fill_normal(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        x[i] = (float) test_random_normal(random);
    }
}

/* All exponents that int8 carries, denormals too. */
static void fill_any_exponent(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t bits = (uint32_t) test_random_bits(random);
        bits = (bits & 0x807fffff) | (uint32_t) (test_random_below(random, 0xfe) << 23);
        memcpy(&x[i], &bits, sizeof(bits));
    }
}

static void fill_zero(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        x[i] = 0 == test_random_below(random, 2) ? 0.0f : -0.0f;
    }
}

static void fill_one_hot(test_random_t *random, float *x, size_t count)
{
    memset(x, 0, count * sizeof(float));
    x[test_random_below(random, count)] = -3.25e-5f;
}

static void fill_denormal(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t bits = (uint32_t) test_random_bits(random) & 0x807fffff;
        memcpy(&x[i], &bits, sizeof(bits));
    }
}

static void fill_near_the_smallest_scale(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        x[i] = (float) ((2 * test_random_unit(random) - 1) * 0x1p-110);
    }
}

/* Halves: with 127 in every lane the scale is 1 and every half a tie. */
static void fill_ties(test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        x[i] = i < QUANT_LANES ? 127.0f : (float) test_random_below(random, 253) / 2 - 63.0f;
    }
}

static const struct data_case {
    const char *name;
    fill_fn_t fill;
} data_cases[] = {
    {"normal", fill_normal},     {"any_exponent", fill_any_exponent},
    {"zero", fill_zero},         {"one_hot", fill_one_hot},
    {"denormal", fill_denormal}, {"near_the_smallest_scale", fill_near_the_smallest_scale},
    {"ties", fill_ties},
};

enum {
    DATA_CASES = sizeof(data_cases) / sizeof(data_cases[0]),
    ISAS = sizeof(isas) / sizeof(isas[0]),
    BLOCK_CASES = sizeof(block_rows_cases) / sizeof(block_rows_cases[0]),
    AROUND = sizeof(around_tiles) / sizeof(around_tiles[0]),
    LENGTHS = 130 + AROUND,
};

static size_t length_at(size_t index)
{
    return index < 130 ? index + 1 : around_tiles[index - 130];
}

/* What one instruction set makes of `x`: coded, decoded, decoded and added to `x`. */
typedef struct trip {
    bool codable;
    test_buffer_t payload;
    test_buffer_t decoded;
    test_buffer_t sum;
} trip_t;

static trip_t trip_new(const quant_format_t *format, arc_isa_t isa, const float *x, size_t count,
                       unsigned block_rows)
{
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(isa));
    trip_t trip = {
        .payload = test_buffer_new(format->payload_bytes(count, block_rows), MISALIGNED),
        .decoded = test_buffer_new(count * sizeof(float), 2 * MISALIGNED),
        .sum = test_buffer_new(count * sizeof(float), 3 * MISALIGNED),
    };

    trip.codable = format->encode(&kernels, x, count, block_rows, trip.payload.data);
    if (trip.codable) {
        format->decode(&kernels, trip.payload.data, count, block_rows, (float *) trip.decoded.data);
        format->decode_add(&kernels, trip.payload.data, x, count, block_rows,
                           (float *) trip.sum.data);
    }
    assert_true(test_buffer_intact(&trip.payload));
    assert_true(test_buffer_intact(&trip.decoded));
    assert_true(test_buffer_intact(&trip.sum));
    return trip;
}

static void trip_free(trip_t *trip)
{
    test_buffer_free(&trip->payload);
    test_buffer_free(&trip->decoded);
    test_buffer_free(&trip->sum);
}

static void assert_same_trip(const trip_t *expected, const trip_t *trip)
{
    assert_int_equal(expected->codable, trip->codable);
    assert_memory_equal(expected->payload.data, trip->payload.data, trip->payload.bytes);
    assert_memory_equal(expected->decoded.data, trip->decoded.data, trip->decoded.bytes);
    assert_memory_equal(expected->sum.data, trip->sum.data, trip->sum.bytes);
}

/* Scale of element i, read from the payload as docs/format.md says. */
static double scale_in(const trip_t *trip, size_t i, unsigned block_rows)
{
    size_t tile = i / ((size_t) block_rows * 64);
    const unsigned char *bytes = trip->payload.data + tile * 128 + i % 64 * 2;
    uint32_t bits = (uint32_t) bytes[0] << 16 | (uint32_t) bytes[1] << 24;
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    return (double) scale;
}

static void assert_within_half_a_step(const trip_t *trip, const float *x, size_t count,
                                      unsigned block_rows)
{
    const float *decoded = (const float *) trip->decoded.data;
    const float *sum = (const float *) trip->sum.data;

    for (size_t i = 0; i < count; ++i) {
        double step = scale_in(trip, i, block_rows);
        assert_true(fabs((double) decoded[i] - (double) x[i]) <= step * (0.5 + 0x1p-16));
        assert_true(step >= 0x1p-118);
        volatile float rounded = decoded[i] + x[i];
        assert_true(rounded == sum[i]);
    }
}

/* Padding of the last row is coded as zero, so equal values have equal messages. */
static void assert_padding_is_zero(const trip_t *trip, size_t count)
{
    for (size_t pad = 0; pad < (64 - count % 64) % 64; ++pad) {
        assert_int_equal(0, trip->payload.data[trip->payload.bytes - 1 - pad]);
    }
}

/* Encoding what was decoded gives the same bytes: the largest code is 127, or the scale the least.
 */
static void assert_repeatable(const trip_t *trip, size_t count, unsigned block_rows)
{
    trip_t again = trip_new(&quant_format_int8, ARC_ISA_SCALAR, (const float *) trip->decoded.data,
                            count, block_rows);

    assert_true(again.codable);
    assert_memory_equal(trip->payload.data, again.payload.data, again.payload.bytes);
    trip_free(&again);
}

static void all_sets_agree_and_keep_the_bound(void **state)
{
    const struct data_case *data = *state;
    test_random_t random = test_random_start(SEED);

    for (size_t n = 0; n < LENGTHS; ++n) {
        size_t count = length_at(n);
        test_buffer_t input = test_buffer_new(count * sizeof(float), MISALIGNED);
        float *x = (float *) input.data;
        data->fill(&random, x, count);
        for (size_t b = 0; b < BLOCK_CASES; ++b) {
            trip_t scalar =
                trip_new(&quant_format_int8, ARC_ISA_SCALAR, x, count, block_rows_cases[b]);
            assert_true(scalar.codable);
            assert_within_half_a_step(&scalar, x, count, block_rows_cases[b]);
            assert_padding_is_zero(&scalar, count);
            assert_repeatable(&scalar, count, block_rows_cases[b]);
            for (size_t i = 1; i < ISAS; ++i) {
                trip_t trip = trip_new(&quant_format_int8, isas[i], x, count, block_rows_cases[b]);
                assert_same_trip(&scalar, &trip);
                trip_free(&trip);
            }
            trip_free(&scalar);
        }
        assert_true(test_buffer_intact(&input));
        test_buffer_free(&input);
    }
}

static void fp32_is_exact_on_all_sets(void **state)
{
    test_random_t random = test_random_start(SEED);

    (void) state;
    for (size_t n = 0; n < LENGTHS; ++n) {
        size_t count = length_at(n);
        float *x = test_alloc(count * sizeof(float));
        fill_any_exponent(&random, x, count);
        x[count / 2] = INFINITY;
        for (size_t i = 0; i < ISAS; ++i) {
            trip_t trip = trip_new(&quant_format_fp32, isas[i], x, count, 8);
            assert_true(trip.codable);
            assert_memory_equal(x, trip.decoded.data, trip.decoded.bytes);
            for (size_t k = 0; k < count; ++k) {
                assert_true(x[k] + x[k] == ((const float *) trip.sum.data)[k]);
            }
            trip_free(&trip);
        }
        free(x);
    }
}

static void any_value_that_cannot_be_coded_is_noticed_wherever_it_is(void **state)
{
    static const float values[] = {NAN, -NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 0x1p127f};
    static const size_t counts[] = {1, 64, 130, 5000};
    test_random_t random = test_random_start(SEED);
    float *x = test_alloc(5000 * sizeof(float));

    (void) state;
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); ++c) {
        fill_normal(&random, x, counts[c]);
        for (unsigned draw = 0; draw < 200; ++draw) {
            size_t place = test_random_below(&random, counts[c]);
            place = 0 == draw ? counts[c] - 1 : place;
            float before = x[place];
            x[place] = values[draw % (sizeof(values) / sizeof(values[0]))];
            for (size_t i = 0; i < ISAS; ++i) {
                trip_t trip = trip_new(&quant_format_int8, isas[i], x, counts[c], 8);
                assert_false(trip.codable);
                trip_free(&trip);
            }
            x[place] = before;
        }
    }
    free(x);
}

static void the_largest_codable_value_is_coded(void **state)
{
    float x[QUANT_LANES] = {0};

    (void) state;
    x[5] = nextafterf(0x1p127f, 0);
    for (size_t i = 0; i < ISAS; ++i) {
        trip_t trip = trip_new(&quant_format_int8, isas[i], x, QUANT_LANES, 8);
        assert_true(trip.codable);
        assert_within_half_a_step(&trip, x, QUANT_LANES, 8);
        trip_free(&trip);
    }
}

static void ties_go_to_the_even_code(void **state)
{
    static const struct {
        float value;
        signed char code;
    } ties[] = {{0.5f, 0},   {1.5f, 2},     {2.5f, 2},     {-0.5f, 0},     {-1.5f, -2},
                {-2.5f, -2}, {125.5f, 126}, {126.5f, 126}, {-126.5f, -126}};
    enum { TIES = sizeof(ties) / sizeof(ties[0]) };
    float x[2 * QUANT_LANES];

    (void) state;
    for (unsigned i = 0; i < QUANT_LANES; ++i) {
        x[i] = 127.0f;
        x[QUANT_LANES + i] = ties[i % TIES].value;
    }
    for (size_t i = 0; i < ISAS; ++i) {
        trip_t trip = trip_new(&quant_format_int8, isas[i], x, 2 * QUANT_LANES, 8);
        for (unsigned lane = 0; lane < QUANT_LANES; ++lane) {
            assert_int_equal(ties[lane % TIES].code,
                             (signed char) trip.payload.data[128 + 64 + lane]);
        }
        trip_free(&trip);
    }
}

/* For every 8th float between two powers of two: the whole range of roundings of a scale. */
static void no_code_leaves_127(void **state)
{
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(ARC_ISA_AVX512));
    float x[QUANT_LANES];
    unsigned char payload[128 + QUANT_LANES];

    (void) state;
    for (uint32_t mantissa = 0; mantissa < 1 << 23; mantissa += 8 * QUANT_LANES) {
        for (uint32_t lane = 0; lane < QUANT_LANES; ++lane) {
            uint32_t bits = 0x3f800000 + mantissa + 8 * lane;
            memcpy(&x[lane], &bits, sizeof(bits));
        }
        assert_true(quant_format_int8.encode(&kernels, x, QUANT_LANES, 8, payload));
        for (unsigned lane = 0; lane < QUANT_LANES; ++lane) {
            assert_int_equal(127, (signed char) payload[128 + lane]);
        }
    }
}

static void mean_error_is_that_of_blocks_of_64(void **state)
{
    enum { TILES = 128, COUNT = TILES * TILE };
    test_random_t random = test_random_start(SEED);
    float *x = test_alloc(COUNT * sizeof(float));
    double squares = 0;

    (void) state;
    fill_normal(&random, x, COUNT);
    trip_t trip = trip_new(&quant_format_int8, ARC_ISA_AVX512, x, COUNT, 64);
    for (size_t i = 0; i < COUNT; ++i) {
        double error = (double) ((const float *) trip.decoded.data)[i] - (double) x[i];
        squares += error * error;
    }
    printf("# c(int8, 64) measured %.4e\n", squares / COUNT);
    assert_true(fabs(squares / COUNT / 3.56e-5 - 1) < 0.03);
    assert_true(fabs(squares / COUNT / quant_error_coefficient(&quant_format_int8, 64) - 1) < 0.03);
    trip_free(&trip);
    free(x);
}

/* The worked example of docs/format.md. */
static void the_documented_example_has_the_documented_bytes(void **state)
{
    enum { ELEMS = 66, ROWS_AT = 16 + 128 };
    static const unsigned char header[] = {0x51, 0x54, 0x01, 0x01, 0x07, 0x00, 0x00, 0x00,
                                           0x42, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
    static const unsigned char scales[] = {0x01, 0x3c, 0x81, 0x3c, 0x1b, 0x3b, 0x80, 0x3f};
    static const unsigned char row_0[] = {0x7f, 0x81, 0x7f, 0x7f, 0x00};
    static const unsigned char row_1[] = {0x20, 0x20, 0x00, 0x00, 0x00};
    float x[ELEMS] = {1.0f, -2.0f, 0.3f, 127.0f};
    x[64] = 0.25f;
    x[65] = 0.5f;

    (void) state;
    for (size_t i = 0; i < ISAS; ++i) {
        const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(isas[i]));
        const quant_wire_segment_t segment = {
            .format = &quant_format_int8, .block_rows = 64, .sequence = 7, .elements = ELEMS};
        unsigned char message[16 + ELEMS * sizeof(float)];
        assert_int_equal(ROWS_AT + 2 * 64, quant_wire_pack(&segment, &kernels, x, message));
        assert_memory_equal(header, message, sizeof(header));
        assert_memory_equal(scales, message + 16, sizeof(scales));
        for (size_t lane = 4; lane < QUANT_LANES; ++lane) {
            assert_memory_equal("\x80\x04", message + 16 + 2 * lane, 2);
        }
        assert_memory_equal(row_0, message + ROWS_AT, sizeof(row_0));
        assert_memory_equal(row_1, message + ROWS_AT + 64, sizeof(row_1));
    }
}

static void formats_are_found_by_name_and_by_id(void **state)
{
    (void) state;
    for (size_t i = 0; NULL != quant_format_at(i); ++i) {
        const quant_format_t *format = quant_format_at(i);
        assert_ptr_equal(format, quant_format_by_name(format->name));
        assert_ptr_equal(format, quant_format_by_id(format->wire_id));
    }
    assert_null(quant_format_by_name("int7"));
    assert_null(quant_format_by_id(0xff));
    assert_null(quant_format_at(SIZE_MAX));
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(fp32_is_exact_on_all_sets),
        cmocka_unit_test(any_value_that_cannot_be_coded_is_noticed_wherever_it_is),
        cmocka_unit_test(the_largest_codable_value_is_coded),
        cmocka_unit_test(ties_go_to_the_even_code),
        cmocka_unit_test(no_code_leaves_127),
        cmocka_unit_test(mean_error_is_that_of_blocks_of_64),
        cmocka_unit_test(the_documented_example_has_the_documented_bytes),
        cmocka_unit_test(formats_are_found_by_name_and_by_id),
    };
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    static char names[DATA_CASES][NAME_BYTES];
    struct CMUnitTest tests[DATA_CASES + OTHERS];

    for (unsigned i = 0; i < DATA_CASES; ++i) {
        (void) snprintf(names[i], sizeof(names[i]), "all_sets_agree_on_%s", data_cases[i].name);
        tests[i] = (struct CMUnitTest){
            .name = names[i],
            .test_func = all_sets_agree_and_keep_the_bound,
            .initial_state = (void *) (uintptr_t) &data_cases[i],
        };
    }
    memcpy(tests + DATA_CASES, others, sizeof(others));
    printf("# best instruction set %s\n", arc_isa_name(arc_cpu_isa(ARC_ISA_AVX512)));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
