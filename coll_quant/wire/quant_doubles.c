/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdint.h>

typedef double number_t;
typedef int64_t bits_t;
#define MAGNITUDE INT64_MAX
#define UNCODED INT64_C(0x45e0000000000000) /* 2^95 */
#define ADDED(_error, _other, _peak) quant_bound_added_doubles(_error, _other, from_bits(_peak))
#include "quant_number.h"

static double load_double(const uint8_t *payload, size_t index)
{
    double value = 0;
    memcpy(&value, payload + index * sizeof value, sizeof value);
    return value;
}

/* To floats; the error of these. */
static float narrow_doubles(const double *x, size_t elems, float error, float *out)
{
    int64_t peak = 0;
    int inexact = 0;

    for (size_t i = 0; i < elems; ++i) {
        out[i] = (float) x[i];
        inexact |= (double) out[i] != x[i];
        peak = larger(peak, x[i]);
    }
    return inexact ? quant_bound_narrowed(error, from_bits(peak)) : error;
}

static size_t pack(const quant_wire_segment_t *segment, const void *in, float error, void *message)
{
    const size_t elems = segment->codec.elems;

    if (!segment->codec.format->exact) {
        const float error_of_floats = narrow_doubles(in, elems, error, segment->floats);
        const size_t bytes = quant_wire_pack(segment, segment->floats, error_of_floats, message);
        if (!quant_wire_format(message)->exact) {
            return bytes;
        }
    }
    memcpy((uint8_t *) message + sizeof(quant_wire_header_t), in, elems * sizeof(double));
    return quant_wire_seal_exact(segment, &quant_format_fp64, error, message);
}

static float add(const quant_wire_segment_t *segment, const void *received, const void *x,
                 float error, void *sum)
{
    const uint8_t *payload = quant_wire_payload(received);
    const double *own = x;
    double *out = sum;
    int64_t peak = 0;

    if (&quant_format_fp64 == quant_wire_format(received)) {
        for (size_t i = 0; i < segment->codec.elems; ++i) {
            out[i] = load_double(payload, i) + own[i];
            peak = larger(peak, out[i]);
        }
    } else {
        quant_wire_unpack(segment, received, segment->floats);
        for (size_t i = 0; i < segment->codec.elems; ++i) {
            out[i] = (double) segment->floats[i] + own[i];
            peak = larger(peak, out[i]);
        }
    }
    return ADDED(quant_wire_bound(received), error, peak);
}

static void unpack(const quant_wire_segment_t *segment, const void *message, void *out)
{
    double *numbers = out;

    if (&quant_format_fp64 == quant_wire_format(message)) {
        memcpy(out, quant_wire_payload(message), segment->codec.elems * sizeof(double));
        return;
    }
    quant_wire_unpack(segment, message, segment->floats);
    for (size_t i = 0; i < segment->codec.elems; ++i) {
        numbers[i] = (double) segment->floats[i];
    }
}

static double most_of(const quant_kernels_t *kernels, const void *x, size_t elems)
{
    const double *in = x;
    int64_t peak = 0;
    (void) kernels;

    for (size_t i = 0; i < elems; ++i) {
        peak = larger(peak, in[i]);
    }
    return from_bits(peak);
}

const quant_element_t quant_doubles = {"double", sizeof(double), &quant_format_fp64,
                                       pack,     NULL,           add,
                                       unpack,   feed,           most_of,
                                       0x1p-53,  peak_of,        keep};
