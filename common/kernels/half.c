/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "half.h"
#include "reduce_half.h"

void arc_half_widen(arc_type_t type, const uint16_t *halves, float *floats, size_t count)
{
    if (ARC_TYPE_BF16 == type) {
        for (size_t i = 0; i < count; ++i) {
            floats[i] = arc_bf16_widen(halves[i]);
        }
    } else {
        for (size_t i = 0; i < count; ++i) {
            floats[i] = arc_fp16_widen(halves[i]);
        }
    }
}

void arc_half_narrow(arc_type_t type, const float *floats, uint16_t *halves, size_t count)
{
    if (ARC_TYPE_BF16 == type) {
        for (size_t i = 0; i < count; ++i) {
            halves[i] = arc_bf16_narrow(floats[i]);
        }
    } else {
        for (size_t i = 0; i < count; ++i) {
            halves[i] = arc_fp16_narrow(floats[i]);
        }
    }
}
