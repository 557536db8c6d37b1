/*
 * What single numbers become in each format: every code, every tie between two
 * codes, the values that are refused, the mean error.
 *
 * The expected values come from trip_magnitude(): the definition of the grid of
 * a format, not the code under test.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "unit.h"
#include "quant_error.h"
#include "trip.h"

enum { SEED = 4711, BLOCK_ROWS = 8, BLOCKS = 32 };

/* Largest finite magnitude of the formats without scales: the last code before infinity. */
static double largest_of(const quant_format_t *format)
{
    static const double bf16_max = 0x1.fep94; /* below the limit */
    static const double fp16_max = 65504;

    if (format->scaled) {
        return (double) format->range.divisor;
    }
    return &quant_format_bf16 == format ? bf16_max : fp16_max;
}

/* `x` is coded at a scale of 1, for the first of each block is the divisor. */
static void assert_decoded(const quant_format_t *format, float x[BLOCKS * BLOCK_ROWS],
                           const float expected[BLOCKS * BLOCK_ROWS])
{
    for (size_t i = 0; i < BLOCKS * BLOCK_ROWS; i += BLOCK_ROWS) {
        x[i] = format->range.divisor;
    }
    for (size_t i = 0; i < TRIP_ISAS; ++i) {
        trip_t trip = trip_new(format, trip_isas[i], x, BLOCKS * BLOCK_ROWS, BLOCK_ROWS);
        assert_true(trip.codable);
        for (size_t k = 0; k < BLOCKS * BLOCK_ROWS; ++k) {
            assert_true(0 == k % BLOCK_ROWS || expected[k] == trip_decoded(&trip)[k]);
        }
        trip_free(&trip);
    }
}

/* The k-th and the next code: itself, and around the middle between them. */
static void probe_code(const quant_format_t *format, unsigned k, double sign, float *x,
                       float *expected)
{
    const float here = (float) (sign * trip_magnitude(format, k));
    const float next = (float) (sign * trip_magnitude(format, k + 1));
    const float middle = (float) (((double) here + (double) next) / 2);
    const struct {
        float x;
        float expected;
    } cases[] = {
        {here, here},
        {middle, 0 == k % 2 ? here : next},
        {nextafterf(middle, here), here},
        {nextafterf(middle, next), next},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        x[i] = cases[i].x;
        expected[i] = cases[i].expected;
    }
}

static void every_code_and_every_tie_is_rounded_to_even(void **state)
{
    enum { PROBES = 4, FIRST = BLOCK_ROWS - PROBES, ALL = BLOCKS * BLOCK_ROWS };
    const quant_format_t *format = *state;
    float x[ALL] = {0};
    float expected[ALL] = {0};
    size_t used = FIRST; /* the second half of each block */

    for (unsigned k = 0; trip_magnitude(format, k) < largest_of(format); ++k) {
        for (double sign = -1; sign <= 1; sign += 2) {
            probe_code(format, k, sign, x + used, expected + used);
            used += BLOCK_ROWS;
            if (used > ALL) {
                assert_decoded(format, x, expected);
                used = FIRST;
            }
        }
    }
    for (size_t i = used; i < ALL; ++i) {
        x[i] = 0;
        expected[i] = 0;
    }
    assert_decoded(format, x, expected);
}

/* For floats all over a power of two: the whole range of roundings of a scale. */
static void the_largest_magnitude_keeps_the_largest_code(void **state)
{
    enum { STRIDE = 16, ALL = QUANT_BLOCKS * BLOCK_ROWS };
    const quant_format_t *format = *state;
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(ARC_ISA_AVX512));
    const double code_max = ldexp(1, (int) format->bits - 1) - 1;
    const quant_codec_t codec = {
        .kernels = &kernels, .format = format, .block_rows = BLOCK_ROWS, .elems = ALL};
    float x[ALL] = {0};
    float decoded[ALL];
    uint16_t scales[QUANT_BLOCKS];
    unsigned char payload[sizeof(scales) + BLOCK_ROWS * QUANT_ROW_BYTES_MAX];

    for (uint32_t mantissa = 0; mantissa < 1 << 23; mantissa += STRIDE * QUANT_BLOCKS) {
        for (uint32_t block = 0; block < QUANT_BLOCKS; ++block) {
            uint32_t bits = 0x3f800000 + mantissa + STRIDE * block;
            memcpy(&x[block * BLOCK_ROWS], &bits, sizeof(bits));
        }
        quant_coding_t coding = {.payload = payload,
                                 .room = quant_payload_bytes(format, ALL, BLOCK_ROWS)};
        assert_true(quant_payload_encode(&codec, x, &coding));
        quant_payload_decode(&codec, payload, decoded);
        memcpy(scales, payload, sizeof(scales));
        for (unsigned block = 0; block < QUANT_BLOCKS; ++block) {
            uint32_t bits = (uint32_t) scales[block] << 16;
            float scale;
            memcpy(&scale, &bits, sizeof(scale));
            double code = (double) decoded[block * BLOCK_ROWS] / (double) scale;
            if (QUANT_CODE_fp8_e4m3 == format->code || QUANT_CODE_fp8_e5m2 == format->code) {
                assert_true((double) format->range.divisor == code);
            } else {
                /* A scale is off by up to 2^-8: no further from the largest code than that. */
                assert_true(code <= code_max && code >= code_max * (1 - 0x1.1p-7));
                assert_true(code_max > 127 || code_max == code);
            }
        }
    }
}

