/*
 * The reduction kernels: right for every type, operation and number of parts, the
 * same bytes from every instruction set, at every length and alignment, in place
 * or not.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <complex.h>
#include <math.h>

#include "unit.h"
#include "reduce.h"
#include "reduce_half.h"
#include "reduce_oracle.h"

enum {
    SEED = 20261120,
    MAX_PARTS = 17,
    LONG_BYTES = 4500, /* more than two blocks of any kernel */
};

static const arc_isa_t isas[] = {ARC_ISA_SCALAR, ARC_ISA_AVX2, ARC_ISA_AVX512, ARC_ISA_AVX512_BF16};
enum { ISAS = sizeof isas / sizeof isas[0] };

static const char *const type_names[] = {
#define X(_id, ...) #_id,
    ARC_TYPE_TABLE(X)
#undef X
};
static const char *const op_names[] = {
#define X(_id, ...) #_id,
    ARC_OP_TABLE(X, )
#undef X
};

/* ---- every kernel against the oracle ---- */

typedef struct kernel_case {
    arc_op_t op;
    arc_type_t type;
    arc_isa_t isa;
} kernel_case_t;

/* One call of one kernel; `place`: the part that is also `out`, or n for none. */
static void check_call(const kernel_case_t *row, const arc_reducer_t *reducer,
                       const test_buffer_t *inputs, unsigned n, size_t count, unsigned place)
{
    const size_t bytes = inputs[0].bytes;
    const void *parts[MAX_PARTS];
    test_buffer_t expected = test_buffer_new(bytes, 0);
    test_buffer_t out = test_buffer_new(bytes, (count + n) % 3 * reducer->stride_bytes);

    for (unsigned k = 0; k < n; ++k) {
        parts[k] = inputs[k].data;
    }
    if (place < n) {
        memcpy(out.data, parts[place], bytes);
    }
    memcpy(expected.data, out.data, bytes);
    for (size_t i = 0; i < count; ++i) {
        reduce_oracle(row->type)(row->op, parts, n, expected.data, i);
    }
    if (place < n) {
        parts[place] = out.data;
    }
    reducer->reduce(parts, n, out.data, count, reducer->context);
    assert_memory_equal(expected.data, out.data, bytes);
    assert_true(test_buffer_intact(&out));
    test_buffer_free(&out);
    test_buffer_free(&expected);
}

static void check_count(const kernel_case_t *row, unsigned n, size_t count, test_random_t *random)
{
    arc_reducer_t reducer;
    test_buffer_t inputs[MAX_PARTS];

    assert_true(arc_reduce_make(arc_reduce_table(row->isa), row->op, row->type, &reducer));
    const size_t bytes = count > 0 ? arc_reducer_span_bytes(&reducer, count) : 0;
    for (unsigned k = 0; k < n; ++k) {
        inputs[k] = test_buffer_new(bytes, (k + count) % 3 * reducer.stride_bytes);
        reduce_fill(row->type, random, inputs[k].data, count, bytes);
    }
    check_call(row, &reducer, inputs, n, count, n);
    check_call(row, &reducer, inputs, n, count, 0);
    check_call(row, &reducer, inputs, n, count, n / 2);
    check_call(row, &reducer, inputs, n, count, n - 1);
    for (unsigned k = 0; k < n; ++k) {
        test_buffer_free(&inputs[k]);
    }
}

static void reduces_from_the_left(void **state)
{
    static const unsigned part_counts[] = {1, 2, 3, 4, 5, 7, 8, 9, MAX_PARTS};
    static const size_t counts[] = {0,  1,  2,   3,   4,   5,   6,   7,   8,   9,  11,
                                    12, 15, 16,  17,  19,  23,  24,  31,  32,  33, 37,
                                    40, 48, 57,  63,  64,  65,  71,  79,  85,  95, 96,
                                    97, 99, 105, 112, 120, 127, 128, 129, 143, 150};
    const kernel_case_t *row = *state;
    test_random_t random = test_random_of(SEED, (uint64_t) row->op * ARC_TYPES + row->type);
    arc_reducer_t reducer;

    if (arc_cpu_isa(row->isa) != row->isa) {
        skip();
    }
    assert_true(arc_reduce_make(arc_reduce_table(row->isa), row->op, row->type, &reducer));
    for (size_t p = 0; p < sizeof part_counts / sizeof part_counts[0]; ++p) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
            check_count(row, part_counts[p], counts[c], &random);
        }
        check_count(row, part_counts[p], LONG_BYTES / reducer.stride_bytes, &random);
    }
}

/* ---- results worked out by hand, from every instruction set ---- */

