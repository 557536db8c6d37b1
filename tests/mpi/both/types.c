/*
 * Tables of predefined types and operations, with exact arithmetic for each.
 *
 * Values are drawn so that every order of evaluation gives the same bits and no
 * result leaves the type: sums stay below max / ranks per rank, products are of
 * +-1 and a few threes, floating-point sums are of multiples of 1/8, complex
 * products of small integers. A comparison byte by byte is then a fair one, and it also
 * proves that all ranks hold the same bits.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <complex.h>

#include "harness.h"
#include "types.h"

#define BIT(_op) (1u << (_op))
#define OPS_ORDER (BIT(OP_MAX) | BIT(OP_MIN))
#define OPS_COMPLEX (BIT(OP_SUM) | BIT(OP_PROD))
#define OPS_FLOAT (OPS_COMPLEX | OPS_ORDER)
#define OPS_LOGICAL (BIT(OP_LAND) | BIT(OP_LOR) | BIT(OP_LXOR))
#define OPS_BITS (BIT(OP_BAND) | BIT(OP_BOR) | BIT(OP_BXOR))
#define OPS_ARITHMETIC (OPS_FLOAT | OPS_BITS)
#define OPS_INTEGER (OPS_ARITHMETIC | OPS_LOGICAL)
#define OPS_PAIR (BIT(OP_MAXLOC) | BIT(OP_MINLOC))

#define FOR_EACH_ELEMENT(_statement)     \
    for (size_t i = 0; i < count; i++) { \
        _statement;                      \
    }                                    \
    break

/* A zero in four, so that the result of a logical operation over many ranks is not constant. */
static bool draws_zero(uint64_t bits)
{
    return (bits >> 62) == 0;
}

/* An integer of any width, as the bit pattern of its low bits; `max` is the largest value. */
static uint64_t draw_integer(const draw_t *draw, uint64_t bits, uint64_t max, bool is_signed)
{
    switch (draw->op) {
    case OP_SUM: {
        uint64_t magnitude = (bits >> 1) % (max / draw->ranks | 1);
        return is_signed && (bits & 1) ? 0 - magnitude : magnitude;
    }
    case OP_PROD:
        if (draw->rank % 4 == 0) {
            return 3;
        }
        return is_signed && (bits & 1) ? UINT64_MAX : 1;
    case OP_LAND:
    case OP_LOR:
    case OP_LXOR:
        return draws_zero(bits) ? 0 : bits | 1;
    default:
        return bits;
    }
}

static double draw_real(const draw_t *draw, uint64_t bits)
{
    switch (draw->op) {
    case OP_SUM:
        return ((double) (bits % 2049) - 1024.0) / 8.0;
    case OP_PROD: {
        static const double factors[] = {0.5, -0.5, 1.0, -1.0, 2.0, -2.0};
        return factors[bits % (sizeof factors / sizeof factors[0])];
    }
    default:
        return (double) ((int64_t) bits >> 40 | 1) / 1024.0;
    }
}

