/*
 * FNV-1a, 64 bits (Fowler, Noll, Vo), a value at a time: each step is a bijection of the hash and
 * of the value, so none of the two is lost in it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_HASH_H
#define ARC_HASH_H

#include <stdint.h>

/* Of nothing: the offset basis. */
#define ARC_HASH_EMPTY UINT64_C(0xcbf29ce484222325)

static inline uint64_t arc_hash_add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3); /* the prime */
}

#endif