#define CHECK(_op, _id, _type, _result, ...)                               \
    do {                                                                   \
        const _type values[] = {__VA_ARGS__};                              \
        const _type result = (_result);                                    \
        check_by_hand(ARC_OP_##_op, ARC_TYPE_##_id, sizeof result, values, \
                      sizeof values / sizeof values[0], &result);          \
    } while (0)

static void check_by_hand(arc_op_t op, arc_type_t type, size_t bytes, const void *values,
                          unsigned n, const void *result)
{
    const void *parts[MAX_PARTS];
    unsigned char out[sizeof(arc_double_double_t)] = {0};

    for (unsigned k = 0; k < n; ++k) {
        parts[k] = (const unsigned char *) values + k * bytes;
    }
    for (unsigned i = 0; i < ISAS && arc_cpu_isa(isas[i]) == isas[i]; ++i) {
        arc_reduce_kernel(arc_reduce_table(isas[i]), op, type)(parts, n, out, 1, NULL);
        assert_memory_equal(result, out, bytes);
    }
}

TEST(a_nan_or_equal_zeros_give_the_right_one)
{
    CHECK(MAX, FLOAT, float, 1, NAN, 1);
    CHECK(MIN, DOUBLE, double, (double) NAN, 1, (double) NAN);
    CHECK(MAX, DOUBLE, double, 2, 1, (double) NAN, 2);
    CHECK(MAX, FLOAT, float, -0.0f, 0.0f, -0.0f);
    CHECK(MIN, FLOAT, float, 0.0f, -0.0f, 0.0f);
    CHECK(MAX, FP16, uint16_t, 0x3c00, 0x7e01, 0x3c00);
    CHECK(MIN, BF16, uint16_t, ARC_BF16_NAN, 0x3f80, 0xffff);
    CHECK(MAX, BF16, uint16_t, 0x8000, 0x0000, 0x8000);
}

TEST(halves_round_once_to_nearest_even)
{
    /* BF16: 256, 1: in steps of 2 above 256, so 256 + 1 alone rounds back to 256. */
    CHECK(SUM, BF16, uint16_t, 0x4381, 0x4380, 0x3f80, 0x3f80);
    CHECK(SUM, BF16, uint16_t, 0x4380, 0x4380, 0x3f80);
    CHECK(SUM, BF16, uint16_t, 0x4382, 0x4380, 0x3f80, 0x3f80, 0x3f80); /* a tie goes up, to even */
    CHECK(PROD, BF16, uint16_t, 0x40c0, 0x4000, 0x4040);                /* 2 * 3 */
    CHECK(SUM, BF16, uint16_t, 0x7f80, 0x7f7f, 0x7f7f);                 /* overflow */
    CHECK(SUM, BF16, uint16_t, 0x7f80, 0x7f7f, 0x7b00); /* half of the last place: a tie */
    CHECK(SUM, BF16, uint16_t, 0x7f7f, 0x7f7f, 0x7aff); /* a little less */
    CHECK(SUM, BF16, uint16_t, 0x0003, 0x0001, 0x0002); /* subnormals */
    CHECK(SUM, BF16, uint16_t, ARC_BF16_NAN, 0x7f80, 0xff80);
    CHECK(SUM, BF16, uint16_t, ARC_BF16_NAN, 0xff81, 0x3f80);
    /* FP16: in steps of 2 above 2048. */
    CHECK(SUM, FP16, uint16_t, 0x6801, 0x6800, 0x3c00, 0x3c00);
    CHECK(SUM, FP16, uint16_t, 0x6800, 0x6800, 0x3c00);
    CHECK(SUM, FP16, uint16_t, 0x6802, 0x6800, 0x3c00, 0x3c00, 0x3c00);
    CHECK(PROD, FP16, uint16_t, 0x4600, 0x4000, 0x4200);        /* 2 * 3 */
    CHECK(SUM, FP16, uint16_t, 0x7c00, 0x7bff, 0x4c00);         /* 65504 + 16: a tie, to infinity */
    CHECK(SUM, FP16, uint16_t, 0x7bff, 0x7bff, 0x4bff);         /* a little less */
    CHECK(SUM, FP16, uint16_t, 0x7bff, 0x7bff, 0x7bff, 0xfbff); /* no overflow inside */
    CHECK(PROD, FP16, uint16_t, 0x0001, 0x0002, 0x3800);        /* 2^-23 * 0.5 */
    CHECK(PROD, FP16, uint16_t, 0x0000, 0x0001, 0x3800);        /* 2^-24 * 0.5: a tie, to 0 */
    CHECK(PROD, FP16, uint16_t, 0x8002, 0x8003, 0x3800);        /* 1.5 * 2^-24: a tie, up */
    CHECK(SUM, FP16, uint16_t, 0x0400, 0x03ff, 0x0001);         /* to the smallest normal one */
    CHECK(SUM, FP16, uint16_t, ARC_FP16_NAN, 0xfc01, 0x3c00);
    CHECK(SUM, FP16, uint16_t, 0xfc01, 0xfc01); /* one part: a copy */
}

