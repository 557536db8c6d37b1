/*
 * Which kernels a table needs, and which of them serves which type.
 *
 * A file defines KERNEL(op, expression, id, type, ...), a function reduce_OP_ID for numbers, and
 * HALF_KERNEL of the same arguments, one for halves; then it writes ARC_KERNELS and a table of
 * ARC_KERNEL_ENTRIES.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_REDUCE_KERNELS_H
#define ARC_REDUCE_KERNELS_H

#include <string.h>

#include "reduce_half.h"
#include "reduce.h"

#if defined(__clang__)
#define ARC_UNROLL _Pragma("unroll")
/* `out` may be a part, element by element: no iteration depends on another. */
#define ARC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define ARC_UNROLL _Pragma("GCC unroll 16")
#define ARC_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* The reduction of one part. */
static inline void arc_reduce_copy(const void *part, void *out, size_t bytes)
{
    if (out != part && bytes > 0) {
        memcpy(out, part, bytes);
    }
}

/* clang-format off */
#define ARC_FLOAT_KERNELS(...)      \
    ARC_ARITHMETIC_OP_TABLE(KERNEL, __VA_ARGS__) ARC_ORDER_OP_TABLE(KERNEL, __VA_ARGS__)
#define ARC_SIGNED_KERNELS(...)     \
    ARC_ORDER_OP_TABLE(KERNEL, __VA_ARGS__)
#define ARC_UNSIGNED_KERNELS(...)   \
    ARC_FLOAT_KERNELS(__VA_ARGS__) ARC_BIT_OP_TABLE(KERNEL, __VA_ARGS__)
#define ARC_HALF_KERNELS(...)       \
    ARC_ARITHMETIC_OP_TABLE(HALF_KERNEL, __VA_ARGS__) ARC_ORDER_OP_TABLE(HALF_KERNEL, __VA_ARGS__)

/* A complex number is two floats to a sum. */
#define ARC_COMPLEX_KERNEL(_id, _type, _part)                                                   \
    static void reduce_SUM_##_id(const void *const *parts, unsigned n, void *out, size_t count, \
                                 const void *context)                                           \
    {                                                                                           \
        reduce_SUM_##_part(parts, n, out, 2 * count, context);                                  \
    }

#define ARC_KERNELS                             \
    ARC_FLOAT_TABLE(ARC_FLOAT_KERNELS)          \
    ARC_SIGNED_TABLE(ARC_SIGNED_KERNELS)        \
    ARC_UNSIGNED_TABLE(ARC_UNSIGNED_KERNELS)    \
    ARC_HALF_TABLE(ARC_HALF_KERNELS)            \
    ARC_COMPLEX_TABLE(ARC_COMPLEX_KERNEL)

#define ARC_ENTRY(_op, _expression, _id, ...)   \
    [ARC_OP_##_op][ARC_TYPE_##_id] = reduce_##_op##_##_id,
#define ARC_UNSIGNED_ENTRY(_op, _expression, _id, _type, _wrap, _unsigned)    \
    [ARC_OP_##_op][ARC_TYPE_##_id] = reduce_##_op##_##_unsigned,

#define ARC_FLOAT_ENTRIES(...)      \
    ARC_ARITHMETIC_OP_TABLE(ARC_ENTRY, __VA_ARGS__) ARC_ORDER_OP_TABLE(ARC_ENTRY, __VA_ARGS__)
#define ARC_INTEGER_ENTRIES(...)                                \
    ARC_ARITHMETIC_OP_TABLE(ARC_UNSIGNED_ENTRY, __VA_ARGS__)    \
    ARC_BIT_OP_TABLE(ARC_UNSIGNED_ENTRY, __VA_ARGS__)           \
    ARC_ORDER_OP_TABLE(ARC_ENTRY, __VA_ARGS__)
#define ARC_COMPLEX_ENTRY(_id, ...) ARC_ENTRY(SUM, , _id, )
#define ARC_HALF_ENTRY(_id, _type, _format) \
    [ARC_TYPE_##_id] = {widen_##_format, narrow_##_format},

#define ARC_KERNEL_ENTRIES                                                                      \
    ARC_FLOAT_TABLE(ARC_FLOAT_ENTRIES) ARC_INTEGER_TABLE(ARC_INTEGER_ENTRIES)                   \
    ARC_COMPLEX_TABLE(ARC_COMPLEX_ENTRY) ARC_HALF_TABLE(ARC_FLOAT_ENTRIES)
/* clang-format on */

#endif
