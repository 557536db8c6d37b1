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

enum { ARC_ALIGN_BYTES = 64 }; /* of parts of memory: a cache line */

static inline void *arc_align(void *memory)
{
    return (void *) arc_round_up((uintptr_t) memory, ARC_ALIGN_BYTES);
}

/* Memory, aligned to that, to take parts of one after the other.  NULL: they are only counted. */
typedef struct arc_room {
    void *memory;
    size_t used;
} arc_room_t;

/* NULL: counted. */
static inline void *arc_room_take(arc_room_t *room, size_t bytes)
{
    void *part = NULL == room->memory ? NULL : (unsigned char *) room->memory + room->used;

    room->used += arc_round_up(bytes, ARC_ALIGN_BYTES);
    return part;
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
