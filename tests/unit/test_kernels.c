/*
 * What vectors compute differently from the scalar kernels, all of it: quotients
 * and inverses without a division, magnitudes that could miss a NaN.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_format.h"
#include "trip.h"

enum {
    MANTISSA_BITS = 23,
    MANTISSAS = 1 << MANTISSA_BITS,
    ONE = 127, /* the exponent of 1.0 */
};

/* Selected once: to ask the processor takes longer than a kernel. */
static quant_kernels_t kernels[TRIP_ISAS];

/* A number of 32 bits seen as a float. */
static float float_of(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

typedef struct scales {
    bool taken;
    uint8_t scale[QUANT_SCALES_BYTES];
    float inverse[QUANT_BLOCKS];
    uint32_t most[QUANT_BLOCKS];
    uint32_t left[QUANT_BLOCKS]; /* in absmax */
} scales_t;

static scales_t scales_of(const quant_kernels_t *set, const quant_range_t *range,
                          const uint32_t absmax[QUANT_LANES])
{
    scales_t scales;

    memset(&scales, 0, sizeof(scales));
    memcpy(scales.left, absmax, sizeof(scales.left));
    scales.taken = set->scales(scales.left, range, scales.scale, scales.inverse, scales.most);
    return scales;
}

static void assert_same_scales(const quant_range_t *range, const uint32_t absmax[QUANT_LANES])
{
    const scales_t scalar = scales_of(&quant_kernels_scalar, range, absmax);
    static const uint32_t none[QUANT_LANES];

    assert_true(scalar.taken);
    assert_memory_equal(none, scalar.left, sizeof(none));
    assert_memory_equal(absmax, scalar.most, sizeof(scalar.most));
    for (size_t i = 1; i < TRIP_ISAS; ++i) {
        const scales_t scales = scales_of(&kernels[i], range, absmax);
        assert_memory_equal(&scalar, &scales, sizeof(scales));
    }
}

static void the_peak_is_found_in_every_block(void **state)
{
    test_random_t random = test_random_of(3, 0);
    uint32_t absmax[QUANT_LANES];

    for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
        for (size_t other = 0; other < QUANT_LANES; ++other) {
            absmax[other] = (uint32_t) test_random_bits(&random) & INT32_MAX >> 1;
        }
        absmax[lane] = INT32_MAX; /* the largest bits of a NaN without its sign */
        for (size_t i = 0; i < TRIP_ISAS; ++i) {
            uint32_t most[QUANT_BLOCKS] = {0};
            kernels[i].absmax((const float *) absmax, 1, QUANT_SHIFT_ALL, most);
            assert_int_equal(INT32_MAX, most[0]);
        }
    }
}

/* A quotient scales with powers of two: one exponent stands for all that underflow nowhere. */
static void the_scale_of_every_mantissa_is_the_rounded_quotient(void **state)
{
    const quant_format_t *format = *state;
    uint32_t absmax[QUANT_LANES];

    for (uint32_t mantissa = 0; mantissa < MANTISSAS; mantissa += QUANT_LANES) {
        for (uint32_t lane = 0; lane < QUANT_LANES; ++lane) {
            absmax[lane] = (uint32_t) ONE << MANTISSA_BITS | (mantissa + lane);
        }
        assert_same_scales(&format->range, absmax);
    }
}

/* Down to denormals, where remainders are lost. */
static void the_scale_at_every_exponent_is_the_rounded_quotient(void **state)
{
    const quant_format_t *format = *state;
    const uint32_t end = format->range.limit >> MANTISSA_BITS;
    test_random_t random = test_random_of(1, 0);
    uint32_t absmax[QUANT_LANES];

    for (uint32_t exponent = 0; exponent < end; ++exponent) {
        for (unsigned time = 0; time < 100; ++time) {
            for (uint32_t lane = 0; lane < QUANT_LANES; ++lane) {
                absmax[lane] = exponent << MANTISSA_BITS |
                               ((uint32_t) test_random_bits(&random) & (MANTISSAS - 1));
            }
            assert_same_scales(&format->range, absmax);
        }
    }
}

static void the_inverse_of_every_scale_is_rounded_correctly(void **state)
{
    const quant_format_t *format = *state;
    const float divisor = format->range.divisor;
    uint32_t absmax[QUANT_LANES] = {0};

    for (uint32_t upper = 0; upper <= UINT16_MAX / 2; ++upper) {
        const float scale = float_of(upper << 16);
        const float magnitude = scale * divisor; /* of at most 24 bits: exact */
        memcpy(&absmax[upper % QUANT_LANES], &magnitude, sizeof(magnitude));
        if (scale < format->range.scale_min || absmax[upper % QUANT_LANES] >= format->range.limit) {
            absmax[upper % QUANT_LANES] = 0;
            continue;
        }
        const scales_t scales = scales_of(&quant_kernels_scalar, &format->range, absmax);
        assert_true(1.0f / scale == scales.inverse[upper % QUANT_LANES]);
        assert_same_scales(&format->range, absmax);
    }
}

