/*
 * The streaming copy in wide vectors.  A file for one instruction set defines its vectors
 * (vector.h), WIDE_STREAM(_to, _vector), a non-temporal store, aligned, and ARC_COPIER, the name of
 * its copier, and includes this one.
 *
 *   | up to the first whole line: memcpy | pairs of lines | a line | the rest: memcpy |
 *
 * A line is written whole and at once, so that it leaves the write-combining buffer as one
 * transfer; the loads of a pair are under way together.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "copy.h"

enum { LINE_BYTES = 64, PAIR_BYTES = 2 * LINE_BYTES };

/* `bytes`: LINE_BYTES or PAIR_BYTES, known to the compiler. */
ALWAYS_INLINE void stream_lines(unsigned char *to, const unsigned char *from, size_t bytes)
{
    WIDE_REGISTER(i) vector[PAIR_BYTES / WIDE_BYTES];

    for (size_t i = 0; i < bytes / WIDE_BYTES; ++i) {
        WIDE_REGISTER(i) next;
        memcpy(&next, from + i * WIDE_BYTES, sizeof next);
        vector[i] = next;
    }
    for (size_t i = 0; i < bytes / WIDE_BYTES; ++i) {
        WIDE_STREAM(to + i * WIDE_BYTES, vector[i]);
    }
}

static void copy_streaming(void *to_bytes, const void *from_bytes, size_t bytes)
{
    unsigned char *to = to_bytes;
    const unsigned char *from = from_bytes;
    const size_t head_bytes = (LINE_BYTES - (uintptr_t) to % LINE_BYTES) % LINE_BYTES;

    if (bytes < head_bytes + LINE_BYTES) {
        if (bytes > 0) {
            memcpy(to, from, bytes);
        }
        return;
    }
    memcpy(to, from, head_bytes);
    size_t at = head_bytes;
    for (; bytes - at >= PAIR_BYTES; at += PAIR_BYTES) {
        stream_lines(to + at, from + at, PAIR_BYTES);
    }
    if (bytes - at >= LINE_BYTES) {
        stream_lines(to + at, from + at, LINE_BYTES);
        at += LINE_BYTES;
    }
    memcpy(to + at, from + at, bytes - at);
}

static void fence(void)
{
    _mm_sfence();
}

const arc_copier_t ARC_COPIER = {.copy = copy_streaming, .fence = fence};
