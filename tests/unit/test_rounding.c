/*
 * Rounding with noise: the numbers drawn, and what rounding does on average.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "quant_bound.h"
#include "quant_error.h"
#include "testlib.h"

enum { SEED = 4713, ROWS = 64, TILE = ROWS * QUANT_LANES };

/* Of a correct program none of the averages below is so many standard deviations off. */
static const double sigmas = 6;

static const quant_format_t *const formats[] = {
    &quant_format_int4,  &quant_format_int5,  &quant_format_int6,  &quant_format_int7,
    &quant_format_int8,  &quant_format_int9,  &quant_format_int10, &quant_format_int11,
    &quant_format_int12, &quant_format_int13, &quant_format_int14, &quant_format_int16,
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct rounding {
    const char *name;
    quant_rounding_t rounding;
} roundings[] = {{"stochastic", QUANT_ROUNDING_STOCHASTIC}, {"dither", QUANT_ROUNDING_DITHER}};

/* A segment of `elems` elements as it is after a trip. */
static void send_and_receive(const quant_format_t *format, quant_rounding_t rounding, uint64_t key,
                             const float *x, size_t elems, unsigned rows, float *decoded)
{
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(ARC_ISA_AVX512));
    float *tile = test_alloc(quant_tile_elems(rows) * sizeof(float));
    const quant_codec_t codec = {.kernels = &kernels,
                                 .format = format,
                                 .transform = {.rounding = rounding},
                                 .key = key,
                                 .block_rows = rows,
                                 .elems = elems,
                                 .tile = tile};
    quant_coding_t coding = {.room = quant_payload_bytes(format, elems, rows)};

    coding.payload = test_alloc(coding.room);
    assert_true(quant_payload_encode(&codec, x, &coding));
    quant_payload_decode(&codec, coding.payload, decoded);
    free(coding.payload);
    free(tile);
}

/*
 * The numbers drawn for `tiles` tiles: what takes them off codes of 0 with a scale of 1 shows them.
 */
static void draw_numbers(uint64_t key, float *numbers, size_t tiles)
{
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(ARC_ISA_AVX512));
    const quant_codec_t codec = {.kernels = &kernels,
                                 .format = &quant_format_int8,
                                 .transform = {.rounding = QUANT_ROUNDING_DITHER},
                                 .key = key,
                                 .block_rows = ROWS,
                                 .elems = tiles * TILE};
    const uint16_t one = 0x3f80;
    uint8_t *payload = test_alloc(quant_payload_bytes(&quant_format_int8, tiles * TILE, ROWS));

    memset(payload, 0, quant_payload_bytes(&quant_format_int8, tiles * TILE, ROWS));
    for (size_t i = 0; i < tiles * QUANT_LANES; ++i) {
        memcpy(payload + i * sizeof(one), &one, sizeof(one));
    }
    quant_payload_decode(&codec, payload, numbers);
    for (size_t i = 0; i < tiles * TILE; ++i) {
        numbers[i] = -numbers[i];
    }
    free(payload);
}

/* docs/format.md has these: computed from its text by another program. */
static void the_documented_numbers_are_drawn(void **state)
{
    static const struct {
        size_t row;
        size_t lane;
        float number;
    } rows[] = {
        {0, 0, -13306.5f}, {0, 1, 13722.5f}, {0, 32, 4392.5f}, {1, 0, 4100.5f}, {1, 63, 14188.5f}};
    float *numbers = test_alloc(TILE * sizeof(float));
    (void) state;

    assert_true(UINT64_C(0x19fe4ca90d693824) == quant_transform_key(0, 7, 0, 1, 2));
    draw_numbers(UINT64_C(0x19fe4ca90d693824), numbers, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        assert_true(rows[i].number == 0x1p16f * numbers[rows[i].row * QUANT_LANES + rows[i].lane]);
    }
    free(numbers);
}

/* Sum of a[i] b[i] over uniform numbers of variance 1/12, in standard deviations. */
static double correlation(const float *a, const float *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; ++i) {
        sum += (double) a[i] * (double) b[i];
    }
    return 12 * sum / sqrt((double) count);
}

