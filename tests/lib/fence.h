/*
 * Memory of which only a part may be touched.  AddressSanitizer stops whoever reads or writes the
 * rest; where the code is built without it these functions do nothing.
 *
 * Of the first bytes of the part it sees whole words of 8 only, of the last ones each.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TESTS_FENCE_H
#define TESTS_FENCE_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define FENCED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FENCED 1
#endif
#endif

#ifdef FENCED
#include <sanitizer/asan_interface.h>
#endif

/* Of [memory, memory + bytes) only [part, part + part_bytes) may be touched. */
static inline void fence(const void *memory, size_t bytes, const void *part, size_t part_bytes)
{
#ifdef FENCED
    ASAN_POISON_MEMORY_REGION(memory, bytes);
    ASAN_UNPOISON_MEMORY_REGION(part, part_bytes);
#else
#endif
}

/* All of it may. */
static inline void fence_open(const void *memory, size_t bytes)
{
    fence(memory, bytes, memory, bytes);
}

#endif
