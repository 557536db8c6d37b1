/*
 * The kernels in vectors of WIDE_BYTES: one pass over the parts, the total of a
 * block in registers.  A file for one instruction set defines
 *
 *   ARC_REDUCE_TABLE       the name of its table
 *   WIDE_BYTES             of its widest vectors: 32 or 64
 *   WIDE_REGISTER(_kind)   their type: __m256i or __m512i for kind i
 *   WIDE_NAME(_name)       the name of an instruction for them
 *   HALVES_REGISTER        the type for half as many bytes
 *   NARROW_INTEGERS(_x)    32-bit integers below 2^16 in a wide register to 16 bits
 *
 * and includes this one.  One kernel goes through its elements in steps that
 * become smaller, all parts in each step:
 *
 *   | TOTALS wide vectors | ... | wide | ... | short | ... | 8 | 4 | 2 | 1 bytes |
 *
 * The long steps keep as many loads in flight as cores need that fetch the parts
 * from each other's caches.  The last ones fill only a part of a short vector; the
 * rest of it holds zeros.  Nothing is read behind an element, and a step writes
 * only what it has read of all parts, so `out` may be any of them.
 *
 * Vectors are GCC's and clang's extension; memory is accessed with memcpy() alone,
 * of constant sizes, which is one unaligned instruction.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include <immintrin.h>
#include <string.h>

#include "reduce_kernels.h"

enum {
    SHORT_BYTES = 16,
    TOTALS = 4, /* eight are hardly faster and make a kernel half as large again */
};

#define VECTOR_OF(_bytes) __attribute__((vector_size(_bytes)))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* ---- vectors: the first `bytes` bytes of one in memory ---- */

/* clang-format off */
#define ACCESS(_id, _width)                                                                     \
    ALWAYS_INLINE _id##_##_width##_t load_##_id##_##_width(const void *memory, size_t bytes)    \
    {                                                                                           \
        _id##_##_width##_t vector = {0};                                                        \
        memcpy(&vector, memory, bytes);                                                         \
        return vector;                                                                          \
    }                                                                                           \
    ALWAYS_INLINE void store_##_id##_##_width(_id##_##_width##_t vector, void *memory,          \
                                              size_t bytes)                                     \
    {                                                                                           \
        memcpy(memory, &vector, bytes);                                                         \
    }
#define VECTORS(_id, _type, ...)                                \
    typedef _type _id##_wide_t VECTOR_OF(WIDE_BYTES);           \
    typedef _type _id##_short_t VECTOR_OF(SHORT_BYTES);         \
    ACCESS(_id, wide)                                           \
    ACCESS(_id, short)
/* clang-format on */

ARC_INTEGER_TABLE(VECTORS)
ARC_FLOAT_TABLE(VECTORS)

/* ---- the larger and the smaller one ---- */

/* clang-format off */

/* Which instruction set has them; type, suffix of the instruction and of its register. */
#define ORDER_TABLE_AVX2(X, ...)          \
    X(INT8,   epi8,  i,  __VA_ARGS__)   \
    X(INT16,  epi16, i,  __VA_ARGS__)   \
    X(INT32,  epi32, i,  __VA_ARGS__)   \
    X(UINT8,  epu8,  i,  __VA_ARGS__)   \
    X(UINT16, epu16, i,  __VA_ARGS__)   \
    X(UINT32, epu32, i,  __VA_ARGS__)   \
    X(FLOAT,  ps,     ,  __VA_ARGS__)   \
    X(DOUBLE, pd,    d,  __VA_ARGS__)
#define ORDER_TABLE_AVX512(X, ...)          \
    X(INT64,  epi64, i,  __VA_ARGS__)   \
    X(UINT64, epu64, i,  __VA_ARGS__)

