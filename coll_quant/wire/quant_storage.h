/*
 * Numbers of the program that are floats in here, as 16-bit floats are: each segment is widened
 * when it is read, which is exact, and rounded once, when its total is written.
 *
 * Rounding makes infinite what is too large.  A total is off by up to its bound (quant_bound.h), so
 * it may be too large where the exact sum is not: docs/guarantees.md, "A bound for every call".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_STORAGE_H
#define QUANT_STORAGE_H

#include <math.h>

#include "half.h"

typedef struct quant_storage {
    size_t bytes;    /* of a number */
    arc_half_t half; /* between numbers and floats */
    float largest;   /* finite one */
    float overflow;  /* the first magnitude that is rounded to infinity; INFINITY: none is */
} quant_storage_t;

/*
 * Of floats that are off by up to `bound`, make those the largest finite number that would be
 * rounded to infinity although the exact ones may not be.
 */
static inline void quant_storage_clamp(const quant_storage_t *storage, float bound, float *floats,
                                       size_t count)
{
    for (size_t i = 0; i < count && isfinite(bound); ++i) {
        const float size = fabsf(floats[i]);
        if (isfinite(size) && size >= storage->overflow &&
            (double) size - (double) bound < (double) storage->overflow) {
            floats[i] = copysignf(storage->largest, floats[i]);
        }
    }
}

#endif
