/*
 * The reduction kernels: right for every type and operation, and the same bytes
 * from every instruction set, at every length and alignment, in place or not.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "reduce.h"
#include "testlib.h"

enum { SEED = 20261120, MAX_COUNT = 150, NAME_BYTES = 64 };

static const size_t type_bytes[] = {
#define X(_id, _type, _wrap) sizeof(_type),
    ARC_TYPE_TABLE(X)
#undef X
};
static const char *const type_names[] = {
#define X(_id, _type, _wrap) #_id,
    ARC_TYPE_TABLE(X)
#undef X
};
static const char *const op_names[] = {
#define X(_id, _expression, ...) #_id,
    ARC_ARITHMETIC_OP_TABLE(X, ) ARC_INTEGER_OP_TABLE(X, )
#undef X
};

typedef struct kernel_case {
    char name[NAME_BYTES];
    arc_op_t op;
    arc_type_t type;
    arc_isa_t isa;
} kernel_case_t;

/* Random bytes for integers; for floats numbers, with extremes strewn in. */
static void fill(test_random_t *random, arc_type_t type, size_t count, void *data)
{
    static const double extremes[] = {0.0, -0.0, INFINITY, -INFINITY, FLT_MAX, FLT_MIN / 4, 1.0};
    unsigned char *bytes = data;

    for (size_t i = 0; i < count * type_bytes[type]; ++i) {
        bytes[i] = (unsigned char) test_random_bits(random);
    }
    if (ARC_TYPE_FLOAT != type && ARC_TYPE_DOUBLE != type) {
        /* Zeros, for the logical operations. */
        for (size_t i = 0; i < count; i += 3) {
            memset(bytes + i * type_bytes[type], 0, type_bytes[type]);
        }
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        double value = test_random_normal(random);
        if (0 == test_random_below(random, 8)) {
            value = extremes[test_random_below(random, sizeof extremes / sizeof extremes[0])];
        }
        const float single = (float) value;
        if (ARC_TYPE_FLOAT == type) {
            memcpy(bytes + i * sizeof single, &single, sizeof single);
        } else {
            memcpy(bytes + i * sizeof value, &value, sizeof value);
        }
    }
}

static void gives_the_scalar_bytes(void **state)
{
    const kernel_case_t *row = *state;
    if (arc_cpu_isa(row->isa) != row->isa) {
        skip();
    }
    const arc_combine_fn_t reference = arc_reduce_table_scalar.combine[row->op][row->type];
    const arc_combine_fn_t kernel = arc_reduce_table(row->isa)->combine[row->op][row->type];
    const size_t element = type_bytes[row->type];
    test_random_t random = test_random_of(SEED, (uint64_t) row->op * ARC_TYPES + row->type);

    for (size_t count = 0; count <= MAX_COUNT; ++count) {
        const size_t shift = count % 3 * element;
        test_buffer_t left = test_buffer_new(count * element, shift);
        test_buffer_t right = test_buffer_new(count * element, element);
        test_buffer_t expected = test_buffer_new(count * element, 0);
        test_buffer_t out = test_buffer_new(count * element, 2 * element);

        fill(&random, row->type, count, left.data);
        fill(&random, row->type, count, right.data);
        reference(left.data, right.data, expected.data, count, NULL);
        kernel(left.data, right.data, out.data, count, NULL);
        assert_memory_equal(expected.data, out.data, count * element);
        test_buffer_t copy = test_buffer_new(count * element, 0);
        memcpy(copy.data, right.data, count * element);
        kernel(left.data, copy.data, copy.data, count, NULL);
        assert_memory_equal(expected.data, copy.data, count * element);
        kernel(left.data, right.data, left.data, count, NULL);
        assert_memory_equal(expected.data, left.data, count * element);
        assert_true(test_buffer_intact(&out) && test_buffer_intact(&left));
        test_buffer_free(&copy);
        test_buffer_free(&left);
        test_buffer_free(&right);
        test_buffer_free(&expected);
        test_buffer_free(&out);
    }
}