TEST(pairs_prefer_the_smaller_index)
{
    CHECK(MINLOC, INT_INT, arc_int_int_t, ((arc_int_int_t){2, 7}), {3, 1}, {2, 7}, {2, 9});
    CHECK(MAXLOC, INT_INT, arc_int_int_t, ((arc_int_int_t){3, 1}), {2, 0}, {3, 5}, {3, 1});
    CHECK(MAXLOC, FLOAT_FLOAT, arc_float_float_t, ((arc_float_float_t){3, 1}), {3, 1}, {3, 5});
    CHECK(MINLOC, FLOAT_INT, arc_float_int_t, ((arc_float_int_t){1, 4}), {NAN, 1}, {1, 4});
    CHECK(MAXLOC, DOUBLE_DOUBLE, arc_double_double_t, ((arc_double_double_t){5, 4}), {-5, 1},
          {5, 4});
}

TEST(what_is_not_defined_has_no_kernel)
{
    const arc_reduce_table_t *table = &arc_reduce_table_scalar;
    arc_reducer_t reducer;

    assert_false(arc_reduce_make(table, ARC_OP_BAND, ARC_TYPE_FLOAT, &reducer));
    assert_false(arc_reduce_make(table, ARC_OP_LXOR, ARC_TYPE_DOUBLE, &reducer));
    assert_false(arc_reduce_make(table, ARC_OP_PROD, ARC_TYPE_FLOAT_COMPLEX, &reducer));
    assert_false(arc_reduce_make(table, ARC_OP_BOR, ARC_TYPE_BF16, &reducer));
    assert_false(arc_reduce_make(table, ARC_OP_MINLOC, ARC_TYPE_INT32, &reducer));
    assert_false(arc_reduce_make(table, ARC_OP_SUM, ARC_TYPE_FLOAT_INT, &reducer));
    for (unsigned i = 1; i < ISAS && arc_cpu_isa(isas[i]) == isas[i]; ++i) {
        for (unsigned kernel = 0; kernel < ARC_OPS * ARC_TYPES; ++kernel) {
            const arc_op_t op = (arc_op_t) (kernel / ARC_TYPES);
            const arc_type_t type = (arc_type_t) (kernel % ARC_TYPES);
            assert_int_equal(NULL == table->reduce[op][type],
                             NULL == arc_reduce_kernel(arc_reduce_table(isas[i]), op, type));
        }
    }
}

TEST(reducers_know_their_memory)
{
    const arc_reduce_table_t *table = &arc_reduce_table_scalar;
    arc_reducer_t reducer;

    assert_true(arc_reduce_make(table, ARC_OP_MAXLOC, ARC_TYPE_DOUBLE_INT, &reducer));
    assert_int_equal(16, reducer.stride_bytes);
    assert_int_equal(12, reducer.last_bytes);
    assert_false(reducer.rounds_once);
    assert_true(reducer.has_gaps);
    assert_true(arc_reduce_make(table, ARC_OP_MAXLOC, ARC_TYPE_SHORT_INT, &reducer));
    assert_int_equal(8, reducer.last_bytes);
    assert_true(reducer.has_gaps);
    assert_true(arc_reduce_make(table, ARC_OP_MAXLOC, ARC_TYPE_INT_INT, &reducer));
    assert_false(reducer.has_gaps);
    assert_true(arc_reduce_make(table, ARC_OP_SUM, ARC_TYPE_FP16, &reducer));
    assert_int_equal(2, reducer.stride_bytes);
    assert_int_equal(2, reducer.last_bytes);
    assert_true(reducer.rounds_once);
}

int main(void)
{
    for (size_t i = 0; i < ISAS * ARC_OPS * ARC_TYPES; ++i) {
        const kernel_case_t row = {.isa = isas[i % ISAS],
                                   .op = (arc_op_t) (i / ISAS % ARC_OPS),
                                   .type = (arc_type_t) (i / ISAS / ARC_OPS)};
        if (NULL != arc_reduce_table_scalar.reduce[row.op][row.type]) {
            unit_add_row(reduces_from_the_left, &row, sizeof row, "reduces_from_the_left %s %s %s",
                         arc_isa_name(row.isa), op_names[row.op], type_names[row.type]);
        }
    }
    return unit_run("reductions");
}
