/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_payload.h"
#include "trip.h"

enum { MISALIGNED = 4 };

const arc_isa_t trip_isas[TRIP_ISAS] = {ARC_ISA_SCALAR, ARC_ISA_AVX2, ARC_ISA_AVX512};

trip_t trip_new(const quant_format_t *format, arc_isa_t isa, const float *x, size_t count,
                unsigned block_rows)
{
    const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(isa));
    trip_t trip = {
        .payload = test_buffer_new(quant_payload_bytes(format, count, block_rows), MISALIGNED),
        .decoded = test_buffer_new(count * sizeof(float), 2 * MISALIGNED),
        .sum = test_buffer_new(count * sizeof(float), 3 * MISALIGNED),
    };

    const quant_codec_t codec = {
        .kernels = &kernels, .format = format, .block_rows = block_rows, .elems = count};
    quant_coding_t coding = {.payload = trip.payload.data, .room = trip.payload.bytes};
    trip.codable = quant_payload_encode(&codec, x, &coding);
    trip.peak = coding.peak;
    if (trip.codable) {
        quant_payload_decode(&codec, trip.payload.data, (float *) trip.decoded.data);
        quant_payload_decode_add(&codec, trip.payload.data, x, (float *) trip.sum.data,
                                 &trip.sum_peak);
    }
    assert_true(test_buffer_intact(&trip.payload));
    assert_true(test_buffer_intact(&trip.decoded));
    assert_true(test_buffer_intact(&trip.sum));
    return trip;
}

void trip_free(trip_t *trip)
{
    test_buffer_free(&trip->payload);
    test_buffer_free(&trip->decoded);
    test_buffer_free(&trip->sum);
}

double trip_magnitude(const quant_format_t *format, unsigned k)
{
    const unsigned per_power = 1U << format->mantissa;

    if (k < 2 * per_power) {
        return k * (double) format->step;
    }
    return ldexp((per_power + k % per_power) * (double) format->step, (int) (k / per_power) - 1);
}