/* The reference itself, against results worked out by hand. */
#define CHECK(_op, _id, _type, _a, _b, _result)                                               \
    do {                                                                                      \
        const _type a = (_type) (_a);                                                         \
        const _type b = (_type) (_b);                                                         \
        const _type result = (_type) (_result);                                               \
        _type out = 0;                                                                        \
        arc_reduce_table_scalar.combine[ARC_OP_##_op][ARC_TYPE_##_id](&a, &b, &out, 1, NULL); \
        assert_memory_equal(&result, &out, sizeof out);                                       \
    } while (0)

static void integers_wrap_as_in_c(void **state)
{
    (void) state;
    CHECK(SUM, INT8, int8_t, 100, 100, -56);
    CHECK(SUM, UINT8, uint8_t, 200, 100, 44);
    CHECK(SUM, INT16, int16_t, INT16_MAX, 1, INT16_MIN);
    CHECK(SUM, INT32, int32_t, INT32_MAX, 1, INT32_MIN);
    CHECK(SUM, INT64, int64_t, INT64_MAX, 1, INT64_MIN);
    CHECK(PROD, UINT16, uint16_t, 65535, 65535, 1);
    CHECK(PROD, INT16, int16_t, -300, 300, -24464);
    CHECK(PROD, UINT64, uint64_t, 1ull << 63, 2, 0);
}

static void operations_are_those_of_mpi(void **state)
{
    (void) state;
    CHECK(MAX, INT32, int32_t, -5, 3, 3);
    CHECK(MAX, UINT32, uint32_t, -5, 3, -5);
    CHECK(MIN, INT64, int64_t, -5, 3, -5);
    CHECK(LAND, INT32, int32_t, 4, 2, 1);
    CHECK(LAND, INT32, int32_t, 4, 0, 0);
    CHECK(LOR, UINT8, uint8_t, 0, 7, 1);
    CHECK(LOR, UINT8, uint8_t, 0, 0, 0);
    CHECK(LXOR, INT16, int16_t, 3, 9, 0);
    CHECK(LXOR, INT16, int16_t, 0, 9, 1);
    CHECK(BAND, UINT16, uint16_t, 0xf0f0, 0xff00, 0xf000);
    CHECK(BOR, INT8, int8_t, 0x50, 0x05, 0x55);
    CHECK(BXOR, UINT64, uint64_t, 0xff, 0x0f, 0xf0);
    CHECK(SUM, DOUBLE, double, 0.1, 0.2, 0.1 + 0.2);
    CHECK(PROD, FLOAT, float, 3.0f, 0.5f, 1.5f);
    CHECK(MIN, FLOAT, float, -INFINITY, 2.0f, -INFINITY);
    CHECK(MAX, DOUBLE, double, 1.0, 2.0, 2.0);
}

static void floats_have_no_bit_operations(void **state)
{
    (void) state;
    assert_null(arc_reduce_table_scalar.combine[ARC_OP_BAND][ARC_TYPE_FLOAT]);
    assert_null(arc_reduce_table_scalar.combine[ARC_OP_LXOR][ARC_TYPE_DOUBLE]);
}

int main(void)
{
    static const arc_isa_t isas[] = {ARC_ISA_AVX2, ARC_ISA_AVX512};
    enum { ISAS = sizeof isas / sizeof isas[0], FIXED = 3 };
    static kernel_case_t cases[ISAS * ARC_OPS * ARC_TYPES];
    static struct CMUnitTest tests[FIXED + ISAS * ARC_OPS * ARC_TYPES] = {
        cmocka_unit_test(integers_wrap_as_in_c),
        cmocka_unit_test(operations_are_those_of_mpi),
        cmocka_unit_test(floats_have_no_bit_operations),
    };
    size_t used = FIXED;

    for (size_t i = 0; i < ISAS * ARC_OPS * ARC_TYPES; ++i) {
        kernel_case_t *row = &cases[i];
        row->isa = isas[i % ISAS];
        row->op = (arc_op_t) (i / ISAS % ARC_OPS);
        row->type = (arc_type_t) (i / ISAS / ARC_OPS);
        if (NULL == arc_reduce_table_scalar.combine[row->op][row->type]) {
            continue;
        }
        snprintf(row->name, sizeof row->name, "gives_the_scalar_bytes %s %s %s",
                 arc_isa_name(row->isa), op_names[row->op], type_names[row->type]);
        tests[used++] = (struct CMUnitTest){
            .name = row->name, .test_func = gives_the_scalar_bytes, .initial_state = row};
    }
    /* Combinations that do not exist leave rows without a function behind the last one. */
    return _cmocka_run_group_tests("reductions", tests, used, NULL, NULL);
}
