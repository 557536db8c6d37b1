/*
 * The error of an allreduce on data that are not normal, for formats and blocks:
 *
 *   bench_data [-l] [-n RANKS] [-e ELEMENTS]
 *
 * Schedules, messages and codec are the component's, by full_loop, on the simulated network of the
 * tests.  Prints tab-separated columns with a header: format, block, bits of a number on the wire,
 * and for each kind of data (tests/sim/quant_data.h) the mean square error divided by the mean
 * square of the exact sum, of the numbers that this kind is about.
 *
 * -l: with a limit for every element (coll_quant_target_abs), the bits of a number on the wire,
 * headers included, for limits that are parts of the largest exact result.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "quant_data.h"

enum { SEED = 20261122, ELEMENTS_MAX = 1 << 26, SCALE_BITS = 16 };

static const struct row {
    const quant_format_t *format;
    unsigned block;
} rows[] = {
    {&quant_format_int8, 64},  {&quant_format_int8, 32},     {&quant_format_int8, 16},
    {&quant_format_int8, 8},   {&quant_format_int4, 64},     {&quant_format_int4, 16},
    {&quant_format_int5, 64},  {&quant_format_int6, 64},     {&quant_format_int7, 64},
    {&quant_format_int9, 64},  {&quant_format_int10, 64},    {&quant_format_int11, 64},
    {&quant_format_int12, 64}, {&quant_format_int13, 64},    {&quant_format_int14, 64},
    {&quant_format_int16, 64}, {&quant_format_fp8_e4m3, 64}, {&quant_format_fp8_e5m2, 64},
    {&quant_format_bf16, 64},  {&quant_format_fp16, 64},
};

static bool print_row(const struct row *row, quant_job_t *job)
{
    const double scale_bits = row->format->scaled ? (double) SCALE_BITS / row->block : 0;

    job->config.reduce_format = job->config.gather_format = row->format;
    job->config.block_rows = row->block;
    job->config.segment_elems = quant_tile_elems(row->block);
    printf("%s\t%u\t%g", row->format->name, row->block, row->format->bits + scale_bits);
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

static const char *const kind_names[] = {
#define X(_name, ...) #_name,
    QUANT_DATA_TABLE(X)
#undef X
};

static const quant_data_t limited_kinds[] = {
    QUANT_DATA_normal, QUANT_DATA_mixed, QUANT_DATA_outliers, QUANT_DATA_sparse, QUANT_DATA_tails};
enum { LIMITED_KINDS = sizeof(limited_kinds) / sizeof(limited_kinds[0]) };

/* Of a number on the wire: a rank sends 2 (N - 1)/N of the vector.  Negative: the call failed. */
static double limited_bits(const quant_job_t *job)
{
    float *result = test_alloc(job->count * sizeof(float));
    const quant_outcome_t outcome = quant_job_errors(job, 1, result).outcome;
    const bool kept = (double) outcome.bound <= job->bound_max; /* no error exceeds that */

    free(result);
    return kept ? (double) outcome.bytes * 8 / (2.0 * (job->ranks - 1) * (double) job->count) : -1;
}

static double largest_sum(const quant_job_t *job)
{
    double *sum = test_alloc(job->count * sizeof(double));
    double largest = 0;

    quant_oracle_exact(job, sum);
    for (size_t i = 0; i < job->count; ++i) {
        largest = fmax(largest, fabs(sum[i]));
    }
    free(sum);
    return largest;
}

static bool print_limits(quant_job_t *job)
{
    enum { SEGMENT_TILES = 7, STEPS = 12 }; /* of an int16 message of the component's 60 KiB */
    bool *counted = test_alloc(job->count * sizeof(bool));
    bool fine = true;

    job->config.reduce_format = job->config.gather_format = &quant_format_int16;
    job->config.bounded = true;
    job->config.coarsest = &quant_format_int4;
    job->config.block_rows = QUANT_LANES;
    job->config.segment_elems = SEGMENT_TILES * quant_tile_elems(QUANT_LANES);
    printf("limit");
    for (unsigned k = 0; k < LIMITED_KINDS; ++k) {
        printf("\t%s", kind_names[limited_kinds[k]]);
    }
    printf("\n");
    for (unsigned step = 0; step < STEPS && fine; ++step) {
        const double part = pow(10, -1 - step / 3.0);
        printf("%.2g", part);
        for (unsigned k = 0; k < LIMITED_KINDS && fine; ++k) {
            quant_data_fill(limited_kinds[k], job->inputs, job->ranks, job->count, SEED, counted);
            job->bound_max = part * largest_sum(job);
            const double bits = limited_bits(job);
            fine = bits > 0;
            printf("\t%.2f", bits);
        }
        printf("\n");
    }
    free(counted);
    if (!fine) {
        fprintf(stderr, "bench_data: a limit was not kept\n");
    }
    return fine;
}

int main(int argc, char **argv)
{
    bool limits = false;
    unsigned ranks = 4;
    unsigned count = 1 << 18;
    const char *wrong =
        options_take(argc, argv,
                     (const option_row_t[]){OPTION('l', limits),
                                            OPTION_FROM('n', NULL, ranks, 2, JOB_RANKS_MAX),
                                            OPTION_FROM('e', NULL, count, 1, ELEMENTS_MAX),
                                            {.letter = 0}});

    if (NULL != wrong) {
        fprintf(stderr, "bench_data: %s\n", wrong);
        return EXIT_FAILURE;
    }
    float **inputs = quant_inputs_new(ranks, count, SEED);
    quant_job_t job =
        quant_job_new(quant_algo_at(QUANT_ALGO_full_loop), ranks, count, inputs, SEED);
    bool fine = true;

    if (limits) {
        fine = print_limits(&job);
        free(inputs);
        return fine ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    printf("format\tblock\tbits");
    for (unsigned kind = 0; kind < QUANT_DATA_KINDS; ++kind) {
        printf("\t%s", kind_names[kind]);
    }
    printf("\n");
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]) && fine; ++r) {
        fine = print_row(&rows[r], &job);
    }
    free(inputs);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
