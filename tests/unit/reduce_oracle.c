/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "half_oracle.h"
#include "reduce_half.h"
#include "reduce_oracle.h"

static uint64_t integer_op(arc_op_t op, uint64_t a, uint64_t b, bool a_is_less)
{
    const uint64_t results[] = {
        [ARC_OP_SUM] = a + b,
        [ARC_OP_PROD] = a * b,
        [ARC_OP_MAX] = a_is_less ? b : a,
        [ARC_OP_MIN] = a_is_less ? a : b,
        [ARC_OP_LAND] = a && b,
        [ARC_OP_LOR] = a || b,
        [ARC_OP_LXOR] = !a != !b,
        [ARC_OP_BAND] = a & b,
        [ARC_OP_BOR] = a | b,
        [ARC_OP_BXOR] = a ^ b,
    };
    return results[op];
}

#define FLOAT_OP(_type)                                    \
    static _type _type##_op(arc_op_t op, _type a, _type b) \
    {                                                      \
        switch (op) {                                      \
        case ARC_OP_SUM:                                   \
            return a + b;                                  \
        case ARC_OP_PROD:                                  \
            return a * b;                                  \
        case ARC_OP_MAX:                                   \
            return a > b ? a : b;                          \
        default:                                           \
            return a < b ? a : b;                          \
        }                                                  \
    }
FLOAT_OP(float)
FLOAT_OP(double)

/* clang-format off */
#define ORACLE(_id, _type, _total, _read, _step, _write)                                   \
    static void oracle_##_id(arc_op_t op, const void *const *parts, unsigned n, void *out, \
                             size_t i)                                                     \
    {                                                                                      \
        _total a = _read(((const _type *) parts[0])[i]);                                   \
        for (unsigned k = 1; k < n; ++k) {                                                 \
            const _total b = _read(((const _type *) parts[k])[i]);                         \
            a = _step;                                                                     \
        }                                                                                  \
        ((_type *) out)[i] = _write(a);                                                    \
    }
#define SAME(_x) (_x)
#define INTEGER_ORACLE(_id, _type, ...) \
    ORACLE(_id, _type, _type, SAME, (_type) integer_op(op, (uint64_t) a, (uint64_t) b, a < b), SAME)
#define FLOAT_ORACLE(_id, _type, ...) ORACLE(_id, _type, _type, SAME, _type##_op(op, a, b), SAME)
#define COMPLEX_ORACLE(_id, _type, _part) \
    ORACLE(_id, _type, _type, SAME, ((void) op, a + b), SAME)

#define READ_BF16(_x) ((float) half_number(&half_bf16, _x))
#define READ_FP16(_x) ((float) half_number(&half_fp16, _x))
#define WRITE_BF16(_x) (isnan(_x) ? ARC_BF16_NAN : half_round(&half_bf16, (double) (_x)))
#define WRITE_FP16(_x) (isnan(_x) ? ARC_FP16_NAN : half_round(&half_fp16, (double) (_x)))
#define HALF_ORACLE(_id, _type, _name)                                                     \
    ORACLE(_id##_fold, _type, float, READ_##_id, float_op(op, a, b), WRITE_##_id)          \
    static void oracle_##_id(arc_op_t op, const void *const *parts, unsigned n, void *out, \
                             size_t i)                                                     \
    {                                                                                      \
        oracle_##_id##_fold(op, parts, n, out, i);                                         \
        if (1 == n) {                                                                      \
            ((_type *) out)[i] = ((const _type *) parts[0])[i];                            \
        }                                                                                  \
    }

/* Writes the members, and so no padding. */
#define PAIR_ORACLE(_id, _type, _value, _index)                                                 \
    static void oracle_##_id(arc_op_t op, const void *const *parts, unsigned n, void *out,      \
                             size_t i)                                                          \
    {                                                                                           \
        _type best = ((const _type *) parts[0])[i];                                             \
        for (unsigned k = 1; k < n; ++k) {                                                      \
            const _type a = best;                                                               \
            best = ((const _type *) parts[k])[i];                                               \
            if (ARC_OP_MAXLOC == op ? a.value > best.value : a.value < best.value) {            \
                best = a;                                                                       \
            } else if (a.value == best.value && a.index < best.index) {                         \
                best.index = a.index;                                                           \
            }                                                                                   \
        }                                                                                       \
        ((_type *) out)[i].value = best.value;                                                  \
        ((_type *) out)[i].index = best.index;                                                  \
    }
