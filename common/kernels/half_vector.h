/*
 * Vectors of 16-bit floats and of floats, what reduce_half.h has for one number.
 *
 * A vector of halves is two of floats, of the same width.  With BF16, the upper half of a float,
 * these are the halves at even places and those at odd ones, so that each takes one instruction:
 *
 *     halves   | h0 | h1 | h2 | h3 | ...     in memory, as all here
 *     even     |  0 | h0 |  0 | h2 | ...     shifted
 *     odd      |  0 | h1 |  0 | h3 | ...     masked
 *
 * and rounding has all halves in one vector, again.  FP16 has instructions of its own, for the
 * first and the second half of a vector.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_HALF_VECTOR_H
#define ARC_HALF_VECTOR_H

#include <string.h>

#include "reduce_half.h"
#include "vector.h"

enum {
    FLOATS_OF_HALVES = 2, /* registers of floats for one of halves */
    BF16_INFINITY = 0x7f80,
    FP16_INFINITY = 0x7c00,
};

/* Whatever the rounding mode is. */
#define TO_NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* clang-format off */
#define HALF_VECTORS(_width, _WIDTH)                                                            \
    ALWAYS_INLINE void widen_BF16_##_width(UINT32_##_width##_t halves,                          \
                                           FLOAT_##_width##_t *floats)                          \
    {                                                                                           \
        floats[0] = (FLOAT_##_width##_t) (halves << 16);                                        \
        floats[1] = (FLOAT_##_width##_t) (halves & UINT32_C(0xffff0000));                       \
    }                                                                                           \
                                                                                                \
    /* The upper halves of two vectors of 32 bits. */                                           \
    ALWAYS_INLINE UINT16_##_width##_t upper_##_width(UINT32_##_width##_t even,                  \
                                                     UINT32_##_width##_t odd)                   \
    {                                                                                           \
        typedef _WIDTH##_REGISTER(i) lanes_t;                                                   \
        return (UINT16_##_width##_t) _WIDTH##_ODD((lanes_t) (even >> 16), (lanes_t) odd);       \
    }                                                                                           \
                                                                                                \
    /* Numbers, and NaNs whose lower half is 0. */                                              \
    ALWAYS_INLINE UINT16_##_width##_t round_BF16_##_width(const FLOAT_##_width##_t *floats)     \
    {                                                                                           \
        typedef _WIDTH##_REGISTER(i) lanes_t;                                                   \
        const UINT32_##_width##_t even = (UINT32_##_width##_t) floats[0];                       \
        const UINT32_##_width##_t odd = (UINT32_##_width##_t) floats[1];                        \
        const UINT16_##_width##_t kept = upper_##_width(even, odd);                             \
        const UINT16_##_width##_t cut = (UINT16_##_width##_t)                                   \
            _WIDTH##_ODD((lanes_t) even, (lanes_t) (odd << 16));                                \
        /* below + 1 is 0x7fff plus the last bit kept; the first bit of the mean is a carry */  \
        const UINT16_##_width##_t below = (kept & 0x7fff) | 0x7ffe;                             \
        const UINT16_##_width##_t mean = (UINT16_##_width##_t)                                  \
            _WIDTH##_NAME(avg_epu16)((lanes_t) cut, (lanes_t) below);                           \
        return kept + (mean >> 15);                                                             \
    }                                                                                           \
                                                                                                \
    /* `nan` where `seen` is a NaN: larger, but for its sign, than `infinity`.  Else `halves`. */\
    ALWAYS_INLINE UINT16_##_width##_t with_one_nan_##_width(UINT16_##_width##_t halves,         \
                                                            UINT16_##_width##_t seen,           \
                                                            short infinity, short nan)          \
    {                                                                                           \
        typedef _WIDTH##_REGISTER(i) lanes_t;                                                   \
        return (UINT16_##_width##_t) _WIDTH##_WHERE_GREATER(                                    \
            (lanes_t) (seen & 0x7fff), _WIDTH##_NAME(set1_epi16)(infinity),                     \
            _WIDTH##_NAME(set1_epi16)(nan), (lanes_t) halves);                                  \
    }                                                                                           \
                                                                                                \
    /* Also NaNs that are seen in the upper half: all that are quiet, or were halves. */        \
    ALWAYS_INLINE UINT16_##_width##_t narrow_BF16_##_width(const FLOAT_##_width##_t *floats)    \
    {                                                                                           \
        const UINT16_##_width##_t kept = upper_##_width((UINT32_##_width##_t) floats[0],        \
                                                        (UINT32_##_width##_t) floats[1]);       \
        return with_one_nan_##_width(round_BF16_##_width(floats), kept, BF16_INFINITY,          \
                                     ARC_BF16_NAN);                                             \
    }                                                                                           \
                                                                                                \
    /* Two vectors, one behind the other. */                                                    \
    ALWAYS_INLINE UINT16_##_width##_t narrow_FP16_##_width(const FLOAT_##_width##_t *floats)    \
    {                                                                                           \
        typedef _WIDTH##_REGISTER() floats_t;                                                   \
        const UINT16_##_width##_t halves = (UINT16_##_width##_t) _WIDTH##_JOIN(                 \
            _WIDTH##_NAME(cvtps_ph)((floats_t) floats[0], TO_NEAREST),                          \
            _WIDTH##_NAME(cvtps_ph)((floats_t) floats[1], TO_NEAREST));                         \
        return with_one_nan_##_width(halves, halves, FP16_INFINITY, ARC_FP16_NAN);              \
    }
/* clang-format on */

HALF_VECTORS(wide, WIDE)
HALF_VECTORS(short, SHORT)

/* As many FP16 in memory as a wide vector has floats. */
ALWAYS_INLINE FLOAT_wide_t widen_FP16(const void *memory)
{
    WIDE_HALF_REGISTER halves;
    memcpy(&halves, memory, sizeof halves);
    return (FLOAT_wide_t) WIDE_NAME(cvtph_ps)(halves);
}

#endif
