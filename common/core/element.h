/*
 * The element types and reductions that our own kernels know.
 *
 * Two X-macros, each the only list of its kind.  A type: identifier, C type,
 * the unsigned type in which its integer arithmetic wraps.  MPI types and
 * operations outside these lists are reduced by Open MPI's own functions.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_ELEMENT_H
#define ARC_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define ARC_INTEGER_TABLE(X)        \
    X(INT8,   int8_t,   unsigned)   \
    X(INT16,  int16_t,  unsigned)   \
    X(INT32,  int32_t,  uint32_t)   \
    X(INT64,  int64_t,  uint64_t)   \
    X(UINT8,  uint8_t,  unsigned)   \
    X(UINT16, uint16_t, unsigned)   \
    X(UINT32, uint32_t, uint32_t)   \
    X(UINT64, uint64_t, uint64_t)

#define ARC_FLOAT_TABLE(X)          \
    X(FLOAT,  float,    float)      \
    X(DOUBLE, double,   double)

#define ARC_TYPE_TABLE(X) ARC_INTEGER_TABLE(X) ARC_FLOAT_TABLE(X)

/*
 * X(identifier, expression of a and b, ...).  T is the element type, W the type
 * in which integers wrap as C's unsigned arithmetic does.  What follows X is
 * handed through, so that a table of operations can be made for each type.
 */
#define ARC_ARITHMETIC_OP_TABLE(X, ...)                   \
    X(SUM,  (T) ((W) a + (W) b),    __VA_ARGS__)          \
    X(PROD, (T) ((W) a * (W) b),    __VA_ARGS__)          \
    X(MAX,  a > b ? a : b,          __VA_ARGS__)          \
    X(MIN,  a < b ? a : b,          __VA_ARGS__)

#define ARC_INTEGER_OP_TABLE(X, ...)                      \
    X(LAND, (T) (a && b),           __VA_ARGS__)          \
    X(LOR,  (T) (a || b),           __VA_ARGS__)          \
    X(LXOR, (T) (!a != !b),         __VA_ARGS__)          \
    X(BAND, (T) (a & b),            __VA_ARGS__)          \
    X(BOR,  (T) (a | b),            __VA_ARGS__)          \
    X(BXOR, (T) (a ^ b),            __VA_ARGS__)
/* clang-format on */

typedef enum arc_type {
#define X(_id, _type, _wrap) ARC_TYPE_##_id,
    ARC_TYPE_TABLE(X)
#undef X
        ARC_TYPES
} arc_type_t;

typedef enum arc_op {
#define X(_id, _expression, ...) ARC_OP_##_id,
    ARC_ARITHMETIC_OP_TABLE(X, ) ARC_INTEGER_OP_TABLE(X, )
#undef X
        ARC_OPS
} arc_op_t;

/*
 * out[i] = left[i] op right[i] for i in [0, count).  `out` may be `left`, and
 * with a reducer that says so `right`; it must not overlap them in other ways.
 */
typedef void (*arc_combine_fn_t)(const void *left, const void *right, void *out, size_t count,
                                 const void *context);

/* How to reduce one kind of vector. */
typedef struct arc_reducer {
    arc_combine_fn_t combine;
    const void *context; /* handed to combine */
    size_t stride_bytes; /* from one element to the next */
    size_t last_bytes;   /* of the last element: a padded pair may end before its stride */
    bool out_may_be_right;
} arc_reducer_t;

/* Bytes from the start of the first to the end of the last of `count` > 0 elements. */
static inline size_t arc_reducer_span_bytes(const arc_reducer_t *reducer, size_t count)
{
    return (count - 1) * reducer->stride_bytes + reducer->last_bytes;
}

#endif
