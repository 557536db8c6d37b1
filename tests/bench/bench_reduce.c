/*
 * Rates of the reduction kernels: GB/s of input (parts times bytes of one), per
 * kernel, number of parts and instruction set, for parts of a few cache lines, in
 * the first-level cache and in the second.  Behind them those of the conversions
 * between 16-bit floats and floats: GB/s of the floats.  Prints Markdown.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "reduce.h"
#include "seconds.h"
#include "testlib.h"

static const char edge[] = "| ";
enum { SAMPLES = 201, MAX_PARTS = 8, NAME_BYTES = 64 };

/* Of one sample: far above the clock's resolution, and less than 20 s for all. */
static const double sample_seconds = 50e-6;

static const struct {
    const char *name;
    arc_op_t op;
    arc_type_t type;
} rows[] = {
    {"sum float", ARC_OP_SUM, ARC_TYPE_FLOAT},
    {"max float", ARC_OP_MAX, ARC_TYPE_FLOAT},
    {"sum double", ARC_OP_SUM, ARC_TYPE_DOUBLE},
    {"sum int32", ARC_OP_SUM, ARC_TYPE_INT32},
    {"prod int8", ARC_OP_PROD, ARC_TYPE_INT8},
    {"prod int16", ARC_OP_PROD, ARC_TYPE_INT16},
    {"prod int64", ARC_OP_PROD, ARC_TYPE_INT64},
    {"max uint8", ARC_OP_MAX, ARC_TYPE_UINT8},
    {"min int64", ARC_OP_MIN, ARC_TYPE_INT64},
    {"land int32", ARC_OP_LAND, ARC_TYPE_INT32},
    {"lxor uint8", ARC_OP_LXOR, ARC_TYPE_UINT8},
    {"bor uint8", ARC_OP_BOR, ARC_TYPE_UINT8},
    {"sum bf16", ARC_OP_SUM, ARC_TYPE_BF16},
    {"max bf16", ARC_OP_MAX, ARC_TYPE_BF16},
    {"sum fp16", ARC_OP_SUM, ARC_TYPE_FP16},
    {"max fp16", ARC_OP_MAX, ARC_TYPE_FP16},
    {"maxloc double int", ARC_OP_MAXLOC, ARC_TYPE_DOUBLE_INT},
};

static const unsigned part_counts[] = {2, 4, MAX_PARTS};

/* Bytes of a part; eight of them and the result fit into the cache. */
static const struct {
    const char *name;
    size_t bytes;
} places[] = {{"64 B", 64}, {"L1, 2 KiB", 2 << 10}, {"L2, 64 KiB", 64 << 10}};

typedef struct job {
    arc_reducer_t reducer;
    const void *parts[MAX_PARTS];
    unsigned n;
    void *out;
    size_t count;
} job_t;

/* Seconds of one call. */
static double time_calls(const job_t *job, unsigned calls)
{
    const double start = seconds_now();
    for (unsigned call = 0; call < calls; ++call) {
        job->reducer.reduce(job->parts, job->n, job->out, job->count, job->reducer.context);
    }
    return (seconds_now() - start) / calls;
}

/* Median over samples of the rate in GB/s. */
static double measure_rate(const arc_reducer_t *reducer, unsigned n, size_t bytes)
{
    double seconds[SAMPLES];
    test_buffer_t part[MAX_PARTS];
    test_buffer_t out = test_buffer_new(bytes, 0);
    job_t job = {.reducer = *reducer, .n = n, .out = out.data};
    unsigned calls = 1;

    job.count = bytes / reducer->stride_bytes;
    for (unsigned k = 0; k < n; ++k) {
        part[k] = test_buffer_new(bytes, 0);
        memset(part[k].data, (int) k + 1, bytes);
        job.parts[k] = part[k].data;
    }
    while (time_calls(&job, calls) * calls < sample_seconds) {
        calls *= 2;
    }
    for (unsigned sample = 0; sample < SAMPLES; ++sample) {
        seconds[sample] = time_calls(&job, calls);
    }
    for (unsigned k = 0; k < n; ++k) {
        test_buffer_free(&part[k]);
    }
    test_buffer_free(&out);
    return (double) (n * bytes) / seconds_median(seconds, SAMPLES) * 1e-9;
}

