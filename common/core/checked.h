/*
 * Sizes that are checked: a product or a sum that does not fit is no number.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_CHECKED_H
#define ARC_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

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