#define ORDER(_id, _width, _larger, _smaller)                                                   \
    ALWAYS_INLINE _id##_##_width##_t larger_##_id##_##_width(_id##_##_width##_t a,              \
                                                             _id##_##_width##_t b)              \
    {                                                                                           \
        return (_id##_##_width##_t) (_larger);                                                  \
    }                                                                                           \
    ALWAYS_INLINE _id##_##_width##_t smaller_##_id##_##_width(_id##_##_width##_t a,             \
                                                              _id##_##_width##_t b)             \
    {                                                                                           \
        return (_id##_##_width##_t) (_smaller);                                                 \
    }

/* x86's instructions choose like a > b ? a : b and a < b ? a : b, with NaNs and zeros too. */
#define ORDER_BY_NAME(_id, _width, _register, _larger, _smaller) \
    ORDER(_id, _width, _larger((_register) a, (_register) b),    \
          _smaller((_register) a, (_register) b))
#define ORDER_BY_INSTRUCTION(_id, _suffix, _kind, ...)                                          \
    ORDER_BY_NAME(_id, short, __m128##_kind, _mm_max_##_suffix, _mm_min_##_suffix)              \
    ORDER_BY_NAME(_id, wide, WIDE_REGISTER(_kind), WIDE_NAME(max_##_suffix),                    \
                  WIDE_NAME(min_##_suffix))

/* A comparison of vectors is all ones where it holds; for 64-bit integers AVX2 has no more. */
#define SELECT(_condition) ((a & (_condition)) | (b & ~(_condition)))
#define ORDER_BY_SELECT(_id, _suffix, _kind, ...)                                               \
    ORDER(_id, short, SELECT((_id##_short_t) (a > b)), SELECT((_id##_short_t) (a < b)))         \
    ORDER(_id, wide, SELECT((_id##_wide_t) (a > b)), SELECT((_id##_wide_t) (a < b)))

#define CHOICE(_id, _suffix, _kind, _which)         \
    _id##_wide_t: _which##_##_id##_wide,            \
    _id##_short_t: _which##_##_id##_short,
#define CHOOSE(_which, _a, _b)                                                                  \
    _Generic((_a), ORDER_TABLE_AVX2(CHOICE, _which) ORDER_TABLE_AVX512(CHOICE, _which)          \
             default: 0)(_a, _b)
#define LARGER(_a, _b) CHOOSE(larger, _a, _b)
#define SMALLER(_a, _b) CHOOSE(smaller, _a, _b)
/* clang-format on */

ORDER_TABLE_AVX2(ORDER_BY_INSTRUCTION, )
#if defined(__AVX512VL__)
ORDER_TABLE_AVX512(ORDER_BY_INSTRUCTION, )
#else
ORDER_TABLE_AVX512(ORDER_BY_SELECT, )
#endif

/* ---- vectors of floats that are halves in memory; see reduce_half.h ---- */

typedef FLOAT_wide_t BF16_wide_t, FP16_wide_t;
typedef FLOAT_short_t BF16_short_t, FP16_short_t;

/* clang-format off */
#define ACCESS_BF16(_width, _register, _widen, _narrow)                                         \
    ALWAYS_INLINE BF16_##_width##_t load_BF16_##_width(const void *memory, size_t bytes)        \
    {                                                                                           \
        _register halves = {0};                                                                 \
        memcpy(&halves, memory, bytes);                                                         \
        return (BF16_##_width##_t) ((UINT32_##_width##_t) _widen(halves) << 16);                \
    }                                                                                           \
    ALWAYS_INLINE void store_BF16_##_width(BF16_##_width##_t total, void *memory, size_t bytes) \
    {                                                                                           \
        const UINT32_##_width##_t nan = (UINT32_##_width##_t) (total != total);                 \
        const UINT32_##_width##_t bits = (UINT32_##_width##_t) total;                           \
        const UINT32_##_width##_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;         \
        const _register halves = _narrow((rounded & ~nan) | (ARC_BF16_NAN & nan));              \
        memcpy(memory, &halves, bytes);                                                         \
    }

#define ACCESS_FP16(_width, _register, _widen, _narrow)                                         \
    ALWAYS_INLINE FP16_##_width##_t load_FP16_##_width(const void *memory, size_t bytes)        \
    {                                                                                           \
        _register halves = {0};                                                                 \
        memcpy(&halves, memory, bytes);                                                         \
        return (FP16_##_width##_t) _widen(halves);                                              \
    }                                                                                           \
    ALWAYS_INLINE void store_FP16_##_width(FP16_##_width##_t total, void *memory, size_t bytes) \
    {                                                                                           \
        const UINT32_##_width##_t nan = (UINT32_##_width##_t) (total != total);                 \
        const UINT32_##_width##_t bits = (UINT32_##_width##_t) total;                           \
        const FLOAT_##_width##_t quiet =                                                        \
            (FLOAT_##_width##_t) ((bits & ~nan) | (FLOAT_NAN_BITS & nan));                      \
        const _register halves = _narrow(quiet);                                                \
        memcpy(memory, &halves, bytes);                                                         \
    }
/* clang-format on */

/* The float that is narrowed to ARC_FP16_NAN. */
#define FLOAT_NAN_BITS UINT32_C(0x7fc00000)
#define NARROW_FLOATS(_x) WIDE_NAME(cvtps_ph)(_x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define NARROW_FLOATS_SHORT(_x) _mm_cvtps_ph(_x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
/* What is below 2^16 is packed without loss. */
#define NARROW_INTEGERS_SHORT(_x) _mm_packus_epi32((__m128i) (_x), _mm_setzero_si128())

ACCESS_BF16(wide, HALVES_REGISTER, WIDE_NAME(cvtepu16_epi32), NARROW_INTEGERS)
ACCESS_BF16(short, __m128i, _mm_cvtepu16_epi32, NARROW_INTEGERS_SHORT)
ACCESS_FP16(wide, HALVES_REGISTER, WIDE_NAME(cvtph_ps), NARROW_FLOATS)
ACCESS_FP16(short, __m128i, _mm_cvtph_ps, NARROW_FLOATS_SHORT)

/* ---- kernels ---- */

/* clang-format off */

/* Reduce the next `_totals` vectors of `_bytes` bytes each. */
#define STEP(_expression, _id, _width, _totals, _bytes)                                         \
    do {                                                                                        \
        typedef _id##_##_width##_t T;                                                           \
        typedef T W __attribute__((unused));                                                    \
        const unsigned char *part = (const unsigned char *) parts[0] + at;                      \
        T total[_totals];                                                                       \
        ARC_UNROLL                                                                              \
        for (unsigned v = 0; v < (_totals); ++v) {                                              \
            total[v] = load_##_id##_##_width(part + v * (_bytes), (_bytes));                    \
        }                                                                                       \
        for (unsigned k = 1; k < n; ++k) {                                                      \
            part = (const unsigned char *) parts[k] + at;                                       \
            ARC_UNROLL                                                                          \
            for (unsigned v = 0; v < (_totals); ++v) {                                          \
                const T a = total[v];                                                           \
                const T b = load_##_id##_##_width(part + v * (_bytes), (_bytes));               \
                total[v] = _expression;                                                         \
            }                                                                                   \
        }                                                                                       \
        ARC_UNROLL                                                                              \
        for (unsigned v = 0; v < (_totals); ++v) {                                              \
            store_##_id##_##_width(total[v], (unsigned char *) out + at + v * (_bytes),         \
                                   (_bytes));                                                   \
        }                                                                                       \
        at += (_totals) * (size_t) (_bytes);                                                    \
    } while (0)

/* `_packing`: bytes of an element in a register for each of its bytes in memory. */
#define VECTOR_KERNEL(_op, _expression, _id, _type, _packing)                                   \
    static void reduce_##_op##_##_id(const void *const *parts, unsigned n, void *out,           \
                                     size_t count, const void *context)                         \
    {                                                                                           \
        enum { WIDE = WIDE_BYTES / (_packing), SHORT = SHORT_BYTES / (_packing) };              \
        const size_t end = count * sizeof(_type);                                               \
        size_t at = 0;                                                                          \
        (void) context;                                                                         \
        if (1 == n) {                                                                           \
            arc_reduce_copy(parts[0], out, end);                                                \
            return;                                                                             \
        }                                                                                       \
        while (end - at >= TOTALS * WIDE) {                                                     \
            STEP(_expression, _id, wide, TOTALS, WIDE);                                         \
        }                                                                                       \
        while (end - at >= WIDE) {                                                              \
            STEP(_expression, _id, wide, 1, WIDE);                                              \
        }                                                                                       \
        while (end - at >= SHORT) {                                                             \
            STEP(_expression, _id, short, 1, SHORT);                                            \
        }                                                                                       \
        if (SHORT > 8 && end - at >= 8) {                                                       \
            STEP(_expression, _id, short, 1, 8);                                                \
        }                                                                                       \
        if (sizeof(_type) <= 4 && end - at >= 4) {                                              \
            STEP(_expression, _id, short, 1, 4);                                                \
        }                                                                                       \
        if (sizeof(_type) <= 2 && end - at >= 2) {                                              \
            STEP(_expression, _id, short, 1, 2);                                                \
        }                                                                                       \
        if (sizeof(_type) <= 1 && end - at >= 1) {                                              \
            STEP(_expression, _id, short, 1, 1);                                                \
        }                                                                                       \
    }
#define KERNEL(_op, _expression, _id, _type, ...)                                               \
    VECTOR_KERNEL(_op, _expression, _id, _type, 1)
#define HALF_KERNEL(_op, _expression, _id, _type, ...)                                          \
    VECTOR_KERNEL(_op, _expression, _id, _type, 2)
/* clang-format on */

ARC_KERNELS

const arc_reduce_table_t ARC_REDUCE_TABLE = {.reduce = {ARC_KERNEL_ENTRIES}};
