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

#include <stddef.h>

typedef struct quant_storage {
    size_t bytes; /* of a number */
    void (*widen)(const void *numbers, float *floats, size_t count);
    void (*narrow)(const float *floats, void *numbers, size_t count);
    float largest;  /* finite one */
    float overflow; /* the first magnitude that is rounded to infinity; INFINITY: none is */
} quant_storage_t;

/*
 * Of floats that are off by up to `bound`, make those the largest finite number that would be
 * rounded to infinity although the exact ones may not be.
 */
void quant_storage_clamp(const quant_storage_t *storage, float bound, float *floats, size_t count);

/* The same numbers, kept as floats: all is done as for `storage`, but nothing is rounded. */
quant_storage_t quant_storage_of_floats(const quant_storage_t *storage);

#endif
