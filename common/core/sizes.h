/*
 * Arithmetic of sizes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SIZES_H
#define ARC_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

static inline size_t arc_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many times `unit` covers `size`, whatever the size. */
static inline size_t arc_divide_up(size_t size, size_t unit)
{
    return size / unit + (0 != size % unit);
}

/* The next multiple of `unit`, which must be a size_t. */
static inline size_t arc_round_up(size_t size, size_t unit)
{
    return arc_divide_up(size, unit) * unit;
}

/* Parts of `memory` behind each other, at multiples of `unit`; their bytes.  NULL: to count. */
static inline size_t arc_lay_out(void *memory, const size_t *bytes, size_t parts, size_t unit,
                                 void **part)
{
    size_t end = 0;

    for (size_t i = 0; i < parts; ++i) {
        part[i] = (void *) ((uintptr_t) memory + end);
        end += arc_round_up(bytes[i], unit);
    }
    return end;
}

/* *bytes = count * each_bytes + more_bytes.  False if that is more than memory can have. */
static inline ARC_MUST_CHECK bool arc_checked_bytes(size_t count, size_t each_bytes,
                                                    size_t more_bytes, size_t *bytes)
{
    size_t product = 0;
    size_t sum = 0;

    if (__builtin_mul_overflow(count, each_bytes, &product) ||
        __builtin_add_overflow(product, more_bytes, &sum) || sum > PTRDIFF_MAX) {
        return false;
    }
    *bytes = sum;
    return true;
}

#endif
