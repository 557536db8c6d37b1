/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_format.h"

static size_t payload_bytes(size_t elems, unsigned block_rows)
{
    (void) block_rows;
    return elems * sizeof(float);
}

static bool encode(const quant_kernels_t *kernels, const float *in, size_t elems,
                   unsigned block_rows, void *payload)
{
    (void) kernels;
    (void) block_rows;
    memcpy(payload, in, elems * sizeof(float));
    return true;
}

static void decode(const quant_kernels_t *kernels, const void *payload, size_t elems,
                   unsigned block_rows, float *out)
{
    (void) kernels;
    (void) block_rows;
    memcpy(out, payload, elems * sizeof(float));
}

static void decode_add(const quant_kernels_t *kernels, const void *payload, const float *x,
                       size_t elems, unsigned block_rows, float *sum)
{
    (void) block_rows;
    kernels->add(payload, x, elems, sum);
}

const quant_format_t quant_format_fp32 = {
    .name = "fp32",
    .wire_id = 0,
    .code_max = 0,
    .payload_bytes = payload_bytes,
    .encode = encode,
    .decode = decode,
    .decode_add = decode_add,
};
