/*
 * The error of an allreduce on data that are not normal, for formats and blocks:
 *
 *   bench_data RANKS ELEMENTS
 *
 * Schedules, messages and codec are the component's, by full_loop, on the simulated network of the
 * tests.  Prints tab-separated columns with a header: format, block, bits of a number on the wire,
 * and for each kind of data (tests/sim/quant_data.h) the mean square error divided by the mean
 * square of the exact sum, of the numbers that this kind is about.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "quant_data.h"

enum { SEED = 20261122, ELEMENTS_MAX = 1 << 26, SCALE_BITS = 16 };

static const struct row {
    const quant_format_t *format;
    unsigned block;
    quant_rotation_t rotation;
} rows[] = {
    {&quant_format_int8, 64, QUANT_ROTATION_NONE},
    {&quant_format_int8, 32, QUANT_ROTATION_NONE},
    {&quant_format_int8, 16, QUANT_ROTATION_NONE},
    {&quant_format_int8, 8, QUANT_ROTATION_NONE},
    {&quant_format_int8, 64, QUANT_ROTATION_HADAMARD},
    {&quant_format_int4, 64, QUANT_ROTATION_NONE},
    {&quant_format_int4, 16, QUANT_ROTATION_NONE},
    {&quant_format_int4, 64, QUANT_ROTATION_HADAMARD},
    {&quant_format_int6, 64, QUANT_ROTATION_NONE},
    {&quant_format_int10, 64, QUANT_ROTATION_NONE},
    {&quant_format_int12, 64, QUANT_ROTATION_NONE},
    {&quant_format_int16, 64, QUANT_ROTATION_NONE},
    {&quant_format_fp8_e4m3, 64, QUANT_ROTATION_NONE},
    {&quant_format_fp8_e5m2, 64, QUANT_ROTATION_NONE},
    {&quant_format_bf16, 64, QUANT_ROTATION_NONE},
    {&quant_format_fp16, 64, QUANT_ROTATION_NONE},
};

/* A whole number from `min` to `max`; 0 if the text is none. */
static size_t whole_number(const char *text, size_t min, size_t max)
{
    char *end = NULL;
    const unsigned long long number = strtoull(text, &end, 10);

    return '\0' == *text || '\0' != *end || '-' == *text || number < min || number > max
               ? 0
               : (size_t) number;
}

static bool print_row(const struct row *row, quant_job_t *job)
{
    const double scale_bits = row->format->scaled ? (double) SCALE_BITS / row->block : 0;

    job->config.reduce_format = job->config.gather_format = row->format;
    job->config.block_rows = row->block;
    job->config.segment_elems = quant_tile_elems(row->block);
    job->config.transform.rotation = row->rotation;
    printf("%s%s\t%u\t%g", row->format->name,
           QUANT_ROTATION_NONE == row->rotation ? "" : " rotated", row->block,
           row->format->bits + scale_bits);
    for (unsigned kind = 0; kind < QUANT_DATA_KINDS; ++kind) {
        const double nmse = quant_data_nmse(job, (quant_data_t) kind, SEED);
        if (nmse < 0) {
            fprintf(stderr, "bench_data: the allreduce in %s failed\n", row->format->name);
            return false;
        }
        printf("\t%.3e", nmse);
    }
    printf("\n");
    return true;
}

int main(int argc, char **argv)
{
    const unsigned ranks = argc == 3 ? (unsigned) whole_number(argv[1], 2, JOB_RANKS_MAX) : 0;
    const size_t count = argc == 3 ? whole_number(argv[2], 1, ELEMENTS_MAX) : 0;

    if (0 == ranks || 0 == count) {
        fprintf(stderr, "usage: bench_data RANKS ELEMENTS: 2 to %d ranks, 1 to %d elements\n",
                JOB_RANKS_MAX, ELEMENTS_MAX);
        return EXIT_FAILURE;
    }
    float **inputs = quant_inputs_new(ranks, count, SEED);
    quant_job_t job = quant_job_new(quant_algo_by_name("full_loop"), ranks, count, inputs, SEED);
    bool fine = true;

    printf("format\tblock\tbits");
#define X(_name, ...) printf("\t%s", #_name);
    QUANT_DATA_TABLE(X)
#undef X
    printf("\n");
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]) && fine; ++r) {
        fine = print_row(&rows[r], &job);
    }
    quant_inputs_free(inputs, ranks);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
