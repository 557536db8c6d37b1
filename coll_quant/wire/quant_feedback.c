/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_bound.h"
#include "quant_feedback.h"

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

float quant_feedback_add(const float *x, const float *residual, size_t elems, float *own)
{
    int32_t most = 0;
    int32_t peak = 0;

    for (size_t i = 0; i < elems; ++i) {
        own[i] = x[i] + residual[i];
        most = larger(most, residual[i]);
        peak = larger(peak, own[i]);
    }
    return quant_bound_added(from_bits((uint32_t) most), 0, (uint32_t) peak);
}

void quant_feedback_keep(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                         const float *value, const void *coded, float *residual)
{
    const quant_format_t *format = quant_wire_format(coded);

    if (quant_format_is_exact(format)) {
        memset(residual, 0, segment->elements * sizeof *residual);
        return;
    }
    quant_wire_unpack(segment, kernels, format, coded, residual);
    for (size_t i = 0; i < segment->elements; ++i) {
        const float lost = value[i] - residual[i];
        residual[i] = lost == lost ? lost : 0; /* nothing of an infinity or a NaN that was kept */
    }
}
