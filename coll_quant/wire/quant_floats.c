/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdint.h>

typedef float number_t;
typedef int32_t bits_t;
#define MAGNITUDE INT32_MAX
#define UNCODED ((int32_t) QUANT_LIMIT_SCALED)
#define ADDED(_error, _other, _peak) quant_bound_added(_error, _other, (uint32_t) (_peak))
#include "quant_number.h"

static double most_of(const quant_kernels_t *kernels, const void *x, size_t elems)
{
    uint32_t absmax[QUANT_BLOCKS] = {0};
    const size_t rows = elems / QUANT_LANES;
    const float *in = x;
    int32_t peak = 0;

    kernels->absmax(in, rows, QUANT_SHIFT_ALL, absmax);
    for (size_t i = rows * QUANT_LANES; i < elems; ++i) {
        peak = larger(peak, in[i]);
    }
    peak = (int32_t) absmax[0] > peak ? (int32_t) absmax[0] : peak;
    return (double) from_bits(peak);
}

const quant_element_t quant_floats = {"float",           sizeof(float),  &quant_format_fp32,
                                      quant_wire_pack,   quant_wire_hop, quant_wire_add,
                                      quant_wire_unpack, feed,           most_of,
                                      0x1p-24,           peak_of,        keep};
