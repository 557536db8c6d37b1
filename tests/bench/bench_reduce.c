/*
 * Rates of the reduction kernels: GB/s of one operand, for data in the first-level
 * cache and in the second, per type, operation and instruction set.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reduce.h"
#include "testlib.h"

enum { SAMPLES = 201, CALLS = 50 };

static const struct {
    const char *name;
    arc_op_t op;
    arc_type_t type;
    size_t element_bytes;
} rows[] = {
    {"sum float", ARC_OP_SUM, ARC_TYPE_FLOAT, sizeof(float)},
    {"sum double", ARC_OP_SUM, ARC_TYPE_DOUBLE, sizeof(double)},
    {"max double", ARC_OP_MAX, ARC_TYPE_DOUBLE, sizeof(double)},
    {"sum int32", ARC_OP_SUM, ARC_TYPE_INT32, sizeof(int32_t)},
    {"min int64", ARC_OP_MIN, ARC_TYPE_INT64, sizeof(int64_t)},
    {"prod int16", ARC_OP_PROD, ARC_TYPE_INT16, sizeof(int16_t)},
    {"bor uint8", ARC_OP_BOR, ARC_TYPE_UINT8, sizeof(uint8_t)},
};

/* Bytes of a vector; three of them fit into the cache. */
static const struct {
    const char *name;
    size_t bytes;
} places[] = {{"L1, 8 KiB", 8 << 10}, {"L2, 256 KiB", 256 << 10}};

static double now_seconds(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a;
    const double y = *(const double *) b;
    return (x > y) - (x < y);
}

/* Median over samples of the rate in GB/s. */
static double measure(arc_combine_fn_t combine, size_t bytes, size_t element_bytes)
{
    double seconds[SAMPLES];
    test_buffer_t left = test_buffer_new(bytes, 0);
    test_buffer_t right = test_buffer_new(bytes, 0);
    test_buffer_t out = test_buffer_new(bytes, 0);

    memset(left.data, 1, bytes);
    memset(right.data, 2, bytes);
    for (unsigned sample = 0; sample < SAMPLES; ++sample) {
        const double start = now_seconds();
        for (unsigned call = 0; call < CALLS; ++call) {
            combine(left.data, right.data, out.data, bytes / element_bytes, NULL);
        }
        seconds[sample] = (now_seconds() - start) / CALLS;
    }
    test_buffer_free(&left);
    test_buffer_free(&right);
    test_buffer_free(&out);
    qsort(seconds, SAMPLES, sizeof seconds[0], compare);
    return (double) bytes / seconds[SAMPLES / 2] * 1e-9;
}

int main(void)
{
    const arc_isa_t best = arc_cpu_isa(ARC_ISA_AVX512);

    for (size_t place = 0; place < sizeof places / sizeof places[0]; ++place) {
        printf("GB/s of one operand, %s\n%-12s", places[place].name, "");
        for (unsigned isa = 0; isa <= best; ++isa) {
            printf("%10s", arc_isa_name((arc_isa_t) isa));
        }
        printf("\n");
        for (size_t row = 0; row < sizeof rows / sizeof rows[0]; ++row) {
            printf("%-12s", rows[row].name);
            for (unsigned isa = 0; isa <= best; ++isa) {
                const arc_reduce_table_t *table = arc_reduce_table((arc_isa_t) isa);
                printf("%10.1f", measure(table->combine[rows[row].op][rows[row].type],
                                         places[place].bytes, rows[row].element_bytes));
            }
            printf("\n");
        }
    }
    return 0;
}
