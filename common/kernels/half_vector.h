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
    ALWAYS_INLINE UINT16_##_width##_t narrow_bits_BF16_##_width(                                \
        const FLOAT_##_width##_t *floats)                                                       \
    {                                                                                           \
        const UINT16_##_width##_t kept = upper_##_width((UINT32_##_width##_t) floats[0],        \
                                                        (UINT32_##_width##_t) floats[1]);       \
        return with_one_nan_##_width(round_BF16_##_width(floats), kept, BF16_INFINITY,          \
                                     ARC_BF16_NAN);                                             \
    }                                                                                           \
                                                                                                \
    /* Two vectors, one behind the other.  A NaN has any bits. */                               \
    ALWAYS_INLINE UINT16_##_width##_t round_FP16_##_width(FLOAT_##_width##_t first,             \
                                                          FLOAT_##_width##_t second)            \
    {                                                                                           \
        typedef _WIDTH##_REGISTER() floats_t;                                                   \
        return (UINT16_##_width##_t) _WIDTH##_JOIN(                                             \
            _WIDTH##_NAME(cvtps_ph)((floats_t) first, TO_NEAREST),                              \
            _WIDTH##_NAME(cvtps_ph)((floats_t) second, TO_NEAREST));                            \
    }                                                                                           \
                                                                                                \
    ALWAYS_INLINE UINT16_##_width##_t narrow_late_FP16_##_width(                                \
        const FLOAT_##_width##_t *floats)                                                       \
    {                                                                                           \
        const UINT16_##_width##_t halves = round_FP16_##_width(floats[0], floats[1]);           \
        return with_one_nan_##_width(halves, halves, FP16_INFINITY, ARC_FP16_NAN);              \
    }
/* clang-format on */

HALF_VECTORS(wide, WIDE)
HALF_VECTORS(short, SHORT)

#if defined(__AVX512BF16__)
/* Of FPCLASS. */
enum { CLASS_QUIET_NAN = 0x01, CLASS_SUBNORMAL = 0x20, CLASS_SIGNALLING_NAN = 0x80 };

/*
 * The instruction rounds alike, whatever the rounding mode is, but a NaN keeps its bits, and what
 * is subnormal becomes 0.  So these are looked for; where the program has subnormal operands taken
 * for zeros they are not found, and this must not be used.  The numbers of the second operand
 * come first.
 */
ALWAYS_INLINE UINT16_wide_t narrow_BF16_wide(const FLOAT_wide_t *floats)
{
    enum { OTHERS = CLASS_QUIET_NAN | CLASS_SUBNORMAL | CLASS_SIGNALLING_NAN };
    const __m512i in_turn =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512 even = (__m512) floats[0];
    const __m512 odd = (__m512) floats[1];

    if (__builtin_expect(
            (_mm512_fpclass_ps_mask(even, OTHERS) | _mm512_fpclass_ps_mask(odd, OTHERS)) != 0, 0)) {
        return narrow_bits_BF16_wide(floats);
    }
    return (UINT16_wide_t) _mm512_permutexvar_epi16(in_turn,
                                                    (__m512i) _mm512_cvtne2ps_pbh(odd, even));
}
#else
ALWAYS_INLINE UINT16_wide_t narrow_BF16_wide(const FLOAT_wide_t *floats)
{
    return narrow_bits_BF16_wide(floats);
}
#endif

/* Where one instruction changes all NaNs of a vector, before: the conversion keeps that one. */
ALWAYS_INLINE UINT16_wide_t narrow_FP16_wide(const FLOAT_wide_t *floats)
{
#if defined(WIDE_ONE_NAN)
    return round_FP16_wide((FLOAT_wide_t) WIDE_ONE_NAN(floats[0]),
                           (FLOAT_wide_t) WIDE_ONE_NAN(floats[1]));
#else
    return narrow_late_FP16_wide(floats);
#endif
}

/* As many FP16 in memory as a wide vector has floats. */
ALWAYS_INLINE FLOAT_wide_t widen_FP16(const void *memory)
{
    WIDE_HALF_REGISTER halves;
    memcpy(&halves, memory, sizeof halves);
    return (FLOAT_wide_t) WIDE_NAME(cvtph_ps)(halves);
}

#endif