#define DEFINE_INTEGER(_tag, _type, _signed, _max)                               \
    static void draw_##_tag(void *out, const draw_t *draw, size_t count)         \
    {                                                                            \
        _type *v = out;                                                          \
        for (size_t i = 0; i < count; i++) {                                     \
            uint64_t bits = draw_bits(draw->seed, draw->rank, i);                \
            v[i] = (_type) draw_integer(draw, bits, _max, _signed);              \
        }                                                                        \
    }                                                                            \
    static void fold_##_tag(void *acc, const void *in, op_id_t op, size_t count) \
    {                                                                            \
        _type *a = acc;                                                          \
        const _type *b = in;                                                     \
        switch (op) {                                                            \
        case OP_SUM:                                                             \
            FOR_EACH_ELEMENT(a[i] = (_type) (a[i] + b[i]));                      \
        case OP_PROD:                                                            \
            FOR_EACH_ELEMENT(a[i] = (_type) (a[i] * b[i]));                      \
        case OP_MAX:                                                             \
            FOR_EACH_ELEMENT(a[i] = a[i] > b[i] ? a[i] : b[i]);                  \
        case OP_MIN:                                                             \
            FOR_EACH_ELEMENT(a[i] = a[i] < b[i] ? a[i] : b[i]);                  \
        case OP_LAND:                                                            \
            FOR_EACH_ELEMENT(a[i] = (_type) (a[i] && b[i]));                     \
        case OP_LOR:                                                             \
            FOR_EACH_ELEMENT(a[i] = (_type) (a[i] || b[i]));                     \
        case OP_LXOR:                                                            \
            FOR_EACH_ELEMENT(a[i] = (_type) (!a[i] != !b[i]));                   \
        case OP_BAND:                                                            \
            FOR_EACH_ELEMENT(a[i] = (_type) (a[i] & b[i]));                      \
        case OP_BOR:                                                             \
            FOR_EACH_ELEMENT(a[i] = (_type) (a[i] | b[i]));                      \
        case OP_BXOR:                                                            \
            FOR_EACH_ELEMENT(a[i] = (_type) (a[i] ^ b[i]));                      \
        default:                                                                 \
            break;                                                               \
        }                                                                        \
    }

#define DEFINE_REAL(_tag, _type)                                                  \
    static void draw_##_tag(void *out, const draw_t *draw, size_t count)          \
    {                                                                             \
        _type *v = out;                                                           \
        for (size_t i = 0; i < count; i++) {                                      \
            v[i] = (_type) draw_real(draw, draw_bits(draw->seed, draw->rank, i)); \
        }                                                                         \
    }                                                                             \
    static void fold_##_tag(void *acc, const void *in, op_id_t op, size_t count)  \
    {                                                                             \
        _type *a = acc;                                                           \
        const _type *b = in;                                                      \
        switch (op) {                                                             \
        case OP_SUM:                                                              \
            FOR_EACH_ELEMENT(a[i] += b[i]);                                       \
        case OP_PROD:                                                             \
            FOR_EACH_ELEMENT(a[i] *= b[i]);                                       \
        case OP_MAX:                                                              \
            FOR_EACH_ELEMENT(a[i] = a[i] > b[i] ? a[i] : b[i]);                   \
        case OP_MIN:                                                              \
            FOR_EACH_ELEMENT(a[i] = a[i] < b[i] ? a[i] : b[i]);                   \
        default:                                                                  \
            break;                                                                \
        }                                                                         \
    }

/*
 * 1 + 2i times a unit: no power of it lies on an axis, so no product has a zero part, and the sign
 * of zero, which depends on the order of evaluation, never appears.
 */
static const int prod_factors[4][2] = {{1, 2}, {-2, 1}, {-1, -2}, {2, -1}};

#define DEFINE_COMPLEX(_tag, _type)                                              \
    static void draw_##_tag(void *out, const draw_t *draw, size_t count)         \
    {                                                                            \
        _type(*v)[2] = out;                                                      \
        for (size_t i = 0; i < count; i++) {                                     \
            uint64_t bits = draw_bits(draw->seed, draw->rank, i);                \
            if (draw->op == OP_PROD) {                                           \
                v[i][0] = (_type) prod_factors[bits >> 62][0];                   \
                v[i][1] = (_type) prod_factors[bits >> 62][1];                   \
            } else {                                                             \
                v[i][0] = (_type) draw_real(draw, bits);                         \
                v[i][1] = (_type) draw_real(draw, bits >> 32);                   \
            }                                                                    \
        }                                                                        \
    }                                                                            \
    static void fold_##_tag(void *acc, const void *in, op_id_t op, size_t count) \
    {                                                                            \
        _type(*a)[2] = acc;                                                      \
        const _type(*b)[2] = in;                                                 \
        for (size_t i = 0; i < count; i++) {                                     \
            _type real = a[i][0] + b[i][0];                                      \
            _type imaginary = a[i][1] + b[i][1];                                 \
            if (op == OP_PROD) {                                                 \
                real = a[i][0] * b[i][0] - a[i][1] * b[i][1];                    \
                imaginary = a[i][0] * b[i][1] + a[i][1] * b[i][0];               \
            }                                                                    \
            a[i][0] = real;                                                      \
            a[i][1] = imaginary;                                                 \
        }                                                                        \
    }

