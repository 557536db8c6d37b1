/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "fuzz.h"

/*
 * What one encoding may change in a block with the largest magnitude M: half a step at
 * M / scale; the scale is M / divisor, off by up to 2^-8, or the least one.
 */
static double bound_of(const quant_format_t *format, double most)
{
    const double divisor = (double) format->range.divisor;
    double scale = 1;
    int exponent = 0;

    if (format->exact) {
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

/* No number that is finite is farther off than its message says. */
static void require_bound_of_message(const fuzz_input_t *input, const void *message, const float *x,
                                     const float *decoded)
{
    const double bound = (double) quant_wire_bound(message);

    for (size_t i = 0; i < input->codec.elems; ++i) {
        FUZZ_REQUIRE(!isfinite(x[i]) || fabs((double) decoded[i] - (double) x[i]) <= bound);
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

/* The same message with both kernels, and numbers near those that went in. */
static void trip_of_messages(const fuzz_input_t *in, const quant_kernels_t *scalar, const float *x)
{
    const quant_kernels_t *kernels[2] = {scalar, &in->kernels};
    const size_t most =
        quant_wire_bytes_max(in->codec.format, in->codec.elems, in->codec.block_rows);
    const size_t floats_bytes = in->codec.elems * sizeof(float);
    quant_wire_segment_t segment = {.codec = in->codec};
    uint8_t *message[2] = {fuzz_alloc(most), fuzz_alloc(most)};
    uint8_t *next[2] = {fuzz_alloc(most), fuzz_alloc(most)};
    float *decoded[2] = {fuzz_alloc(floats_bytes), fuzz_alloc(floats_bytes)};
    float *sum[2] = {fuzz_alloc(floats_bytes), fuzz_alloc(floats_bytes)};
    float error[2];
    size_t bytes[2];
    size_t next_bytes[2];

    for (unsigned i = 0; i < 2; ++i) {
        segment.codec.kernels = kernels[i];
        bytes[i] = quant_wire_pack(&segment, x, 0, message[i]);
        FUZZ_REQUIRE(ARC_OK == quant_wire_check(&segment, message[i], bytes[i]));
        quant_wire_unpack(&segment, message[i], decoded[i]);
        error[i] = quant_wire_add(&segment, message[i], x, 0, sum[i]);
        next_bytes[i] = quant_wire_hop(&segment, message[i], x, 0, next[i]);
    }
    FUZZ_REQUIRE(bytes[0] == bytes[1] && 0 == memcmp(message[0], message[1], bytes[0]));
    FUZZ_REQUIRE(0 == memcmp(decoded[0], decoded[1], floats_bytes));
    require_bound_of_message(in, message[0], x, decoded[0]);
    FUZZ_REQUIRE(0 == memcmp(sum[0], sum[1], floats_bytes));
    FUZZ_REQUIRE(error[0] == error[1] && (isinf(error[0]) || is_finite(sum[0], in->codec.elems)));
    FUZZ_REQUIRE(next_bytes[0] == next_bytes[1]);
    FUZZ_REQUIRE(0 == memcmp(next[0], next[1], next_bytes[0]));
    for (unsigned i = 0; i < 2; ++i) {
        free(sum[i]);
        free(next[i]);
        free(decoded[i]);
        free(message[i]);
    }
}

static void require_bound(const fuzz_input_t *input, const float *x, const float *decoded)
{
    const size_t elems = input->codec.elems;
    const size_t block = input->codec.block_rows;

    for (size_t first = 0; first < elems; first += block) {
        double most = 0;
        double worst = 0;
        for (size_t i = first; i < elems && i < first + block; ++i) {
            most = fmax(most, fabs((double) x[i]));
            worst = fmax(worst, fabs((double) decoded[i] - (double) x[i]));
        }
        FUZZ_REQUIRE(worst <= bound_of(input->codec.format, most));
    }
}

int fuzz_roundtrip(const uint8_t *data, size_t bytes)
{
    const quant_kernels_t scalar = quant_kernels_select(ARC_ISA_SCALAR);
    fuzz_input_t in;

    if (!fuzz_input_parse(data, bytes, &in)) {
        return 0;
    }
    quant_codec_t plain[2] = {in.codec, in.codec};
    plain[0].kernels = &scalar;
    const size_t payload_bytes =
        quant_payload_bytes(in.codec.format, in.codec.elems, in.codec.block_rows);
    const size_t floats_bytes = in.codec.elems * sizeof(float);
    float *x = fuzz_alloc_filled(&in, floats_bytes);
    float *decoded[2] = {fuzz_alloc(floats_bytes), fuzz_alloc(floats_bytes)};
    uint8_t *payload[2] = {fuzz_alloc(payload_bytes), fuzz_alloc(payload_bytes)};

    quant_coding_t coding[2] = {{.payload = payload[0], .room = payload_bytes},
                                {.payload = payload[1], .room = payload_bytes}};
    bool coded = quant_payload_encode(&plain[0], x, &coding[0]);
    FUZZ_REQUIRE(coded == quant_payload_encode(&plain[1], x, &coding[1]));
    if (coded) {
        FUZZ_REQUIRE(coding[0].peak == coding[1].peak);
        FUZZ_REQUIRE(payload_bytes == coding[0].bytes && payload_bytes == coding[1].bytes);
        FUZZ_REQUIRE(0 == memcmp(payload[0], payload[1], payload_bytes));
        for (unsigned i = 0; i < 2; ++i) {
            quant_payload_decode(&plain[i], payload[i], decoded[i]);
        }
        FUZZ_REQUIRE(0 == memcmp(decoded[0], decoded[1], floats_bytes));
        if (is_finite(x, in.codec.elems)) {
            require_bound(&in, x, decoded[0]);
        } else {
            FUZZ_REQUIRE(in.codec.format->exact);
        }
    }
    trip_of_messages(&in, &scalar, x);
    for (size_t i = 0; i < 2; ++i) {
        free(payload[i]);
        free(decoded[i]);
    }
    free(x);
    free(in.codec.tile);
    return 0;
}