static void the_numbers_drawn_are_uniform(void **state)
{
    enum { BINS = 256, TILES = 100, COUNT = TILES * TILE };
    float *numbers = test_alloc(COUNT * sizeof(float));
    double bins[BINS] = {0};
    double sum = 0;
    double chi = 0;
    (void) state;

    draw_numbers(quant_transform_key(0, 1, 0, 0, 0), numbers, TILES);
    for (size_t i = 0; i < COUNT; ++i) {
        assert_true(fabsf(numbers[i]) < 0.5f);
        bins[(unsigned) ((numbers[i] + 0.5f) * BINS)] += 1;
        sum += (double) numbers[i];
    }
    for (unsigned b = 0; b < BINS; ++b) {
        chi += (bins[b] - COUNT / BINS) * (bins[b] - COUNT / BINS) / (COUNT / BINS);
    }
    printf("# chi square of %d bins: %.1f, mean %.2f sigmas\n", BINS, chi,
           sum / sqrt(COUNT / 12.0));
    assert_true(fabs(chi - (BINS - 1)) < sigmas * sqrt(2.0 * (BINS - 1)));
    assert_true(fabs(sum) < sigmas * sqrt(COUNT / 12.0));
    free(numbers);
}

/* Neighbours of every kind: places, tiles, and what messages are told apart by. */
static void the_numbers_drawn_are_independent(void **state)
{
    static const size_t distances[] = {1, 2, 31, 32, 33, 63, 64, 65, 128, 32 * 64, TILE, TILE + 32};
    static const struct {
        uint32_t number;
        unsigned round;
        unsigned shard;
        uint64_t segment;
    } others[] = {{1, 1, 1, 2}, {1, 1, 2, 1}, {1, 2, 1, 1},
                  {2, 1, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0}};
    enum { TILES = 16, COUNT = TILES * TILE };
    float *numbers = test_alloc(COUNT * sizeof(float));
    float *other = test_alloc(COUNT * sizeof(float));
    (void) state;

    draw_numbers(quant_transform_key(0, 1, 1, 1, 1), numbers, TILES);
    for (size_t d = 0; d < sizeof(distances) / sizeof(distances[0]); ++d) {
        const size_t far = distances[d];
        assert_true(fabs(correlation(numbers, numbers + far, COUNT - far)) < sigmas);
    }
    for (size_t o = 0; o < sizeof(others) / sizeof(others[0]); ++o) {
        draw_numbers(quant_transform_key(0, others[o].number, others[o].round, others[o].shard,
                                         others[o].segment),
                     other, TILES);
        assert_true(fabs(correlation(numbers, other, COUNT)) < sigmas);
    }
    /* Communicators: another seed, another first process, another number. */
    draw_numbers(quant_transform_key(quant_transform_base(0, 0, 1), 1, 1, 1, 1), numbers, TILES);
    for (unsigned o = 0; o < 3; ++o) {
        const uint64_t base = quant_transform_base(0 == o, 1 == o, 2 == o ? 2 : 1);
        draw_numbers(quant_transform_key(base, 1, 1, 1, 1), other, TILES);
        assert_true(fabs(correlation(numbers, other, COUNT)) < sigmas);
    }
    free(numbers);
    free(other);
}

/* The scale of each block of one tile, as docs/format.md has it for rounding with noise. */
static void scales_of(const quant_format_t *format, const float *x, double scale[QUANT_BLOCKS])
{
    const double divisor = (ldexp(2, (int) format->mantissa) - 1) * 255 / 256;

    for (size_t block = 0; block < QUANT_BLOCKS; ++block) {
        double most = 0;
        int power = 0;
        for (size_t i = block * ROWS; i < (block + 1) * ROWS; ++i) {
            most = fmax(most, fabs((double) x[i]));
        }
        double mantissa = frexp(most / divisor, &power);
        scale[block] = ldexp(nearbyint(ldexp(mantissa, 8)), power - 8);
    }
}

/* What rounding does to each element of a tile over many draws. */
typedef struct averages {
    double error[TILE];  /* mean */
    double square[TILE]; /* mean */
    double worst[TILE];
} averages_t;

static averages_t *averages_new(const quant_format_t *format, quant_rounding_t rounding,
                                const float *x, unsigned draws)
{
    averages_t *of = test_alloc(sizeof(*of));
    float *decoded = test_alloc(TILE * sizeof(float));

    memset(of, 0, sizeof(*of));
    for (unsigned draw_number = 0; draw_number < draws; ++draw_number) {
        send_and_receive(format, rounding, quant_transform_key(0, draw_number, 3, 1, 0), x, TILE,
                         ROWS, decoded);
        for (size_t i = 0; i < TILE; ++i) {
            double error = (double) decoded[i] - (double) x[i];
            of->error[i] += error / draws;
            of->square[i] += error * error / draws;
            of->worst[i] = fmax(of->worst[i], fabs(error));
        }
    }
    free(decoded);
    return of;
}

