/*
 * The element types and reductions that our own kernels know.
 *
 * X-macros, each the only list of its kind.  MPI types and operations outside
 * these lists are reduced by Open MPI's own functions.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_ELEMENT_H
#define ARC_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */

/* Identifier, C type, type in which scalar arithmetic wraps, identifier of the unsigned type. */
#define ARC_SIGNED_TABLE(X)                 \
    X(INT8,   int8_t,   unsigned, UINT8)    \
    X(INT16,  int16_t,  unsigned, UINT16)   \
    X(INT32,  int32_t,  uint32_t, UINT32)   \
    X(INT64,  int64_t,  uint64_t, UINT64)

#define ARC_UNSIGNED_TABLE(X)               \
    X(UINT8,  uint8_t,  unsigned, UINT8)    \
    X(UINT16, uint16_t, unsigned, UINT16)   \
    X(UINT32, uint32_t, uint32_t, UINT32)   \
    X(UINT64, uint64_t, uint64_t, UINT64)

#define ARC_INTEGER_TABLE(X) ARC_SIGNED_TABLE(X) ARC_UNSIGNED_TABLE(X)

#define ARC_FLOAT_TABLE(X)                  \
    X(FLOAT,  float,    float,    FLOAT)    \
    X(DOUBLE, double,   double,   DOUBLE)

/* Identifier, C type, identifier of its parts' type. */
#define ARC_COMPLEX_TABLE(X)                            \
    X(FLOAT_COMPLEX,  float _Complex,  FLOAT)           \
    X(DOUBLE_COMPLEX, double _Complex, DOUBLE)

/* Floats of 16 bits: identifier, the integer that holds one, its name in a function's. */
#define ARC_HALF_TABLE(X)                   \
    X(BF16, uint16_t, bf16)                 \
    X(FP16, uint16_t, fp16)

/* Identifier, C type, the types of value and index. */
#define ARC_PAIR_TABLE(X)                                       \
    X(FLOAT_INT,     arc_float_int_t,     float,  int)          \
    X(DOUBLE_INT,    arc_double_int_t,    double, int)          \
    X(LONG_INT,      arc_long_int_t,      long,   int)          \
    X(INT_INT,       arc_int_int_t,       int,    int)          \
    X(SHORT_INT,     arc_short_int_t,     short,  int)          \
    X(FLOAT_FLOAT,   arc_float_float_t,   float,  float)        \
    X(DOUBLE_DOUBLE, arc_double_double_t, double, double)

/* All of them; what follows identifier and C type differs from kind to kind. */
#define ARC_TYPE_TABLE(X)                                       \
    ARC_INTEGER_TABLE(X) ARC_FLOAT_TABLE(X) ARC_COMPLEX_TABLE(X) ARC_HALF_TABLE(X) ARC_PAIR_TABLE(X)

/*
 * X(identifier, expression of a and b, ...), for numbers and for vectors of them.
 * T is the type of a and b, W the one in which integers wrap as C's unsigned
 * arithmetic does; LARGER(a, b) is a > b ? a : b, SMALLER(a, b) a < b ? a : b.
 * What follows X is handed through, so that a table of operations can be made for
 * each type.
 *
 * Arithmetic and bit operations give signed and unsigned integers the same bits.
 */
#define ARC_ARITHMETIC_OP_TABLE(X, ...)                             \
    X(SUM,  (T) ((W) a + (W) b),                    __VA_ARGS__)    \
    X(PROD, (T) ((W) a * (W) b),                    __VA_ARGS__)

#define ARC_ORDER_OP_TABLE(X, ...)                                  \
    X(MAX,  LARGER(a, b),                           __VA_ARGS__)    \
    X(MIN,  SMALLER(a, b),                          __VA_ARGS__)

#define ARC_BIT_OP_TABLE(X, ...)                                    \
    X(LAND, (T) (((a != 0) & (b != 0)) & 1),        __VA_ARGS__)    \
    X(LOR,  (T) (((a | b) != 0) & 1),               __VA_ARGS__)    \
    X(LXOR, (T) (((a != 0) ^ (b != 0)) & 1),        __VA_ARGS__)    \
    X(BAND, (T) (a & b),                            __VA_ARGS__)    \
    X(BOR,  (T) (a | b),                            __VA_ARGS__)    \
    X(BXOR, (T) (a ^ b),                            __VA_ARGS__)

/* X(identifier, which of two values wins, ...), for pairs. */
#define ARC_PAIR_OP_TABLE(X, ...)   \
    X(MAXLOC, >, __VA_ARGS__)       \
    X(MINLOC, <, __VA_ARGS__)

#define ARC_OP_TABLE(X, ...)                                                    \
    ARC_ARITHMETIC_OP_TABLE(X, __VA_ARGS__) ARC_ORDER_OP_TABLE(X, __VA_ARGS__)  \
    ARC_BIT_OP_TABLE(X, __VA_ARGS__) ARC_PAIR_OP_TABLE(X, __VA_ARGS__)
/* clang-format on */

typedef enum arc_type {
#define X(_id, ...) ARC_TYPE_##_id,
    ARC_TYPE_TABLE(X)
#undef X
        ARC_TYPES
} arc_type_t;

typedef enum arc_op {
#define X(_id, ...) ARC_OP_##_id,
    ARC_OP_TABLE(X, )
#undef X
        ARC_OPS
} arc_op_t;

/* MPI's pairs: C structs, with C's padding. */
#define X(_id, _type, _value, _index) \
    typedef struct _type {            \
        _value value;                 \
        _index index;                 \
    } _type;
ARC_PAIR_TABLE(X)
#undef X

/*
 * out[i] = parts[0][i] op parts[1][i] op ... op parts[n - 1][i], from the left, for i in
 * [0, count); n >= 1 (1: a copy).  `out` may be any of the parts; it must not overlap them in
 * other ways.
 */
typedef void (*arc_reduce_fn_t)(const void *const *parts, unsigned n, void *out, size_t count,
                                const void *context);

/* How to reduce one kind of vector. */
typedef struct arc_reducer {
    arc_reduce_fn_t reduce;
    const void *context; /* handed to reduce */
    size_t stride_bytes; /* from one element to the next */
    size_t last_bytes;   /* of the last element: a padded pair may end before its stride */
    bool rounds_once;    /* more precise inside than an element: best given all parts at once */
    bool has_gaps;       /* padding, in an element or behind it, that a result must not change */
} arc_reducer_t;

/*
 * The parameter uint16_as: what sums of 16-bit unsigned integers are.  Its choices, and the type
 * that a choice (an index into them) stands for.
 */
/* clang-format off */
#define ARC_UINT16_CHOICES {"none", "bf16", "fp16", NULL}
/* clang-format on */
enum { ARC_UINT16_NONE, ARC_UINT16_BF16, ARC_UINT16_FP16 };

static inline arc_type_t arc_uint16_type(int choice)
{
    return ARC_UINT16_BF16 == choice   ? ARC_TYPE_BF16
           : ARC_UINT16_FP16 == choice ? ARC_TYPE_FP16
                                       : ARC_TYPE_UINT16;
}

/* Bytes from the start of the first to the end of the last of `count` > 0 elements. */
static inline size_t arc_reducer_span_bytes(const arc_reducer_t *reducer, size_t count)
{
    return (count - 1) * reducer->stride_bytes + reducer->last_bytes;
}

#endif
