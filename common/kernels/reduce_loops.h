/*
 * The loops of reduce.h, compiled once per instruction set: a file defines
 * ARC_REDUCE_TABLE, the name of its table, and includes this one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "reduce.h"

/* `out` may be `left` or `right`, element by element: no iteration depends on another. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* clang-format off */
#define COMBINE(_op, _expression, _id, _type, _wrap)                                    \
    static void combine_##_op##_##_id(const void *left, const void *right, void *out,   \
                                      size_t count, const void *context)                \
    {                                                                                   \
        typedef _type T;                                                                \
        typedef _wrap W __attribute__((unused));                                        \
        const T *l = left;                                                              \
        const T *r = right;                                                             \
        T *o = out;                                                                     \
        (void) context;                                                                 \
        INDEPENDENT                                                                     \
        for (size_t i = 0; i < count; ++i) {                                            \
            const T a = l[i];                                                           \
            const T b = r[i];                                                           \
            o[i] = _expression;                                                         \
        }                                                                               \
    }
#define ENTRY(_op, _expression, _id, _type, _wrap) \
    [ARC_OP_##_op][ARC_TYPE_##_id] = combine_##_op##_##_id,

/* A macro once for each operation that the type has. */
#define FOR_FLOAT_OPS(_macro, _id, _type, _wrap) \
    ARC_ARITHMETIC_OP_TABLE(_macro, _id, _type, _wrap)
#define FOR_INTEGER_OPS(_macro, _id, _type, _wrap)      \
    ARC_ARITHMETIC_OP_TABLE(_macro, _id, _type, _wrap)  \
    ARC_INTEGER_OP_TABLE(_macro, _id, _type, _wrap)

#define COMBINE_FLOAT(_id, _type, _wrap)   FOR_FLOAT_OPS(COMBINE, _id, _type, _wrap)
#define COMBINE_INTEGER(_id, _type, _wrap) FOR_INTEGER_OPS(COMBINE, _id, _type, _wrap)
#define ENTRY_FLOAT(_id, _type, _wrap)     FOR_FLOAT_OPS(ENTRY, _id, _type, _wrap)
#define ENTRY_INTEGER(_id, _type, _wrap)   FOR_INTEGER_OPS(ENTRY, _id, _type, _wrap)
/* clang-format on */

ARC_FLOAT_TABLE(COMBINE_FLOAT)
ARC_INTEGER_TABLE(COMBINE_INTEGER)

const arc_reduce_table_t ARC_REDUCE_TABLE = {
    .combine = {ARC_FLOAT_TABLE(ENTRY_FLOAT) ARC_INTEGER_TABLE(ENTRY_INTEGER)},
};
