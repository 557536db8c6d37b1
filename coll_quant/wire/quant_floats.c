/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_feedback.h"
#include "quant_numbers.h"

static size_t pack(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                   const void *in, float error, const quant_scratch_t *scratch, void *message)
{
    (void) scratch;
    return quant_wire_pack(segment, kernels, in, error, message);
}

static size_t hop(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                  const quant_format_t *from, const void *received, const void *x, float error,
                  const quant_scratch_t *scratch, void *message)
{
    return quant_wire_hop(segment, kernels, from, received, x, error, scratch->tile, message);
}

static float add(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                 const quant_format_t *from, const void *received, const void *x, float error,
                 const quant_scratch_t *scratch, void *sum)
{
    (void) scratch;
    return quant_wire_add(segment, kernels, from, received, x, error, sum);
}

static void unpack(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                   const quant_format_t *from, const void *message, const quant_scratch_t *scratch,
                   void *out)
{
    (void) scratch;
    quant_wire_unpack(segment, kernels, from, message, out);
}

static float feed(const void *x, const float *residual, size_t elems, void *own)
{
    return quant_feedback_add(x, residual, elems, own);
}

static void keep(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                 const void *message, const void *value, const quant_scratch_t *scratch,
                 float *residual)
{
    (void) scratch;
    quant_feedback_keep(segment, kernels, value, message, residual);
}

const quant_numbers_t quant_floats = {
    .name = "float",
    .bytes = sizeof(float),
    .exact = &quant_format_fp32,
    .bytes_max = quant_wire_bytes_max,
    .pack = pack,
    .hop = hop,
    .add = add,
    .unpack = unpack,
    .feed = feed,
    .keep = keep,
};
