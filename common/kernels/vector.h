/*
 * Vectors, in two widths: wide ones, the widest of an instruction set, and short ones, of 16 bytes
 * on x86 and of 8 on Arm.  Included behind the definitions of
 *
 *   WIDE_BYTES             16, 32 or 64
 *   WIDE_REGISTER(_kind)   their type: __m256i or __m512i for kind i
 *   WIDE_NAME(_name)       the name of an instruction for them
 *   WIDE_HALF_REGISTER     the type for half as many bytes
 *   WIDE_JOIN(_a, _b)      two of those, one behind the other
 *   WIDE_ODD(_even, _odd)  16-bit integers: those at odd places from the second one
 *   WIDE_WHERE_GREATER(_a, _b, _then, _else)
 *                          16-bit integers, signed: a > b ? then : else
 *   WIDE_WHERE_NAN(_x, _then, _else)
 *                          floats: x is a NaN ? then : else
 *   WIDE_ONE_NAN(_x)       floats: where x is a NaN, the quiet one without payload; if that takes
 *                          one instruction
 *   WIDE_UNZIP(_x)         pieces of 8 bytes: those at even places first, then those at odd ones
 *
 * Vectors are GCC's and clang's extension, and so are their operators.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_VECTOR_H
#define ARC_VECTOR_H

#include "element.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { SHORT_BYTES = 16 };

#define WIDE_EVENS(_a, _b) WIDE_NAME(shuffle_ps)(_a, _b, _MM_SHUFFLE(2, 0, 2, 0))
#define WIDE_ODDS(_a, _b) WIDE_NAME(shuffle_ps)(_a, _b, _MM_SHUFFLE(3, 1, 3, 1))

/* What the file of an instruction set has for wide ones. */
#define SHORT_REGISTER(_kind) __m128##_kind
#define SHORT_NAME(_name) _mm_##_name
#define SHORT_JOIN(_a, _b) _mm_unpacklo_epi64(_a, _b)
#define SHORT_UPPER(_x) _mm_unpackhi_epi64(_x, _x)
#define SHORT_ODD(_even, _odd) _mm_blend_epi16(_even, _odd, 0xaa)
#define SHORT_WHERE_GREATER(_a, _b, _then, _else) \
    _mm_blendv_epi8(_else, _then, _mm_cmpgt_epi16(_a, _b))
#endif

#define VECTOR_OF(_bytes) __attribute__((vector_size(_bytes)))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* clang-format off */
#define VECTOR_TYPES(_id, _type, ...)                           \
    typedef _type _id##_wide_t VECTOR_OF(WIDE_BYTES);           \
    typedef _type _id##_short_t VECTOR_OF(SHORT_BYTES);
/* clang-format on */

ARC_INTEGER_TABLE(VECTOR_TYPES)
ARC_FLOAT_TABLE(VECTOR_TYPES)

#endif
