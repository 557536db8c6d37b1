/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "fuzz.h"

/*
 * What one encoding may change in a lane of a tile with the largest magnitude M: half a step at
 * M / scale; the scale is M / divisor, off by up to 2^-8, or the least one.
 */
static double bound_of(const quant_format_t *format, double most)
{
    const double divisor = (double) format->range.divisor;
    double scale = 1;
    int exponent = 0;

    if (quant_format_is_exact(format)) {
        return 0;
    }
    if (format->scaled) {
        scale = fmax(most / divisor * (1 + 0x1.1p-8), (double) format->range.scale_min);
    }
    double quotient = fmin(most / scale * (1 + 0x1p-7), format->scaled ? divisor : INFINITY);
    (void) frexp(quotient, &exponent);
    double step = fmax((double) format->step, ldexp(1, exponent - 1 - (int) format->mantissa));
    return scale * (step / 2 + quotient * 0x1.1p-23);
}

static void require_bound(const fuzz_input_t *input, const float *x, const float *decoded)
{
    const size_t tile_elems = quant_tile_elems(input->block_rows);

    for (size_t first = 0; first < input->elems; first += tile_elems) {
        const size_t end = first + tile_elems < input->elems ? first + tile_elems : input->elems;
        for (size_t lane = first; lane < end && lane < first + QUANT_LANES; ++lane) {
            double most = 0;
            double worst = 0;
            for (size_t i = lane; i < end; i += QUANT_LANES) {
                most = fmax(most, fabs((double) x[i]));
                worst = fmax(worst, fabs((double) decoded[i] - (double) x[i]));
            }
            FUZZ_REQUIRE(worst <= bound_of(input->format, most));
        }
    }
}

static bool is_finite(const float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

int fuzz_roundtrip(const uint8_t *data, size_t bytes)
{
    const quant_kernels_t scalar = quant_kernels_select(ARC_ISA_SCALAR);
    fuzz_input_t in;

    if (!fuzz_input_parse(data, bytes, &in)) {
        return 0;
    }
    const size_t payload_bytes = quant_payload_bytes(in.format, in.elems, in.block_rows);
    const size_t floats_bytes = in.elems * sizeof(float);
    float *x = fuzz_alloc_filled(&in, floats_bytes);
    float *decoded[2] = {fuzz_alloc(floats_bytes), fuzz_alloc(floats_bytes)};
    uint8_t *payload[2] = {fuzz_alloc(payload_bytes), fuzz_alloc(payload_bytes)};

    uint32_t peak[2] = {0, 0};
    bool coded =
        quant_payload_encode(in.format, &scalar, x, in.elems, in.block_rows, payload[0], &peak[0]);
    FUZZ_REQUIRE(coded == quant_payload_encode(in.format, &in.kernels, x, in.elems, in.block_rows,
                                               payload[1], &peak[1]));
    if (coded) {
        FUZZ_REQUIRE(peak[0] == peak[1]);
        FUZZ_REQUIRE(0 == memcmp(payload[0], payload[1], payload_bytes));
        quant_payload_decode(in.format, &scalar, payload[0], in.elems, in.block_rows, decoded[0]);
        quant_payload_decode(in.format, &in.kernels, payload[0], in.elems, in.block_rows,
                             decoded[1]);
        FUZZ_REQUIRE(0 == memcmp(decoded[0], decoded[1], floats_bytes));
        if (is_finite(x, in.elems)) {
            require_bound(&in, x, decoded[0]);
        } else {
            FUZZ_REQUIRE(quant_format_is_exact(in.format));
        }
    }
    for (size_t i = 0; i < 2; ++i) {
        free(payload[i]);
        free(decoded[i]);
    }
    free(x);
    return 0;
}
