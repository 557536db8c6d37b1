/*
 * Latency of MPI_Allreduce, in the output format of the OSU micro-benchmarks.
 *
 * Two ways to time a call:
 *
 *   per call      time around each call, a barrier between calls outside of the
 *                 time; average, minimum and maximum over the ranks: what
 *                 osu_allreduce prints
 *   back to back  one time around all calls without barriers, divided by their
 *                 number, of the slowest rank: what a program sees that calls
 *                 again at once; drift between ranks is part of it
 *
 * The usual loop calls with the same buffers and unchanged data, on ranks that a
 * barrier has just lined up, which flatters an implementation. --alternate-buffers,
 * --alter and --skew take these comforts away one by one. In back-to-back mode
 * the changing of data and the delay are part of the time; --in-place writes the
 * input anew for each call, or the sums would grow without bound.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "bench_options.h"

enum {
    SIZE_COLUMNS = 10,
    FIELD_COLUMNS = 20,
    SMALL_BYTES = 8192, /* as OSU: up to here many iterations, above few */
    SMALL_ITERATIONS = 1000,
    SMALL_WARMUP = 200,
    LARGE_ITERATIONS = 100,
    LARGE_WARMUP = 10,
    BUFFERS = 2,
    PAGE_BYTES = 4096,
};

static const double us_per_second = 1e6;

/** Everything one size needs while it runs. */
typedef struct bench {
    const options_t *options;
    int rank;
    int ranks;
    size_t count;
    void *send[BUFFERS];
    void *receive[BUFFERS];
    unsigned calls; /* shifts the data with --alter */
    uint64_t random;
    uint64_t errors;
} bench_t;

static void *alloc_buffer(size_t bytes)
{
    void *memory = NULL;

    if (posix_memalign(&memory, PAGE_BYTES, bytes) != 0) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    memset(memory, 0, bytes);
    return memory;
}

/* Spin, not sleep: a sleeping rank would wake late by tens of microseconds. */
static void wait_random(bench_t *bench)
{
    const uint64_t multiplier = UINT64_C(6364136223846793005);
    const double scale = 1.0 / (double) (UINT64_C(1) << 53);

    bench->random = bench->random * multiplier + UINT64_C(1442695040888963407);
    double delay_us = bench->options->skew_us * (double) (bench->random >> 11) * scale;
    double end = MPI_Wtime() + delay_us / us_per_second;
    while (MPI_Wtime() < end) {
    }
}

