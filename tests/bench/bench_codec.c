/*
 * Speed of the codecs: GB/s of fp32 data, per format and instruction set, for a
 * block that stays in the second-level cache.
 *
 * Each figure is the median and, in brackets, the 99th percentile of the time of
 * SAMPLES calls, turned into a rate.  Run it pinned, on an otherwise idle core.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "quant_format.h"
#include "testlib.h"

enum {
    BLOCK_BYTES = 256 * 1024, /* with output and codes still below 1 MiB */
    ELEMS = BLOCK_BYTES / sizeof(float),
    BLOCK_ROWS = 64,
    SAMPLES = 2000,
    WARM_UP = 200,
};

typedef struct work {
    const quant_format_t *format;
    quant_kernels_t kernels;
    float *in;
    float *out;
    void *payload;
} work_t;

typedef void (*step_fn_t)(const work_t *work);

static void encode(const work_t *work)
{
    if (!work->format->encode(&work->kernels, work->in, ELEMS, BLOCK_ROWS, work->payload)) {
        abort();
    }
}

static void decode(const work_t *work)
{
    work->format->decode(&work->kernels, work->payload, ELEMS, BLOCK_ROWS, work->out);
}

static void decode_add(const work_t *work)
{
    work->format->decode_add(&work->kernels, work->payload, work->in, ELEMS, BLOCK_ROWS, work->out);
}

/* What a rank of the ring does with a partial sum: decode, add the own part, encode again. */
static void hop(const work_t *work)
{
    decode_add(work);
    if (!work->format->encode(&work->kernels, work->out, ELEMS, BLOCK_ROWS, work->payload)) {
        abort();
    }
}

static const struct step {
    const char *name;
    step_fn_t run;
} steps[] = {{"encode", encode}, {"decode", decode}, {"decode_add", decode_add}, {"hop", hop}};

static double now_seconds(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double difference = *(const double *) a - *(const double *) b;
    return (difference > 0) - (difference < 0);
}

static void measure(const work_t *work, const struct step *step)
{
    static double seconds[SAMPLES];

    for (unsigned i = 0; i < WARM_UP; ++i) {
        step->run(work);
    }
    for (unsigned i = 0; i < SAMPLES; ++i) {
        encode(work); /* a hop adds up: start it from the same codes, outside the time */
        double start = now_seconds();
        step->run(work);
        seconds[i] = now_seconds() - start;
    }
    qsort(seconds, SAMPLES, sizeof(seconds[0]), ascending);
    printf("  %7.1f (%6.1f)", BLOCK_BYTES / seconds[SAMPLES / 2] * 1e-9,
           BLOCK_BYTES / seconds[SAMPLES * 99 / 100] * 1e-9);
}

static void measure_row(const quant_format_t *format, arc_isa_t isa)
{
    test_random_t random = test_random_of(1, 1);
    work_t work = {
        .format = format,
        .kernels = quant_kernels_select(isa),
        .in = test_alloc(BLOCK_BYTES),
        .out = test_alloc(BLOCK_BYTES),
        .payload = test_alloc(format->payload_bytes(ELEMS, BLOCK_ROWS)),
    };

    for (size_t i = 0; i < ELEMS; ++i) {
        work.in[i] = (float) test_random_normal(&random);
    }
    printf("%-6s %-7s", format->name, arc_isa_name(isa));
    for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); ++s) {
        measure(&work, &steps[s]);
    }
    printf("\n");
    free(work.in);
    free(work.out);
    free(work.payload);
}

int main(void)
{
    printf("GB/s of fp32, median (p99 of the time) of %d calls on %d KiB, %d rows per tile\n",
           SAMPLES, BLOCK_BYTES / 1024, BLOCK_ROWS);
    printf("%-14s", "");
    for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); ++s) {
        printf("  %16s", steps[s].name);
    }
    printf("\n");
    for (size_t f = 0; NULL != quant_format_at(f); ++f) {
        for (int isa = ARC_ISA_SCALAR; isa <= (int) arc_cpu_isa(ARC_ISA_AVX512); ++isa) {
            measure_row(quant_format_at(f), (arc_isa_t) isa);
        }
    }
    return 0;
}
