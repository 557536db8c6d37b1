/*
 * One kernel in vectors: one pass over the parts, the total of a block in registers.  Included by
 * kernels_vector.h, and by files that have a few kernels only, behind their vectors.  A kernel
 * goes through its elements in steps that become smaller, all parts in each step:
 *
 *   | TOTALS wide vectors | ... | wide | ... | short | ... | 8 | 4 | 2 | 1 bytes |
 *
 * The long steps keep as many loads in flight as cores need that fetch the parts
 * from each other's caches.  The last ones fill only a part of a short vector; the
 * rest of it holds zeros.  Nothing is read behind an element, and a step writes
 * only what it has read of all parts, so `out` may be any of them.
 *
 * Memory is accessed with memcpy() alone, of constant sizes, which is one unaligned
 * instruction, for GCC if the other side is a variable and not behind a pointer.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_REDUCE_STEPS_H
#define ARC_REDUCE_STEPS_H

#include <string.h>

#include "half_vector.h"
#include "reduce_kernels.h"
#include "vector.h"

enum { TOTALS = 4 }; /* eight are hardly faster and make a kernel half as large again */

/*
 * Halves: a step takes so many instructions that the loads of the steps behind it do not fit into
 * the core beside it, and what comes from another core's cache has to be asked for before.  Half
 * as far is as good between near cores, four times as far is as bad as not at all.
 */
enum { AHEAD_BYTES = 1024 };

/* ---- vectors: the first `bytes` bytes of one in memory ---- */

/* clang-format off */
#define ACCESS(_id, _width)                                                                     \
    ALWAYS_INLINE void load_##_id##_##_width(const void *memory, size_t bytes,                  \
                                             _id##_##_width##_t *vector)                        \
    {                                                                                           \
        _id##_##_width##_t copy = {0};                                                          \
        memcpy(&copy, memory, bytes);                                                           \
        *vector = copy;                                                                         \
    }                                                                                           \
    ALWAYS_INLINE void store_##_id##_##_width(const _id##_##_width##_t *vector, void *memory,   \
                                              size_t bytes)                                     \
    {                                                                                           \
        const _id##_##_width##_t copy = *vector;                                                \
        memcpy(memory, &copy, bytes);                                                           \
    }
#define ACCESSES(_id, ...) ACCESS(_id, wide) ACCESS(_id, short)
/* clang-format on */

ARC_INTEGER_TABLE(ACCESSES)
ARC_FLOAT_TABLE(ACCESSES)

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

/*
 * A comparison of vectors is integers, all ones where it holds.  AVX2 has no more for those of 64 bits,
 * and NEON's instructions for floats choose a NaN.
 */
#define SELECT(_condition)                              \
    (((__typeof__(_condition)) a & (_condition)) |      \
     ((__typeof__(_condition)) b & ~(_condition)))
#define MASK_(_type, _condition) (_condition)
#define MASK_d(_type, _condition) (_condition)
#define MASK_i(_type, _condition) ((_type) (_condition))
#define ORDER_BY_MASK(_id, _width, _mask, _type) \
    ORDER(_id, _width, SELECT(_mask(_type, a > b)), SELECT(_mask(_type, a < b)))