static void print_row(size_t row, unsigned n, size_t bytes)
{
    char name[NAME_BYTES];
    arc_reducer_t reducer;

    snprintf(name, sizeof name, "%s, %u parts", rows[row].name, n);
    printf("%s%-28s", edge, name);
    for (unsigned isa = 0; isa <= arc_cpu_isa(ARC_ISA_BEST); ++isa) {
        if (arc_reduce_make(arc_reduce_table((arc_isa_t) isa), rows[row].op, rows[row].type,
                            &reducer)) {
            printf("%s%8.1f", edge, measure_rate(&reducer, n, bytes));
        }
    }
    printf("%s\n", edge);
}

/* Median over samples of the rate in GB/s of the floats. */
static double measure_conversion(const arc_half_t *half, bool widens, size_t count)
{
    double seconds[SAMPLES];
    float *floats = test_alloc(count * sizeof *floats);
    uint16_t *halves = test_alloc(count * sizeof *halves);
    const unsigned calls = 1 + (unsigned) ((1 << 16) / count);

    memset(halves, 1, count * sizeof *halves);
    half->widen(halves, floats, count);
    for (unsigned sample = 0; sample < SAMPLES; ++sample) {
        const double start = seconds_now();
        for (unsigned call = 0; call < calls; ++call) {
            if (widens) {
                half->widen(halves, floats, count);
            } else {
                half->narrow(floats, halves, count);
            }
        }
        seconds[sample] = (seconds_now() - start) / calls;
    }
    free(halves);
    free(floats);
    return (double) (count * sizeof(float)) / seconds_median(seconds, SAMPLES) * 1e-9;
}

static void print_conversions(arc_type_t type, const char *name, bool widens)
{
    enum { COUNT = 4096 }; /* 24 KiB of both */

    printf("%s%-28s", edge, name);
    for (unsigned isa = 0; isa <= arc_cpu_isa(ARC_ISA_BEST); ++isa) {
        const arc_half_t half = arc_half_select(type, (arc_isa_t) isa);
        printf("%s%8.1f", edge, measure_conversion(&half, widens, COUNT));
    }
    printf("%s\n", edge);
}

static void print_head(const char *what, const char *where)
{
    printf("\n%s, parts of %s\n\n%s%-28s", what, where, edge, "kernel");
    for (unsigned isa = 0; isa <= arc_cpu_isa(ARC_ISA_BEST); ++isa) {
        printf("%s%8s", edge, arc_isa_name((arc_isa_t) isa));
    }
    printf("%s\n", edge);
    printf("|---|");
    for (unsigned isa = 0; isa <= arc_cpu_isa(ARC_ISA_BEST); ++isa) {
        printf("---:|");
    }
    printf("\n");
}

int main(void)
{
    for (size_t place = 0; place < sizeof places / sizeof places[0]; ++place) {
        print_head("GB/s of input", places[place].name);
        for (size_t row = 0; row < sizeof rows / sizeof rows[0]; ++row) {
            for (size_t p = 0; p < sizeof part_counts / sizeof part_counts[0]; ++p) {
                print_row(row, part_counts[p], places[place].bytes);
            }
        }
    }
    print_head("GB/s of floats", "16 KiB");
    print_conversions(ARC_TYPE_BF16, "bf16 to float", true);
    print_conversions(ARC_TYPE_BF16, "float to bf16", false);
    print_conversions(ARC_TYPE_FP16, "fp16 to float", true);
    print_conversions(ARC_TYPE_FP16, "float to fp16", false);
    return 0;
}
