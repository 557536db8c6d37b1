/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "half.h"
#include "reduce_half.h"

#define DEFINE_LOOPS(_type)                                                     \
    static void widen_##_type(const void *halves, float *floats, size_t count)  \
    {                                                                           \
        const uint16_t *half = halves;                                          \
        for (size_t i = 0; i < count; ++i) {                                    \
            floats[i] = arc_##_type##_widen(half[i]);                           \
        }                                                                       \
    }                                                                           \
                                                                                \
    static void narrow_##_type(const float *floats, void *halves, size_t count) \
    {                                                                           \
        uint16_t *half = halves;                                                \
        for (size_t i = 0; i < count; ++i) {                                    \
            half[i] = arc_##_type##_narrow(floats[i]);                          \
        }                                                                       \
    }

DEFINE_LOOPS(bf16)
DEFINE_LOOPS(fp16)

const arc_halves_t arc_halves_scalar = {
    .bf16 = {widen_bf16, narrow_bf16},
    .fp16 = {widen_fp16, narrow_fp16},
};