/* What else a product or a sum of floats may be off by, and u, which has steps of 2^-16. */
static double least_step(double x, double scale)
{
    return scale * 0x1p-17 + fabs(x) * 0x1p-22;
}

static void rounding_is_right_on_average(void **state)
{
    enum { DRAWS = 600 };
    const struct rounding *rounding = *state;
    test_random_t random = test_random_of(SEED, 1);
    float *x = test_alloc(TILE * sizeof(float));
    double scale[QUANT_BLOCKS];

    for (size_t f = 0; f < FORMATS; ++f) {
        double bias = 0;
        double skew = 0;
        for (size_t i = 0; i < TILE; ++i) {
            x[i] = (float) test_random_normal(&random);
        }
        scales_of(formats[f], x, scale);
        averages_t *of = averages_new(formats[f], rounding->rounding, x, DRAWS);
        for (size_t i = 0; i < TILE; ++i) {
            const double s = scale[i / ROWS];
            const double limit = least_step((double) x[i], s) + sigmas * s / 2 / sqrt(DRAWS);
            assert_true(fabs(of->error[i]) < limit);
            bias += of->error[i] / s;
            skew += of->error[i] / s * (double) x[i];
        }
        /* Over all elements: 2.5 million draws of at most half a step; x has variance 1. */
        const double limit = sigmas / 2 * sqrt((double) TILE / DRAWS) + TILE * 0x1p-9;
        printf("# %s, %s: mean error %.2e steps, times x %.2e\n", formats[f]->name, rounding->name,
               bias / TILE, skew / TILE);
        assert_true(fabs(bias) < limit && fabs(skew) < limit);
        free(of);
    }
    free(x);
}

/* Constants, halves of steps, few values: where nearest always errs in the same direction. */
static void fill_awkward(float *x)
{
    for (size_t i = 0; i < TILE; ++i) {
        const size_t block = i / ROWS;
        x[i] = 0 == i % ROWS ? 1.0f : (float) (block % 8) * 0.037f * (block < 32 ? 1.0f : -1.0f);
    }
}

/* With its block's scale, the part of a step that x is above a code. */
static double fraction_of_step(double x, double scale)
{
    return x / scale - floor(x / scale);
}

static void squares_of_errors_are_those_of_the_theory(void **state)
{
    enum { DRAWS = 2000 };
    const struct rounding *rounding = *state;
    const bool dither = QUANT_ROUNDING_DITHER == rounding->rounding;
    float *x = test_alloc(TILE * sizeof(float));
    double scale[QUANT_BLOCKS];

    fill_awkward(x);
    for (size_t f = 0; f < FORMATS; ++f) {
        const quant_codec_t codec = {.format = formats[f],
                                     .transform = {.rounding = rounding->rounding},
                                     .block_rows = ROWS,
                                     .elems = TILE};
        const uint32_t peak = UINT32_C(0x3f800000); /* 1 */
        const double bound = (double) quant_bound_coded(0, &codec, peak);
        double worst = 0;
        scales_of(formats[f], x, scale);
        averages_t *of = averages_new(formats[f], rounding->rounding, x, DRAWS);
        for (size_t i = 0; i < TILE; ++i) {
            const double s = scale[i / ROWS];
            worst = fmax(worst, of->worst[i]);
            const double part = fraction_of_step((double) x[i], s);
            const double expected = dither ? 1.0 / 12 : part * (1 - part);
            /* A square of an error has a standard deviation of at most half of s^2. */
            assert_true(fabs(of->square[i] / s / s - expected) < sigmas / 2 / sqrt(DRAWS));
            assert_true(of->worst[i] <= (dither ? s / 2 : s) + least_step((double) x[i], s));
        }
        /* The block of the largest scale has 64 numbers, of which none may be next to a code. */
        assert_true(worst <= bound && worst > 0.85 * bound);
        free(of);
    }
    free(x);
}

