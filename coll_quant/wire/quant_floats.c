/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_bound.h"
#include "quant_element.h"

static const uint32_t magnitude_bits = UINT32_C(0x7fffffff);

static float from_bits(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Signed, for the compiler's vectors: magnitudes have no sign bit. */
static int32_t larger(int32_t peak, float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const int32_t magnitude = (int32_t) (bits & magnitude_bits);
    return magnitude > peak ? magnitude : peak;
}

static float feed(const void *x, const float *residual, size_t elems, void *own)
{
    const float *in = x;
    float *out = own;
    int32_t most = 0;
    int32_t peak = 0;

    for (size_t i = 0; i < elems; ++i) {
        out[i] = in[i] + residual[i];
        most = larger(most, residual[i]);
        peak = larger(peak, out[i]);
    }
    return quant_bound_added(from_bits((uint32_t) most), 0, (uint32_t) peak);
}

static double most_of(const quant_kernels_t *kernels, const void *x, size_t elems)
{
    /* A tile of the longest block at a time. */
    enum { SHIFT = 12, ROWS = (1 << SHIFT) / QUANT_LANES };
    uint32_t absmax[QUANT_BLOCKS] = {0};
    const size_t rows = elems / QUANT_LANES;
    const float *in = x;
    int32_t peak = 0;

    for (size_t row = 0; row < rows; row += ROWS) {
        kernels->absmax(in + row * QUANT_LANES, rows - row < ROWS ? rows - row : ROWS, SHIFT,
                        absmax);
    }
    for (size_t i = rows * QUANT_LANES; i < elems; ++i) {
        peak = larger(peak, in[i]);
    }
    peak = (int32_t) absmax[0] > peak ? (int32_t) absmax[0] : peak;
    return (double) from_bits((uint32_t) peak);
}

static uint32_t peak_of(const void *x, size_t elems)
{
    const float *in = x;
    int32_t peak = 0;

    for (size_t i = 0; i < elems; ++i) {
        uint32_t bits = 0;
        memcpy(&bits, &in[i], sizeof bits);
        const int32_t magnitude = (int32_t) (bits & magnitude_bits);
        const int32_t coded = magnitude < (int32_t) QUANT_LIMIT_SCALED ? magnitude : 0;
        peak = coded > peak ? coded : peak;
    }
    return (uint32_t) peak;
}

static void keep(const quant_wire_segment_t *segment, const void *message, const void *value,
                 float *residual)
{
    const float *in = value;

    if (quant_format_is_exact(quant_wire_format(message))) {
        memset(residual, 0, segment->codec.elems * sizeof *residual);
        return;
    }
    quant_wire_unpack(segment, message, residual);
    for (size_t i = 0; i < segment->codec.elems; ++i) {
        const float lost = in[i] - residual[i];
        residual[i] = lost == lost ? lost : 0; /* nothing of an infinity or a NaN that was kept */
    }
}

const quant_element_t quant_floats = {"float",
                                      sizeof(float),
                                      &quant_format_fp32,
                                      quant_wire_bytes_max,
                                      quant_wire_pack,
                                      quant_wire_hop,
                                      quant_wire_add,
                                      quant_wire_unpack,
                                      feed,
                                      most_of,
                                      0x1p-24,
                                      peak_of,
                                      keep};