enum { ROWS = 3, ELEMS = ROWS * QUANT_LANES };

static void assert_same_magnitudes(const quant_format_t *format, const float x[ELEMS],
                                   unsigned shift)
{
    const uint8_t codes[ROWS * QUANT_ROW_BYTES_MAX] = {0};
    const float factor[QUANT_BLOCKS] = {0};
    uint32_t expected[QUANT_BLOCKS] = {0};
    float sum[ELEMS];

    for (size_t i = 0; i < ELEMS; ++i) {
        uint32_t bits = 0;
        memcpy(&bits, &x[i], sizeof(bits));
        bits &= INT32_MAX;
        expected[i >> shift] = bits > expected[i >> shift] ? bits : expected[i >> shift];
    }
    for (size_t i = 0; i < TRIP_ISAS; ++i) {
        uint32_t own[QUANT_BLOCKS] = {0};
        uint32_t added[QUANT_BLOCKS] = {0};
        kernels[i].absmax(x, ROWS, shift, own);
        kernels[i].code[format->code].decode_add(codes, ROWS, shift, factor, x, sum, added);
        assert_memory_equal(expected, own, sizeof(own));
        assert_memory_equal(expected, added, sizeof(added));
        /* What was there is raised, not lost. */
        kernels[i].code[format->code].decode_add(codes, 1, shift, factor, sum, sum, added);
        assert_memory_equal(expected, added, sizeof(added));
    }
}

/* Quiet ones, which a sum leaves as they are: the largest and the smallest, of both signs. */
static void a_nan_wins_wherever_it_is(void **state)
{
    static const uint32_t specials[] = {UINT32_C(0x7fc00000), UINT32_C(0x7fffffff),
                                        UINT32_C(0xffc00000), UINT32_C(0xffc00001),
                                        UINT32_C(0x7f800000), UINT32_C(0xff800000)};
    static const unsigned shifts[] = {3, 4, 5, 6, 7, 12, QUANT_SHIFT_ALL};
    enum { SHIFTS = sizeof(shifts) / sizeof(shifts[0]) };
    const quant_format_t *format = *state;
    test_random_t random = test_random_of(2, 0);
    float x[ELEMS];

    for (size_t i = 0; i < ELEMS; ++i) {
        x[i] = (float) test_random_normal(&random);
    }
    for (unsigned shift = 3; shift <= QUANT_SHIFT_ALL; ++shift) {
        assert_same_magnitudes(format, x, shift);
    }
    for (size_t s = 0; s < sizeof(specials) / sizeof(specials[0]); ++s) {
        for (size_t i = 0; i < ELEMS; ++i) {
            const size_t other = test_random_below(&random, ELEMS);
            const float kept[] = {x[i], x[other]};
            x[i] = float_of(specials[s]);
            x[other] = INFINITY;
            assert_same_magnitudes(format, x, shifts[i % SHIFTS]);
            x[other] = kept[1];
            x[i] = float_of(specials[s]);
            assert_same_magnitudes(format, x, shifts[i % SHIFTS]);
            x[i] = kept[0];
        }
    }
}

typedef void (*test_fn_t)(void **state);

static const struct check {
    const char *name;
    test_fn_t run;
    enum { EVERY, SCALED, FIRST } formats;
} checks[] = {
    {"the_scale_of_every_mantissa_is_the_rounded_quotient",
     the_scale_of_every_mantissa_is_the_rounded_quotient, SCALED},
    {"the_scale_at_every_exponent_is_the_rounded_quotient",
     the_scale_at_every_exponent_is_the_rounded_quotient, SCALED},
    {"the_inverse_of_every_scale_is_rounded_correctly",
     the_inverse_of_every_scale_is_rounded_correctly, SCALED},
    {"a_nan_wins_wherever_it_is", a_nan_wins_wherever_it_is, EVERY},
    {"the_peak_is_found_in_every_block", the_peak_is_found_in_every_block, FIRST},
};

int main(void)
{
    for (size_t i = 0; i < TRIP_ISAS; ++i) {
        kernels[i] = quant_kernels_select(arc_cpu_isa(trip_isas[i]));
    }
    for (size_t f = 0; f < QUANT_CODES; ++f) {
        const quant_format_t *format = quant_format_at(f);
        for (size_t c = 0; c < sizeof(checks) / sizeof(checks[0]); ++c) {
            if ((SCALED != checks[c].formats || format->scaled) &&
                (FIRST != checks[c].formats || 0 == f)) {
                unit_add_row(checks[c].run, format, 0, "%s_%s", format->name, checks[c].name);
            }
        }
    }
    printf("# best instruction set %s\n", arc_isa_name(arc_cpu_isa(ARC_ISA_AVX512)));
    return unit_run("kernels");
}