/* Few distinct values, so that ties are common and the index decides. */
enum { PAIR_VALUES = 7, PAIR_INDICES = 1000 };

#define DEFINE_PAIR(_tag, _type, _index)                                                       \
    typedef struct pair_##_tag {                                                               \
        _type value;                                                                           \
        _index index;                                                                          \
    } pair_##_tag##_t;                                                                         \
    static void draw_##_tag(void *out, const draw_t *draw, size_t count)                       \
    {                                                                                          \
        pair_##_tag##_t *v = out;                                                              \
        memset(v, 0, count * sizeof *v);                                                       \
        for (size_t i = 0; i < count; i++) {                                                   \
            uint64_t bits = draw_bits(draw->seed, draw->rank, i);                              \
            v[i].value = (_type) ((int) (bits % PAIR_VALUES) - PAIR_VALUES / 2);               \
            v[i].index = (_index) ((bits >> 32) % PAIR_INDICES);                               \
        }                                                                                      \
    }                                                                                          \
    static void fold_##_tag(void *acc, const void *in, op_id_t op, size_t count)               \
    {                                                                                          \
        pair_##_tag##_t *a = acc;                                                              \
        const pair_##_tag##_t *b = in;                                                         \
        for (size_t i = 0; i < count; i++) {                                                   \
            bool better = op == OP_MAXLOC ? b[i].value > a[i].value : b[i].value < a[i].value; \
            if (better || (b[i].value == a[i].value && b[i].index < a[i].index)) {             \
                a[i] = b[i];                                                                   \
            }                                                                                  \
        }                                                                                      \
    }

DEFINE_INTEGER(int8, int8_t, true, INT8_MAX)
DEFINE_INTEGER(int16, int16_t, true, INT16_MAX)
DEFINE_INTEGER(int32, int32_t, true, INT32_MAX)
DEFINE_INTEGER(int64, int64_t, true, INT64_MAX)
DEFINE_INTEGER(uint8, uint8_t, false, UINT8_MAX)
DEFINE_INTEGER(uint16, uint16_t, false, UINT16_MAX)
DEFINE_INTEGER(uint32, uint32_t, false, UINT32_MAX)
DEFINE_INTEGER(uint64, uint64_t, false, UINT64_MAX)
DEFINE_REAL(float, float)
DEFINE_REAL(double, double)
DEFINE_REAL(long_double, long double)
DEFINE_COMPLEX(complex_float, float)
DEFINE_COMPLEX(complex_double, double)
DEFINE_COMPLEX(complex_long_double, long double)
DEFINE_PAIR(float_int, float, int)
DEFINE_PAIR(double_int, double, int)
DEFINE_PAIR(long_int, long, int)
DEFINE_PAIR(int_int, int, int)
DEFINE_PAIR(short_int, short, int)
DEFINE_PAIR(long_double_int, long double, int)
DEFINE_PAIR(float_float, float, float)
DEFINE_PAIR(double_double, double, double)

/* Values of another type, of which not all may occur. */
#define DEFINE_LIMITED(_tag, _other, _type, _limited)                    \
    static void draw_##_tag(void *out, const draw_t *draw, size_t count) \
    {                                                                    \
        _type *v = out;                                                  \
        draw_##_other(out, draw, count);                                 \
        for (size_t i = 0; i < count; i++) {                             \
            v[i] = (_type) (_limited);                                   \
        }                                                                \
    }
/* Truth values are 0 or 1 only: _Bool has no other, and Fortran defines no other. */
DEFINE_LIMITED(truth8, uint8, uint8_t, v[i] != 0)
DEFINE_LIMITED(truth32, int32, int32_t, v[i] != 0)
/*
 * 64-bit types whose signedness Open MPI does not keep: releases compare MPI_UNSIGNED_LONG as
 * signed and MPI_OFFSET as unsigned. Values without the top bit are the same either way.
 */
