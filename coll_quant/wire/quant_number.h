/*
 * What floats and doubles do alike (quant_element.h).  Included behind the definitions of
 *
 *   number_t, bits_t    the type, and signed integers of its size: for the compiler's vectors
 *   MAGNITUDE           of bits_t: all but the sign
 *   UNCODED             the bits of the least magnitude that is not coded
 *   ADDED(_error, _other, _peak)    the bound of sums up to `_peak`, as bits
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "quant_bound.h"
#include "quant_element.h"

static bits_t larger(bits_t peak, number_t value)
{
    bits_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const bits_t magnitude = bits & MAGNITUDE;
    return magnitude > peak ? magnitude : peak;
}

static number_t from_bits(bits_t bits)
{
    number_t value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t peak_of(const void *x, size_t elems)
{
    const number_t *in = x;
    bits_t peak = 0;
    uint32_t bits = 0;

    for (size_t i = 0; i < elems; ++i) {
        const bits_t magnitude = larger(0, in[i]);
        const bits_t coded = magnitude < UNCODED ? magnitude : 0;
        peak = coded > peak ? coded : peak;
    }
    const float rounded = (float) from_bits(peak);
    memcpy(&bits, &rounded, sizeof bits);
    return (number_t) rounded < from_bits(peak) ? bits + 1 : bits;
}

static float feed(const void *x, const float *residual, size_t elems, void *own)
{
    const number_t *in = x;
    number_t *out = own;
    bits_t most = 0;
    bits_t peak = 0;

    for (size_t i = 0; i < elems; ++i) {
        out[i] = in[i] + (number_t) residual[i];
        most = larger(most, (number_t) residual[i]);
        peak = larger(peak, out[i]);
    }
    return ADDED((float) from_bits(most), 0, peak);
}

static void keep(const quant_wire_segment_t *segment, const void *message, const void *value,
                 float *residual)
{
    const number_t *in = value;

    if (quant_wire_format(message)->exact) {
        memset(residual, 0, segment->codec.elems * sizeof *residual);
        return;
    }
    quant_wire_unpack(segment, message, residual);
    for (size_t i = 0; i < segment->codec.elems; ++i) {
        const number_t lost = in[i] - (number_t) residual[i];
        /* Nothing of an infinity or a NaN that was kept. */
        residual[i] = lost == lost ? (float) lost : 0;
    }
}
