/*
 * The loops over vectors of 16-bit floats, for the compiler to vectorize: included by half.c and by
 * one half_<isa>.c for each further instruction set, which are compiled with its flags.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_HALF_LOOPS_H
#define ARC_HALF_LOOPS_H

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

#define HALF_LOOPS                                                            \
    {                                                                         \
        .bf16 = {widen_bf16, narrow_bf16}, .fp16 = {widen_fp16, narrow_fp16}, \
    }

#endif
