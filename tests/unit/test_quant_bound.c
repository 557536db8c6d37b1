/*
 * Bounds of errors: no number drawn breaks them, and they are not much larger than
 * what happens.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "unit.h"
#include "quant_bound.h"
#include "quant_payload.h"

enum { ROWS = 64, ELEMS = ROWS * QUANT_LANES };

static uint32_t bits_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What encoding `x` in `format` does at worst; its peak in *peak. */
static double worst_error(const quant_format_t *format, const float *x, uint32_t *peak)
{
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    const quant_codec_t codec = {
        .kernels = &kernels, .format = format, .block_rows = ROWS, .elems = ELEMS};
    quant_coding_t coding = {.room = quant_payload_bytes(format, ELEMS, ROWS)};
    SCOPED float *decoded = test_alloc(ELEMS * sizeof *decoded);
    double worst = 0;

    coding.payload = test_alloc(coding.room);
    assert_true(quant_payload_encode(&codec, x, &coding));
    *peak = coding.peak;
    quant_payload_decode(&codec, coding.payload, decoded);
    for (size_t i = 0; i < ELEMS; ++i) {
        const double error = fabs((double) decoded[i] - (double) x[i]);
        worst = error > worst ? error : worst; /* gcc 12 stumbles over fmax() for Arm */
    }
    free(coding.payload);
    return worst;
}

TEST(encoding_stays_within_its_bound_and_near_it)
{
    static const double sizes[] = {1, 1e-3, 1e4, 0.7, 3.1e-2, 0x1p-10};
    test_random_t random = test_random_of(31, 0);
    SCOPED float *x = test_alloc(ELEMS * sizeof *x);

    for (size_t f = 0; NULL != quant_format_at(f); ++f) {
        const quant_format_t *format = quant_format_at(f);
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            float largest = 0;
            uint32_t peak = 0;

            /* Spread evenly, so that some are near the peak and half-way between two codes. */
            for (size_t i = 0; i < ELEMS; ++i) {
                x[i] = (float) ((2 * test_random_unit(&random) - 1) * sizes[s]);
                largest = fmaxf(largest, fabsf(x[i]));
            }
            const double worst = worst_error(format, x, &peak);
            const double bound = (double) quant_bound_encoded(0, format, peak);
            if (format->exact) {
                assert_true(worst == 0 && bound == 0);
                continue;
            }
            assert_int_equal(bits_of(largest), peak);
            assert_true(worst <= bound);
            assert_true(worst >= 0.9 * bound);
        }
    }
}

TEST(tiny_and_huge_numbers_stay_within_the_bound)
{
    static const float peaks[] = {FLT_MIN, 1e-44f, 0x1p-120f, 0x1p-30f, 0x1.fffp15f, 0x1.fp126f};
    SCOPED float *x = test_alloc(ELEMS * sizeof *x);

    for (size_t f = 0; NULL != quant_format_at(f); ++f) {
        const quant_format_t *format = quant_format_at(f);
        for (size_t p = 0; p < sizeof peaks / sizeof peaks[0]; ++p) {
            uint32_t peak = 0;

            if (bits_of(peaks[p]) >= format->range.limit) {
                continue;
            }
            for (size_t i = 0; i < ELEMS; ++i) {
                x[i] = peaks[p] * ((float) (i + 1) / ELEMS);
            }
            const double worst = worst_error(format, x, &peak);
            const double bound = (double) quant_bound_encoded(0, format, peak);
            if (!(worst <= bound)) {
                fail_msg("%s, peak %a: error %a, bound %a", format->name, (double) peaks[p], worst,
                         bound);
            }
        }
    }
}

TEST(an_addition_stays_within_its_bound)
{
    test_random_t random = test_random_of(33, 0);
    double closest = 0;

    for (unsigned i = 0; i < 100000; ++i) {
        const float a = (float) (test_random_normal(&random));
        const float b = (float) (test_random_normal(&random) * 1e-3);
        const float sum = a + b;
        const double error = fabs((double) a + (double) b - (double) sum);
        const double bound = (double) quant_bound_added(0, 0, bits_of(fabsf(sum)));
        assert_true(error <= bound);
        closest = fmax(closest, error / bound);
    }
    assert_true(closest > 0.9);
}

TEST(errors_add_up_and_never_shrink)
{
    test_random_t random = test_random_of(35, 0);

    for (unsigned i = 0; i < 100000; ++i) {
        const float a = (float) test_random_unit(&random);
        const float b = (float) (test_random_unit(&random) * 1e-6);
        const float sum = quant_bound_added(a, b, 0);
        assert_true((double) sum >= (double) a + (double) b);
        assert_true((double) sum <= ((double) a + (double) b) * (1 + 0x1p-22));
        assert_true(quant_bound_encoded(a, &quant_format_int16, bits_of(b)) > a);
        assert_true(quant_bound_encoded(a, &quant_format_fp32, bits_of(b)) == a);
    }
}

TEST(there_is_no_bound_once_a_sum_is_not_finite)
{
    assert_true(isinf(quant_bound_added(0, 0, bits_of(INFINITY))));
    assert_true(isinf(quant_bound_added(0, 0, bits_of(NAN) & 0x7fffffff)));
    assert_true(isinf(quant_bound_added(INFINITY, 0, 0)));
    assert_true(isinf(quant_bound_encoded(INFINITY, &quant_format_int8, bits_of(1))));
    assert_true(isinf(quant_bound_added(FLT_MAX, FLT_MAX, 0)));
}