static void what_cannot_be_coded_is_noticed_wherever_it_is(void **state)
{
    static const size_t counts[] = {1, 64, 130, 5000};
    const quant_format_t *format = *state;
    const float first_refused = &quant_format_fp16 == format ? 65520.0f : 0x1p95f;
    const float values[] = {NAN, -NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, first_refused};
    test_random_t random = test_random_of(SEED, 2);
    SCOPED float *x = test_alloc(5000 * sizeof(float));

    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); ++c) {
        for (size_t i = 0; i < counts[c]; ++i) {
            x[i] = (float) test_random_normal(&random);
        }
        for (unsigned draw = 0; draw < 70; ++draw) {
            size_t place = 0 == draw ? counts[c] - 1 : test_random_below(&random, counts[c]);
            float before = x[place];
            x[place] = values[draw % (sizeof(values) / sizeof(values[0]))];
            for (size_t i = 0; i < TRIP_ISAS; ++i) {
                trip_t trip = trip_new(format, trip_isas[i], x, counts[c], BLOCK_ROWS);
                assert_int_equal(format->exact, trip.codable);
                trip_free(&trip);
            }
            x[place] = before;
        }
        x[counts[c] / 2] = nextafterf(first_refused, 0);
        trip_t trip = trip_new(format, ARC_ISA_SCALAR, x, counts[c], BLOCK_ROWS);
        assert_true(trip.codable);
        trip_free(&trip);
    }
}

TEST(fp32_carries_infinities)
{
    const float x[3] = {INFINITY, -INFINITY, FLT_MAX};

    for (size_t i = 0; i < TRIP_ISAS; ++i) {
        trip_t trip = trip_new(&quant_format_fp32, trip_isas[i], x, 3, BLOCK_ROWS);
        assert_true(trip.codable);
        assert_memory_equal(x, trip.payload.data, sizeof(x));
        assert_memory_equal(x, trip.decoded.data, sizeof(x));
        trip_free(&trip);
    }
}

/* c of docs/format.md for tiles of 64 rows, as the scale of bf16 makes it; measured and predicted.
 */
static void the_mean_error_is_the_predicted_one(void **state)
{
    enum { TILES = 64, COUNT = TILES * 64 * QUANT_LANES };
    const quant_format_t *format = *state;
    const double predicted = quant_error_coefficient(format, 64);
    test_random_t random = test_random_of(SEED, 3);
    SCOPED float *x = test_alloc(COUNT * sizeof(float));
    double squares = 0;

    for (size_t i = 0; i < COUNT; ++i) {
        x[i] = (float) test_random_normal(&random);
    }
    trip_t trip = trip_new(format, ARC_ISA_AVX512, x, COUNT, 64);
    for (size_t i = 0; i < COUNT; ++i) {
        double error = (double) trip_decoded(&trip)[i] - (double) x[i];
        squares += error * error;
    }
    printf("# c(%s, 64): measured %.4e, predicted %.4e\n", format->name, squares / COUNT,
           predicted);
    assert_true(format->exact ? 0 == squares && 0 == predicted
                              : fabs(squares / COUNT / predicted - 1) < 0.02);
    trip_free(&trip);
}

static const struct format_test {
    const char *name;
    CMUnitTestFunction function;
    bool exact_too;
    bool unscaled_too;
} format_tests[] = {
    {"every_code_and_every_tie_is_rounded_to_even", every_code_and_every_tie_is_rounded_to_even,
     false, true},
    {"the_largest_magnitude_keeps_the_largest_code", the_largest_magnitude_keeps_the_largest_code,
     false, false},
    {"what_cannot_be_coded_is_noticed_wherever_it_is",
     what_cannot_be_coded_is_noticed_wherever_it_is, true, true},
    {"the_mean_error_is_the_predicted_one", the_mean_error_is_the_predicted_one, true, true},
};

int main(void)
{
    printf("# seed %d\n", SEED);
    for (unsigned f = 0; f < QUANT_CODES; ++f) {
        const quant_format_t *format = quant_format_at(f);
        for (size_t i = 0; i < sizeof(format_tests) / sizeof(format_tests[0]); ++i) {
            const struct format_test *test = &format_tests[i];
            if ((!format->exact || test->exact_too) && (format->scaled || test->unscaled_too)) {
                unit_add_row(test->function, format, 0, "%s_%s", format->name, test->name);
            }
        }
    }
    return unit_run("formats");
}
