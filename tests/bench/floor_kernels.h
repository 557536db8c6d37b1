/*
 * Loops that copy and add floats, for bench/floor: plain stores, and stores past
 * the caches.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_FLOOR_KERNELS_H
#define ARC_FLOOR_KERNELS_H

#include <stddef.h>

typedef void floor_copy_fn_t(float *to, const float *from, size_t count);

/* Both out[i] and also[i] become a[i] + b[i]. */
typedef void floor_add_both_fn_t(float *out, float *also, const float *a, const float *b,
                                 size_t count);

/** Stores of what the other side will read. */
typedef struct floor_stores {
    floor_copy_fn_t *copy;
    floor_add_both_fn_t *add_both; /* `out` is our own: only `also` is stored in this manner */
    floor_copy_fn_t *copy_out;     /* from the other side's memory to our own */
} floor_stores_t;

typedef struct floor_kernels {
    void (*add)(float *out, const float *a, const float *b, size_t count);
    floor_stores_t ordinary;
    floor_stores_t library;   /* memcpy(), made for this processor */
    floor_stores_t streaming; /* past the caches; NULL pointers: there are none */
} floor_kernels_t;

/**
 * Those of the widest vectors that this processor has. What streaming ones store begins on a cache
 * line; they end with the fence that makes it visible before any later store.
 */
const floor_kernels_t *floor_kernels(void);

#endif