static void the_mean_error_is_the_predicted_one(void **state)
{
    enum { ELEMS = 64 * TILE };
    static const unsigned rows[] = {8, 16, 64, 256};
    const struct rounding *rounding = *state;
    test_random_t random = test_random_of(SEED, 2);
    float *x = test_alloc(ELEMS * sizeof(float));
    float *decoded = test_alloc(ELEMS * sizeof(float));

    for (size_t i = 0; i < ELEMS; ++i) {
        x[i] = (float) test_random_normal(&random);
    }
    for (size_t f = 0; f < FORMATS * 4; ++f) {
        const quant_format_t *format = formats[f / 4];
        const double predicted = quant_error_of_rounding(format, rounding->rounding, rows[f % 4]);
        double squares = 0;
        send_and_receive(format, rounding->rounding, f, x, ELEMS, rows[f % 4], decoded);
        for (size_t i = 0; i < ELEMS; ++i) {
            double error = (double) decoded[i] - (double) x[i];
            squares += error * error;
        }
        printf("# c(%s, %s, %u): measured %.4e, predicted %.4e\n", format->name, rounding->name,
               rows[f % 4], squares / ELEMS, predicted);
        assert_true(fabs(squares / ELEMS / predicted - 1) < 0.03);
    }
    free(x);
    free(decoded);
}

static void the_same_key_gives_the_same_and_another_one_other_numbers(void **state)
{
    const struct rounding *rounding = *state;
    test_random_t random = test_random_of(SEED, 3);
    float *x = test_alloc(TILE * sizeof(float));
    float *first = test_alloc(TILE * sizeof(float));
    float *second = test_alloc(TILE * sizeof(float));

    for (size_t i = 0; i < TILE; ++i) {
        x[i] = (float) test_random_normal(&random);
    }
    send_and_receive(&quant_format_int8, rounding->rounding, 1, x, TILE, ROWS, first);
    send_and_receive(&quant_format_int8, rounding->rounding, 1, x, TILE, ROWS, second);
    assert_memory_equal(first, second, TILE * sizeof(float));
    send_and_receive(&quant_format_int8, rounding->rounding, 2, x, TILE, ROWS, second);
    assert_memory_not_equal(first, second, TILE * sizeof(float));
    free(x);
    free(first);
    free(second);
}

/* Of a vector no two messages draw the same, nor do two calls, or two places of a ring. */
static void every_message_has_a_key_of_its_own(void **state)
{
    enum { VALUES = 3, KEYS = VALUES * VALUES * VALUES * VALUES };
    const uint64_t base = quant_transform_base(SEED, 1, 2);
    uint64_t keys[KEYS];
    (void) state;

    for (unsigned i = 0; i < KEYS; ++i) {
        keys[i] =
            quant_transform_key(base, i % VALUES, i / VALUES % VALUES,
                                i / (VALUES * VALUES) % VALUES, i / (VALUES * VALUES * VALUES));
        for (unsigned before = 0; before < i; ++before) {
            assert_true(keys[before] != keys[i]);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest single[] = {
        cmocka_unit_test(every_message_has_a_key_of_its_own),
        cmocka_unit_test(the_documented_numbers_are_drawn),
        cmocka_unit_test(the_numbers_drawn_are_uniform),
        cmocka_unit_test(the_numbers_drawn_are_independent),
    };
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(rounding_is_right_on_average),
        cmocka_unit_test(squares_of_errors_are_those_of_the_theory),
        cmocka_unit_test(the_mean_error_is_the_predicted_one),
        cmocka_unit_test(the_same_key_gives_the_same_and_another_one_other_numbers),
    };
    enum {
        SINGLE = sizeof(single) / sizeof(single[0]),
        EACH = sizeof(each) / sizeof(each[0]),
        ROUNDINGS = sizeof(roundings) / sizeof(roundings[0]),
        NAME_BYTES = 96,
    };
    static char names[ROUNDINGS * EACH][NAME_BYTES];
    static struct CMUnitTest tests[SINGLE + ROUNDINGS * EACH];

    printf("# seed %d\n", SEED);
    memcpy(tests, single, sizeof(single));
    for (size_t i = 0; i < ROUNDINGS * EACH; ++i) {
        (void) snprintf(names[i], NAME_BYTES, "%s_%s", roundings[i / EACH].name,
                        each[i % EACH].name);
        tests[SINGLE + i] = each[i % EACH];
        tests[SINGLE + i].name = names[i];
        tests[SINGLE + i].initial_state = (void *) (uintptr_t) &roundings[i / EACH];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
