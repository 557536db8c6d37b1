/*
 * Speed of the codecs: GB/s of fp32 data, per format and instruction set, for a
 * block that stays in the second-level cache, or of a size that is given, in tiles of 64 rows, or
 * of as many as are given; and of memcpy() on the same block.
 *
 * Each figure is the median and, in brackets, the 99th percentile of 2000 times, of large blocks
 * fewer, turned into a rate.  A time is that of a call, of short blocks that of several, as reading
 * the clock takes a tenth of a call on 16 KiB.  Run it pinned, on an otherwise idle core.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quant_algos.h"
#include "quant_wire.h"
#include "seconds.h"
#include "sizes.h"
#include "testlib.h"

enum {
    BLOCK_KIB = 256, /* with output and codes still below 1 MiB */
    BLOCK_KIB_MAX = 1 << 20,
    SAMPLE_KIB = 256, /* at least */
    BLOCK_ROWS = 64,
    ALIGN_BYTES = 64, /* a malloc() of 16 bytes alignment loses up to a third: loads cross lines */
    SAMPLES = 2000,
    SAMPLES_MIN = 200, /* of large blocks */
    WARM_UP_PART = 10, /* of the samples, in front of them */
};

typedef struct work {
    quant_wire_segment_t segment;
    size_t elems;
    quant_kernels_t kernels;
    float *in;
    float *out;
    void *message;
    void *next; /* message */
} work_t;

typedef void (*step_fn_t)(const work_t *work);

static void encode(const work_t *work)
{
    (void) quant_wire_pack(&work->segment, work->in, 0, work->message);
}

static void decode(const work_t *work)
{
    quant_wire_unpack(&work->segment, work->message, work->out);
}

static void decode_add(const work_t *work)
{
    (void) quant_wire_add(&work->segment, work->message, work->in, 0, work->out);
}

/* What a rank of the ring does with a partial sum: decode, add the own part, encode again. */
static void hop(const work_t *work)
{
    (void) quant_wire_hop(&work->segment, work->message, work->in, 0, work->next);
}

static void copy(const work_t *work)
{
    memcpy(work->out, work->in, work->elems * sizeof(float));
}

static const struct step {
    const char *name;
    step_fn_t run;
} steps[] = {{"encode", encode}, {"decode", decode}, {"decode_add", decode_add}, {"hop", hop}};

/* How often a block of that many bytes is measured: in all no more bytes than with the default. */
static size_t samples_of(size_t bytes)
{
    const size_t samples = (size_t) SAMPLES * BLOCK_KIB * 1024 / bytes;
    return samples < SAMPLES_MIN ? SAMPLES_MIN : samples < SAMPLES ? samples : SAMPLES;
}

static void measure_step(const work_t *work, const struct step *step)
{
    static double seconds[SAMPLES];
    const size_t bytes = work->elems * sizeof(float);
    const size_t samples = samples_of(bytes);
    const size_t calls = arc_divide_up((size_t) SAMPLE_KIB * 1024, bytes);

    for (size_t i = 0; i < samples / WARM_UP_PART; ++i) {
        step->run(work);
    }
    for (size_t i = 0; i < samples; ++i) {
        double start = seconds_now();
        for (size_t call = 0; call < calls; ++call) {
            step->run(work);
        }
        seconds[i] = (seconds_now() - start) / (double) calls;
    }
    const double median = seconds_median(seconds, samples);
    printf("  %7.1f (%6.1f)", (double) bytes / median * 1e-9,
           (double) bytes / seconds[samples * 99 / 100] * 1e-9);
}

static void *alloc_aligned(size_t bytes)
{
    void *memory = aligned_alloc(ALIGN_BYTES, arc_divide_up(bytes, ALIGN_BYTES) * ALIGN_BYTES);
    if (NULL == memory) {
        abort();
    }
    return memory;
}

/* Under the name of a format all its steps, under that of memcpy a copy, to compare with. */
static void measure_row(const quant_format_t *format, arc_isa_t isa, size_t elems,
                        unsigned block_rows)
{
    static const struct step copy_step = {"memcpy", copy};
    const size_t bytes = elems * sizeof(float);
    const quant_format_t *coded = NULL == format ? &quant_format_fp32 : format;
    const size_t message_bytes = quant_wire_bytes_max(coded, elems, block_rows);
    test_random_t random = test_random_of(1, 1);
    work_t work = {
        .segment.codec =
            {
                .format = coded,
                .block_rows = block_rows,
                .elems = elems,
                .tile = alloc_aligned(quant_tile_elems(block_rows) * sizeof(float)),
            },
        .elems = elems,
        .kernels = quant_kernels_select(isa),
        .in = alloc_aligned(bytes),
        .out = alloc_aligned(bytes),
        .message = alloc_aligned(message_bytes),
        .next = alloc_aligned(message_bytes),
    };

    work.segment.codec.kernels = &work.kernels;
    for (size_t i = 0; i < elems; ++i) {
        work.in[i] = (float) test_random_normal(&random);
    }
    printf("%-8s %-7s", NULL == format ? copy_step.name : format->name,
           NULL == format ? "libc" : arc_isa_name(isa));
    if (NULL == format) {
        measure_step(&work, &copy_step);
    }
    for (size_t s = 0; NULL != format && s < sizeof(steps) / sizeof(steps[0]); ++s) {
        measure_step(&work, &steps[s]);
    }
    printf("\n");
    (void) fflush(stdout);
    free(work.in);
    free(work.out);
    free(work.segment.codec.tile);
    free(work.message);
    free(work.next);
}

int main(int argc, char **argv)
{
    const long kib = argc > 1 ? strtol(argv[1], NULL, 10) : BLOCK_KIB;
    const long rows = argc > 2 ? strtol(argv[2], NULL, 10) : BLOCK_ROWS;

    if (argc > 3 || kib < 1 || kib > BLOCK_KIB_MAX || rows < QUANT_BLOCK_ROWS_MIN ||
        rows > QUANT_BLOCK_ROWS_MAX) {
        fprintf(stderr, "usage: bench_codec [KiB of floats [rows of a tile]]\n");
        return EXIT_FAILURE;
    }
    const size_t elems = (size_t) kib * 1024 / sizeof(float);
    printf("GB/s of fp32, median (p99 of the time) of %zu times on %ld KiB, %ld rows per tile\n",
           samples_of(elems * sizeof(float)), kib, rows);
    printf("%-16s", "");
    for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); ++s) {
        printf("  %16s", steps[s].name);
    }
    printf("\n");
    for (size_t f = 0; NULL != quant_format_at(f); ++f) {
        for (int isa = ARC_ISA_SCALAR; isa <= (int) arc_cpu_isa(ARC_ISA_AVX512); ++isa) {
            measure_row(quant_format_at(f), (arc_isa_t) isa, elems, (unsigned) rows);
        }
    }
    measure_row(NULL, ARC_ISA_SCALAR, elems, (unsigned) rows);
    return EXIT_SUCCESS;
}