DEFINE_LIMITED(nat64, uint64, uint64_t, v[i] & INT64_MAX)

#define fold_nat64 fold_uint64
#define fold_truth8 fold_uint8
#define fold_truth32 fold_int32

const op_row_t op_table[OP_COUNT] = {
    [OP_SUM] = {"SUM", MPI_SUM},          [OP_PROD] = {"PROD", MPI_PROD},
    [OP_MAX] = {"MAX", MPI_MAX},          [OP_MIN] = {"MIN", MPI_MIN},
    [OP_LAND] = {"LAND", MPI_LAND},       [OP_LOR] = {"LOR", MPI_LOR},
    [OP_LXOR] = {"LXOR", MPI_LXOR},       [OP_BAND] = {"BAND", MPI_BAND},
    [OP_BOR] = {"BOR", MPI_BOR},          [OP_BXOR] = {"BXOR", MPI_BXOR},
    [OP_MAXLOC] = {"MAXLOC", MPI_MAXLOC}, [OP_MINLOC] = {"MINLOC", MPI_MINLOC},
};

/* x87: sign, exponent and 64 bits; the other six are padding */
#define LONG_DOUBLE_VALUE_BYTES 10

/* clang-format off */
#define SCALAR_ROW(_handle, _tag, _type, _ops, _broad) \
    {#_handle, _handle, sizeof(_type), _ops, _broad, {{0, sizeof(_type)}, {0, 0}}, draw_##_tag, fold_##_tag}
#define PAIR_ROW(_handle, _tag, _value_bytes, _broad)                                 \
    {#_handle, _handle, sizeof(pair_##_tag##_t), OPS_PAIR, _broad,                    \
     {{0, (_value_bytes)}, {offsetof(pair_##_tag##_t, index), sizeof(((pair_##_tag##_t *) NULL)->index)}}, \
     draw_##_tag, fold_##_tag}

const type_row_t type_table[] = {
    SCALAR_ROW(MPI_INT,                int32,  int32_t,  OPS_INTEGER,    true),
    SCALAR_ROW(MPI_FLOAT,              float,  float,    OPS_FLOAT,      true),
    SCALAR_ROW(MPI_DOUBLE,             double, double,   OPS_FLOAT,      true),
    SCALAR_ROW(MPI_UINT8_T,            uint8,  uint8_t,  OPS_INTEGER,    true),
    SCALAR_ROW(MPI_INT64_T,            int64,  int64_t,  OPS_INTEGER,    true),
    SCALAR_ROW(MPI_INT8_T,             int8,   int8_t,   OPS_INTEGER,    false),
    SCALAR_ROW(MPI_INT16_T,            int16,  int16_t,  OPS_INTEGER,    false),
    SCALAR_ROW(MPI_INT32_T,            int32,  int32_t,  OPS_INTEGER,    false),
    SCALAR_ROW(MPI_UINT16_T,           uint16, uint16_t, OPS_INTEGER,    false),
    SCALAR_ROW(MPI_UINT32_T,           uint32, uint32_t, OPS_INTEGER,    false),
    SCALAR_ROW(MPI_UINT64_T,           uint64, uint64_t, OPS_INTEGER,    false),
    SCALAR_ROW(MPI_SIGNED_CHAR,        int8,   int8_t,   OPS_INTEGER,    false),
    SCALAR_ROW(MPI_UNSIGNED_CHAR,      uint8,  uint8_t,  OPS_INTEGER,    false),
    SCALAR_ROW(MPI_SHORT,              int16,  int16_t,  OPS_INTEGER,    false),
    SCALAR_ROW(MPI_UNSIGNED_SHORT,     uint16, uint16_t, OPS_INTEGER,    false),
    SCALAR_ROW(MPI_UNSIGNED,           uint32, uint32_t, OPS_INTEGER,    false),
    SCALAR_ROW(MPI_LONG,               int64,  int64_t,  OPS_INTEGER,    false),
    SCALAR_ROW(MPI_UNSIGNED_LONG,      nat64,  uint64_t, OPS_INTEGER,    false),
    SCALAR_ROW(MPI_LONG_LONG,          int64,  int64_t,  OPS_INTEGER,    false),
    SCALAR_ROW(MPI_UNSIGNED_LONG_LONG, uint64, uint64_t, OPS_INTEGER,    false),
    SCALAR_ROW(MPI_AINT,               int64,  int64_t,  OPS_ARITHMETIC, false),
    SCALAR_ROW(MPI_OFFSET,             nat64,  uint64_t, OPS_ARITHMETIC, false),
    SCALAR_ROW(MPI_COUNT,              int64,  int64_t,  OPS_ARITHMETIC, false),
    SCALAR_ROW(MPI_BYTE,               uint8,  uint8_t,  OPS_BITS,       false),
    SCALAR_ROW(MPI_C_BOOL,             truth8, uint8_t,  OPS_LOGICAL,    false),
    {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, sizeof(long double), OPS_FLOAT, false,
     {{0, LONG_DOUBLE_VALUE_BYTES}, {0, 0}}, draw_long_double, fold_long_double},
    SCALAR_ROW(MPI_C_FLOAT_COMPLEX,  complex_float,  float complex,  OPS_COMPLEX, false),
    SCALAR_ROW(MPI_C_DOUBLE_COMPLEX, complex_double, double complex, OPS_COMPLEX, true),
    {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double complex),
     OPS_COMPLEX, false,
     {{0, LONG_DOUBLE_VALUE_BYTES}, {sizeof(long double), LONG_DOUBLE_VALUE_BYTES}},
     draw_complex_long_double, fold_complex_long_double},
    SCALAR_ROW(MPI_INTEGER,          int32,          int32_t,        OPS_ARITHMETIC, false),
    SCALAR_ROW(MPI_REAL,             float,          float,          OPS_FLOAT,      false),
    SCALAR_ROW(MPI_DOUBLE_PRECISION, double,         double,         OPS_FLOAT,      false),
    SCALAR_ROW(MPI_LOGICAL,          truth32,        int32_t,        OPS_LOGICAL,    false),
    SCALAR_ROW(MPI_COMPLEX,          complex_float,  float complex,  OPS_COMPLEX,    false),
    SCALAR_ROW(MPI_DOUBLE_COMPLEX,   complex_double, double complex, OPS_COMPLEX,    false),
    PAIR_ROW(MPI_FLOAT_INT,         float_int,       sizeof(float),           true),
    PAIR_ROW(MPI_DOUBLE_INT,        double_int,      sizeof(double),          true),
    PAIR_ROW(MPI_LONG_INT,          long_int,        sizeof(long),            false),
    PAIR_ROW(MPI_2INT,              int_int,         sizeof(int),             false),
    PAIR_ROW(MPI_SHORT_INT,         short_int,       sizeof(short),           false),
    PAIR_ROW(MPI_LONG_DOUBLE_INT,   long_double_int, LONG_DOUBLE_VALUE_BYTES, false),
    PAIR_ROW(MPI_2INTEGER,          int_int,         sizeof(int),             false),
    PAIR_ROW(MPI_2REAL,             float_float,     sizeof(float),           false),
    PAIR_ROW(MPI_2DOUBLE_PRECISION, double_double,   sizeof(double),          false),
};
/* clang-format on */
const size_t type_table_rows = sizeof type_table / sizeof type_table[0];

bool type_present(const type_row_t *type)
{
    MPI_Aint lower_bound;
    MPI_Aint extent_bytes;

    if (type->handle == MPI_DATATYPE_NULL ||
        MPI_Type_get_extent(type->handle, &lower_bound, &extent_bytes) != MPI_SUCCESS) {
        return false;
    }
    return lower_bound == 0 && (size_t) extent_bytes == type->extent_bytes;
}