#define ORDER_BY_SELECT(_id, _suffix, _kind, ...)             \
    ORDER_BY_MASK(_id, short, MASK_##_kind, _id##_short_t)    \
    ORDER_BY_MASK(_id, wide, MASK_##_kind, _id##_wide_t)

#define CHOICE(_id, _suffix, _kind, _which)         \
    _id##_wide_t: _which##_##_id##_wide,            \
    _id##_short_t: _which##_##_id##_short,
#define CHOOSE(_which, _a, _b)                                                                  \
    _Generic((_a), ORDER_TABLE_AVX2(CHOICE, _which) ORDER_TABLE_AVX512(CHOICE, _which)          \
             default: 0)(_a, _b)
#define LARGER(_a, _b) CHOOSE(larger, _a, _b)
#define SMALLER(_a, _b) CHOOSE(smaller, _a, _b)
/* clang-format on */

#if defined(__x86_64__)
ORDER_TABLE_AVX2(ORDER_BY_INSTRUCTION, )
#else
ORDER_TABLE_AVX2(ORDER_BY_SELECT, )
#endif
#if defined(__AVX512VL__)
ORDER_TABLE_AVX512(ORDER_BY_INSTRUCTION, )
#else
ORDER_TABLE_AVX512(ORDER_BY_SELECT, )
#endif

/* ---- vectors of halves, two of floats each ---- */

typedef FLOAT_wide_t BF16_wide_t, FP16_wide_t;
typedef FLOAT_short_t BF16_short_t, FP16_short_t;

/* clang-format off */
#define LOAD_BF16(_width)                                                                       \
    ALWAYS_INLINE void load_BF16_##_width(const void *memory, size_t bytes,                     \
                                          FLOAT_##_width##_t *floats)                           \
    {                                                                                           \
        UINT32_##_width##_t halves = {0};                                                       \
        memcpy(&halves, memory, bytes);                                                         \
        widen_BF16_##_width(halves, floats);                                                    \
    }
#define STORE(_which, _width, _narrow)                                                          \
    ALWAYS_INLINE void store_##_which##_##_width(const FLOAT_##_width##_t *totals,              \
                                                 void *memory, size_t bytes)                    \
    {                                                                                           \
        const UINT16_##_width##_t halves = _narrow##_##_width(totals);                          \
        memcpy(memory, &halves, bytes);                                                         \
    }
/* clang-format on */

LOAD_BF16(wide)
LOAD_BF16(short)
STORE(BF16, wide, narrow_BF16)
STORE(BF16, short, narrow_bits_BF16)
STORE(FP16, wide, narrow_FP16)
STORE(FP16, short, narrow_late_FP16)

/* Of wide vectors there are only whole ones. */
ALWAYS_INLINE void load_FP16_wide(const void *memory, size_t bytes, FLOAT_wide_t *floats)
{
    (void) bytes;
    floats[0] = widen_FP16(memory);
    floats[1] = widen_FP16((const unsigned char *) memory + WIDE_BYTES / 2);
}

ALWAYS_INLINE void load_FP16_short(const void *memory, size_t bytes, FLOAT_short_t *floats)
{
    SHORT_REGISTER(i) halves = {0};
    memcpy(&halves, memory, bytes);
    floats[0] = (FLOAT_short_t) SHORT_NAME(cvtph_ps)(halves);
    floats[1] = (FLOAT_short_t) SHORT_NAME(cvtph_ps)(SHORT_UPPER(halves));
}

/* ---- kernels ---- */

/* clang-format off */

/* Reduce the next `_totals` vectors of `_bytes` bytes each, of `_registers` registers each. */
#define STEP(_expression, _id, _width, _registers, _totals, _bytes)                             \
    do {                                                                                        \
        typedef _id##_##_width##_t T;                                                           \
        typedef T W __attribute__((unused));                                                    \
        const unsigned char *part = (const unsigned char *) parts[0] + at;                      \
        T total[_totals][_registers];                                                           \
        ARC_UNROLL                                                                              \
        for (unsigned v = 0; v < (_totals); ++v) {                                              \
            load_##_id##_##_width(part + v * (_bytes), (_bytes), total[v]);                     \
        }                                                                                       \
        unsigned k = 1;                                                                         \
        do {                                                                                    \
            part = (const unsigned char *) parts[k] + at;                                       \
            if ((_registers) > 1 && (_totals) > 1) {                                            \
                ARC_UNROLL                                                                      \
                for (unsigned v = 0; v < (_totals); ++v) {                                      \
                    __builtin_prefetch(part + AHEAD_BYTES + v * (_bytes));                      \
                }                                                                               \
            }                                                                                   \
            ARC_UNROLL                                                                          \
            for (unsigned v = 0; v < (_totals); ++v) {                                          \
                T next[_registers];                                                             \
                load_##_id##_##_width(part + v * (_bytes), (_bytes), next);                     \
                ARC_UNROLL                                                                      \
                for (unsigned r = 0; r < (_registers); ++r) {                                   \
                    const T a = total[v][r];                                                    \
                    const T b = next[r];                                                        \
                    total[v][r] = _expression;                                                  \
                }                                                                               \
            }                                                                                   \
        } while (++k < n);                                                                      \
        ARC_UNROLL                                                                              \
        for (unsigned v = 0; v < (_totals); ++v) {                                              \
            store_##_id##_##_width(total[v], (unsigned char *) out + at + v * (_bytes),         \
                                      (_bytes));                                                \
        }                                                                                       \
        at += (_totals) * (size_t) (_bytes);                                                    \
    } while (0)

#define VECTOR_KERNEL(_op, _expression, _id, _type, _registers)                                 \
    static void reduce_##_op##_##_id(const void *const *parts, unsigned n, void *out,           \
                                     size_t count, const void *context)                         \
    {                                                                                           \
        const size_t end = count * sizeof(_type);                                               \
        size_t at = 0;                                                                          \
        (void) context;                                                                         \
        if (1 == n) {                                                                           \
            arc_reduce_copy(parts[0], out, end);                                                \
            return;                                                                             \
        }                                                                                       \
        while (end - at >= TOTALS * WIDE_BYTES) {                                               \
            STEP(_expression, _id, wide, _registers, TOTALS, WIDE_BYTES);                       \
        }                                                                                       \
        while (end - at >= WIDE_BYTES) {                                                        \
            STEP(_expression, _id, wide, _registers, 1, WIDE_BYTES);                            \
        }                                                                                       \
        while (end - at >= SHORT_BYTES) {                                                       \
            STEP(_expression, _id, short, _registers, 1, SHORT_BYTES);                          \
        }                                                                                       \
        if (end - at >= 8) {                                                                    \
            STEP(_expression, _id, short, _registers, 1, 8);                                    \
        }                                                                                       \
        if (sizeof(_type) <= 4 && end - at >= 4) {                                              \
            STEP(_expression, _id, short, _registers, 1, 4);                                    \
        }                                                                                       \
        if (sizeof(_type) <= 2 && end - at >= 2) {                                              \
            STEP(_expression, _id, short, _registers, 1, 2);                                    \
        }                                                                                       \
        if (sizeof(_type) <= 1 && end - at >= 1) {                                              \
            STEP(_expression, _id, short, _registers, 1, 1);                                    \
        }                                                                                       \
    }
#define KERNEL(_op, _expression, _id, _type, ...)                                               \
    VECTOR_KERNEL(_op, _expression, _id, _type, 1)
#define HALF_KERNEL(_op, _expression, _id, _type, ...)                                          \
    VECTOR_KERNEL(_op, _expression, _id, _type, FLOATS_OF_HALVES)
/* clang-format on */

#endif
