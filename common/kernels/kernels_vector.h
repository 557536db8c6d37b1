/*
 * All kernels in vectors: the reductions of reduce_steps.h, and the conversions of half.h.  A file
 * for one instruction set defines its vectors (vector.h) and ARC_REDUCE_TABLE, the name
 * of its table, and includes this one.  What fills only a part of a vector is converted in
 * buffers: nothing is read or written behind the last number.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_KERNELS_VECTOR_H
#define ARC_KERNELS_VECTOR_H

#include <string.h>

#include "reduce_steps.h"

ARC_KERNELS

enum {
    HALVES = WIDE_BYTES / sizeof(uint16_t), /* of one vector */
    FLOATS = WIDE_BYTES / sizeof(float),
    FLOAT_INFINITY_BITS = 0x7f800000,
    FLOAT_QUIET_BIT = 0x00400000, /* of a NaN: it raises no exception */
};

/* ---- HALVES numbers, in memory ---- */

ALWAYS_INLINE void widen_half_of_bf16(const uint16_t *halves, float *floats)
{
    WIDE_HALF_REGISTER half;
    memcpy(&half, halves, sizeof half);
    const UINT32_wide_t bits = (UINT32_wide_t) WIDE_NAME(cvtepu16_epi32)(half) << 16;
    memcpy(floats, &bits, sizeof bits);
}

ALWAYS_INLINE void widen_vector_bf16(const uint16_t *halves, float *floats)
{
    widen_half_of_bf16(halves, floats);
    widen_half_of_bf16(halves + FLOATS, floats + FLOATS);
}

/* Exact, unlike the instruction, which makes every NaN a quiet one. */
ALWAYS_INLINE void widen_half_of_fp16(const uint16_t *halves, float *floats)
{
    WIDE_HALF_REGISTER half;
    memcpy(&half, halves, sizeof half);
    const UINT32_wide_t payload = (UINT32_wide_t) WIDE_NAME(cvtepu16_epi32)(half) << 13;
    const INT32_wide_t x = (INT32_wide_t) widen_FP16(halves);
    /* Integers: clang 14 compares the halves, one by one, if floats are compared. */
    const UINT32_wide_t is_nan = (UINT32_wide_t) ((x & INT32_MAX) > FLOAT_INFINITY_BITS);
    const UINT32_wide_t exact = (UINT32_wide_t) x & ~(is_nan & FLOAT_QUIET_BIT & ~payload);
    memcpy(floats, &exact, sizeof exact);
}

ALWAYS_INLINE void widen_vector_fp16(const uint16_t *halves, float *floats)
{
    widen_half_of_fp16(halves, floats);
    widen_half_of_fp16(halves + FLOATS, floats + FLOATS);
}

ALWAYS_INLINE FLOAT_wide_t load_floats(const float *floats)
{
    FLOAT_wide_t x;
    memcpy(&x, floats, sizeof x);
    return x;
}

typedef WIDE_REGISTER() wide_floats_t;

/* A NaN may have bits in the lower half alone. */
ALWAYS_INLINE wide_floats_t load_with_one_nan(const float *floats)
{
    const wide_floats_t x = (wide_floats_t) load_floats(floats);
    const wide_floats_t nan = (wide_floats_t) WIDE_NAME(set1_epi32)(ARC_BF16_NAN << 16);
    return WIDE_WHERE_NAN(x, nan, x);
}

/* Of both vectors the numbers at even and those at odd places, in turn for every 16 bytes. */
ALWAYS_INLINE void narrow_vector_bf16(const float *floats, uint16_t *halves)
{
    const wide_floats_t first = load_with_one_nan(floats);
    const wide_floats_t second = load_with_one_nan(floats + FLOATS);
    const FLOAT_wide_t pair[] = {
        (FLOAT_wide_t) WIDE_EVENS(first, second),
        (FLOAT_wide_t) WIDE_ODDS(first, second),
    };
    const WIDE_REGISTER(i) rounded = (WIDE_REGISTER(i)) round_BF16_wide(pair);
    const WIDE_REGISTER(i) ordered = WIDE_UNZIP(rounded);
    memcpy(halves, &ordered, sizeof ordered);
}

ALWAYS_INLINE void narrow_vector_fp16(const float *floats, uint16_t *halves)
{
    const FLOAT_wide_t pair[] = {load_floats(floats), load_floats(floats + FLOATS)};
    const UINT16_wide_t narrowed = narrow_FP16_wide(pair);
    memcpy(halves, &narrowed, sizeof narrowed);
}

/* ---- all of them ---- */

/* clang-format off */
#define DEFINE_LOOP(_verb, _type, _from, _from_memory, _to, _to_memory)                         \
    static void _verb##_##_type(const _from_memory *from_memory, _to_memory *to_memory,         \
                                size_t count)                                                   \
    {                                                                                           \
        const _from *from = from_memory;                                                        \
        _to *to = to_memory;                                                                    \
        for (; count >= HALVES; count -= HALVES) {                                              \
            _verb##_vector_##_type(from, to);                                                   \
            from += HALVES;                                                                     \
            to += HALVES;                                                                       \
        }                                                                                       \
        if (count > 0) {                                                                        \
            _from rest[HALVES] = {0};                                                           \
            _to result[HALVES];                                                                 \
            memcpy(rest, from, count * sizeof *from);                                           \
            _verb##_vector_##_type(rest, result);                                               \
            memcpy(to, result, count * sizeof *to);                                             \
        }                                                                                       \
    }
/* clang-format on */

DEFINE_LOOP(widen, bf16, uint16_t, void, float, float)
DEFINE_LOOP(widen, fp16, uint16_t, void, float, float)
DEFINE_LOOP(narrow, bf16, float, float, uint16_t, void)
DEFINE_LOOP(narrow, fp16, float, float, uint16_t, void)

const arc_reduce_table_t ARC_REDUCE_TABLE = {
    .reduce = {ARC_KERNEL_ENTRIES},
    .half = {ARC_HALF_TABLE(ARC_HALF_ENTRY)},
    .lower = &arc_reduce_table_scalar,
};

#endif