/* One call; returns the seconds spent in MPI_Allreduce alone. */
static double call_once(bench_t *bench)
{
    const options_t *options = bench->options;
    unsigned which = options->alternate_buffers ? bench->calls % BUFFERS : 0;
    void *send = bench->send[which];
    void *receive = bench->receive[which];

    if (options->alter || options->in_place) {
        unsigned shift = (unsigned) bench->rank + (options->alter ? bench->calls : 0);

        options->type->fill(options->in_place ? receive : send, bench->count, shift);
    }
    if (options->skew_us > 0) {
        wait_random(bench);
    }
    double start = MPI_Wtime();
    MPI_Allreduce(options->in_place ? MPI_IN_PLACE : send, receive, (int) bench->count,
                  options->type->handle, options->op->handle, MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    bench->calls++;
    return seconds;
}

/* Compare the result of the last call; the data repeat after DATA_PERIOD elements. */
static void validate(bench_t *bench)
{
    const options_t *options = bench->options;
    unsigned call = bench->calls - 1;
    const void *receive = bench->receive[options->alternate_buffers ? call % BUFFERS : 0];
    double expected[DATA_PERIOD];

    for (unsigned i = 0; i < DATA_PERIOD; i++) {
        for (unsigned rank = 0; rank < (unsigned) bench->ranks; rank++) {
            unsigned shift = rank + (options->alter ? call : 0);
            double value = (i + shift) % DATA_PERIOD + 1;

            expected[i] = rank == 0 ? value : options->op->combine(expected[i], value);
        }
    }
    for (size_t i = 0; i < bench->count; i++) {
        bench->errors += options->type->get(receive, i) != expected[i % DATA_PERIOD];
    }
}

static double run_per_call(bench_t *bench, int iterations)
{
    double seconds = 0;

    for (int i = 0; i < iterations; i++) {
        seconds += call_once(bench);
        if (bench->options->validate) {
            validate(bench);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return seconds / iterations * us_per_second;
}

static double run_back_to_back(bench_t *bench, int iterations)
{
    double start = MPI_Wtime();

    for (int i = 0; i < iterations; i++) {
        (void) call_once(bench);
    }
    double seconds = MPI_Wtime() - start;
    if (bench->options->validate) {
        validate(bench);
    }
    return seconds / iterations * us_per_second;
}

static void print_header(const options_t *options)
{
    printf("# ARC MPI Allreduce Latency Test, %s, %s %s\n",
           options->back_to_back ? "back to back" : "per call", options->type->name,
           options->op->name);
    printf("%-*s%*s", SIZE_COLUMNS, "# Size", FIELD_COLUMNS, "Avg Latency(us)");
    if (options->full) {
        printf("%*s%*s%*s", FIELD_COLUMNS, "Min Latency(us)", FIELD_COLUMNS, "Max Latency(us)",
               FIELD_COLUMNS, "Iterations");
    }
    printf("%s\n", options->validate ? "          Validation" : "");
    fflush(stdout);
}

/* Collective: the latencies of all ranks become one line. Returns the number of wrong elements. */
static uint64_t print_line(const bench_t *bench, double latency_us, int iterations)
{
    const options_t *options = bench->options;
    double lowest_us;
    double highest_us;
    double total_us;
    uint64_t errors = 0;

    MPI_Reduce(&latency_us, &lowest_us, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&latency_us, &highest_us, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&latency_us, &total_us, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&bench->errors, &errors, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (bench->rank == 0) {
        printf("%-*zu%*.2f", SIZE_COLUMNS, bench->count * options->type->elem_bytes, FIELD_COLUMNS,
               options->back_to_back ? highest_us : total_us / bench->ranks);
        if (options->full) {
            printf("%*.2f%*.2f%*d", FIELD_COLUMNS, lowest_us, FIELD_COLUMNS, highest_us,
                   FIELD_COLUMNS, iterations);
        }
        if (options->validate) {
            printf("%*s", FIELD_COLUMNS, errors == 0 ? "Pass" : "Fail");
        }
        printf("\n");
        fflush(stdout);
    }
    return errors;
}

static uint64_t run_size(bench_t *bench, size_t bytes)
{
    const options_t *options = bench->options;
    bool small = bytes <= SMALL_BYTES;
    int iterations = options->iterations;
    int warmup = options->warmup;

    if (iterations == 0) {
        iterations = small ? SMALL_ITERATIONS : LARGE_ITERATIONS;
    }
    if (warmup < 0) {
        warmup = small ? SMALL_WARMUP : LARGE_WARMUP;
    }
    bench->count = bytes / options->type->elem_bytes;
    bench->errors = 0;
    for (int b = 0; b < BUFFERS; b++) {
        options->type->fill(bench->send[b], bench->count, (unsigned) bench->rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < warmup; i++) {
        (void) call_once(bench);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double latency_us = options->back_to_back ? run_back_to_back(bench, iterations)
                                              : run_per_call(bench, iterations);
    return print_line(bench, latency_us, iterations);
}

int main(int argc, char **argv)
{
    options_t options;
    bench_t bench = {.options = &options};
    uint64_t errors = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
    bench.random = (uint64_t) bench.rank + 1;
    options = options_default(bench.rank == 0);
    if (!options_parse(&options, argc, argv)) {
        MPI_Finalize();
        return options.help || bench.rank != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (options.min_bytes < options.type->elem_bytes) {
        options.min_bytes = options.type->elem_bytes;
    }
    for (int b = 0; b < BUFFERS; b++) {
        bench.send[b] = alloc_buffer(options.max_bytes);
        bench.receive[b] = alloc_buffer(options.max_bytes);
    }
    if (bench.rank == 0) {
        print_header(&options);
    }
    for (size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 2) {
        errors += run_size(&bench, bytes);
    }
    for (int b = 0; b < BUFFERS; b++) {
        free(bench.send[b]);
        free(bench.receive[b]);
    }
    MPI_Finalize();
    return bench.rank == 0 && errors > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