/* clang-format on */

ARC_INTEGER_TABLE(INTEGER_ORACLE)
ARC_FLOAT_TABLE(FLOAT_ORACLE)
ARC_COMPLEX_TABLE(COMPLEX_ORACLE)
ARC_HALF_TABLE(HALF_ORACLE)
ARC_PAIR_TABLE(PAIR_ORACLE)

reduce_oracle_fn_t reduce_oracle(arc_type_t type)
{
    static const reduce_oracle_fn_t oracles[] = {
#define X(_id, ...) oracle_##_id,
        ARC_TYPE_TABLE(X)
#undef X
    };
    return oracles[type];
}

/* ---- data ---- */

/* Numbers, with extremes strewn in.  The only NaN is the one that arithmetic makes: which of two
 * different ones a sum returns is the compiler's choice. */
static double any_number(test_random_t *random)
{
    volatile double infinity = INFINITY;
    const double extremes[] = {0.0,     -0.0,        infinity, -infinity,
                               FLT_MAX, FLT_MIN / 4, 1.0,      infinity - infinity};

    if (0 == test_random_below(random, 16)) {
        return extremes[test_random_below(random, sizeof extremes / sizeof extremes[0])];
    }
    return 8 * test_random_unit(random) - 4;
}

static void fill_bytes(test_random_t *random, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        const uint64_t bits = test_random_bits(random);
        memcpy((char *) data + at, &bits, bytes - at < sizeof bits ? bytes - at : sizeof bits);
    }
}

/* Random bytes, with zeros for the logical operations. */
#define FILL_INTEGER(_id, _type, ...)                                                 \
    static void fill_##_id(test_random_t *random, void *data, size_t i)               \
    {                                                                                 \
        ((_type *) data)[i] =                                                         \
            0 == test_random_below(random, 3) ? 0 : (_type) test_random_bits(random); \
    }
#define FILL_FLOAT(_id, _type, ...)                                     \
    static void fill_##_id(test_random_t *random, void *data, size_t i) \
    {                                                                   \
        ((_type *) data)[i] = (_type) any_number(random);               \
    }
#define FILL_COMPLEX(_id, _type, _part)                                 \
    static void fill_##_id(test_random_t *random, void *data, size_t i) \
    {                                                                   \
        fill_##_part(random, data, 2 * i);                              \
        fill_##_part(random, data, 2 * i + 1);                          \
    }
/* Half of them numbers near each other, whose sums round; half of them any bits. */
#define FILL_HALF(_id, _type, ...)                                      \
    static void fill_##_id(test_random_t *random, void *data, size_t i) \
    {                                                                   \
        const double number = any_number(random);                       \
        ((_type *) data)[i] = 0 == test_random_below(random, 2)         \
                                  ? WRITE_##_id(number)                 \
                                  : (_type) test_random_bits(random);   \
    }
/* Values that are often equal. */
#define FILL_PAIR(_id, _type, _value, _index)                                        \
    static void fill_##_id(test_random_t *random, void *data, size_t i)              \
    {                                                                                \
        const double extreme = any_number(random);                                   \
        const bool is_float = 0 != (_value) 0.5;                                     \
        ((_type *) data)[i].value = is_float && 0 == test_random_below(random, 4)    \
                                        ? (_value) extreme                           \
                                        : (_value) test_random_below(random, 4) - 2; \
        ((_type *) data)[i].index = (_index) test_random_below(random, 100);         \
    }
ARC_INTEGER_TABLE(FILL_INTEGER)
ARC_FLOAT_TABLE(FILL_FLOAT)
ARC_COMPLEX_TABLE(FILL_COMPLEX)
ARC_HALF_TABLE(FILL_HALF)
ARC_PAIR_TABLE(FILL_PAIR)

void reduce_fill(arc_type_t type, test_random_t *random, void *data, size_t count, size_t bytes)
{
    static void (*const fillers[])(test_random_t * random, void *data, size_t i) = {
#define X(_id, ...) fill_##_id,
        ARC_TYPE_TABLE(X)
#undef X
    };
    fill_bytes(random, data, bytes);
    for (size_t i = 0; i < count; ++i) {
        fillers[type](random, data, i);
    }
}
