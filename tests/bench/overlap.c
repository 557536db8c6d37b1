/*
 * How much of an MPI_Iallreduce is hidden behind a computation, as osu_iallreduce defines it:
 *
 *     pure      MPI_Iallreduce and MPI_Wait
 *     total     MPI_Iallreduce, a computation that takes as long as pure, MPI_Wait
 *     overlap   1 - (total - computation) / pure, 0 at least
 *
 * The computation calls MPI_Test now and then, or never: without progress threads a message goes on
 * only in calls of MPI.  Times are averages over the ranks.
 *
 *   -m A:B   bytes of the vector of floats, doubled from A to B (default 1048576:16777216)
 *   -i N     calls of each kind (default 20)
 *   -t US    from one MPI_Test to the next (default 100; 0: none)
 *   -p       a persistent request in place of MPI_Iallreduce
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "persistent.h"

enum { WARMUP = 110 }; /* calls: after a hundred a communicator is set up */

static const double us_per_second = 1e6;

typedef struct job {
    float *in;
    float *out;
    int count;
    int calls;
    double test_us;
    bool persistent;
    MPI_Request request;
} job_t;

static void start_call(job_t *job)
{
    if (job->persistent) {
        MPI_Start(&job->request);
    } else {
        MPI_Iallreduce(job->in, job->out, job->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &job->request);
    }
}

/* For so long; returns how long it was. */
static double compute(job_t *job, double seconds)
{
    const double begin = MPI_Wtime();
    double next_test = begin + job->test_us / us_per_second;
    double now = begin;
    volatile double number = 1;
    int done = 0;

    while (now - begin < seconds) {
        for (int i = 0; i < 100; i++) {
            number = number * 0.999 + 1;
        }
        now = MPI_Wtime();
        if (job->test_us > 0 && now >= next_test && !done) {
            MPI_Test(&job->request, &done, MPI_STATUS_IGNORE);
            next_test = now + job->test_us / us_per_second;
        }
    }
    return now - begin;
}

/* Seconds of a call with a computation of `seconds`, which come back as they were. */
static double time_calls(job_t *job, double *seconds)
{
    double total = 0;
    double computed = 0;

    for (int call = 0; call < job->calls; call++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        start_call(job);
        computed += *seconds > 0 ? compute(job, *seconds) : 0;
        MPI_Wait(&job->request, MPI_STATUS_IGNORE);
        total += MPI_Wtime() - begin;
    }
    *seconds = computed / job->calls;
    return total / job->calls;
}

static double average(double value)
{
    int ranks = 0;
    double sum = 0;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / ranks;
}

static void run_size(job_t *job, size_t bytes, int rank)
{
    double none = 0;

    job->count = (int) (bytes / sizeof(float));
    if (job->persistent) {
        persistent_allreduce_init(job->in, job->out, job->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                                  &job->request);
    }
    (void) time_calls(job, &none); /* warm */
    const double pure = average(time_calls(job, &none));
    double computed = pure;
    const double total = average(time_calls(job, &computed));
    computed = average(computed);
    const double overlap = 1 - (total - computed) / pure;
    if (0 == rank) {
        printf("%10zu %14.1f %14.1f %14.1f %10.1f\n", bytes, pure * us_per_second,
               total * us_per_second, computed * us_per_second, overlap > 0 ? 100 * overlap : 0);
        fflush(stdout);
    }
    if (job->persistent) {
        MPI_Request_free(&job->request);
    }
}

typedef struct sizes {
    size_t first;
    size_t last;
} sizes_t;

static const char *parse_sizes(const char *text, void *of)
{
    sizes_t *sizes = of;

    return 2 == sscanf(text, "%zu:%zu", &sizes->first, &sizes->last) &&
                   sizes->first >= sizeof(float) && sizes->first <= sizes->last &&
                   sizes->last <= (size_t) 1 << 31
               ? NULL
               : "BYTES:BYTES";
}

int main(int argc, char **argv)
{
    job_t job = {.calls = 20, .test_us = 100, .request = MPI_REQUEST_NULL};
    sizes_t sizes = {1 << 20, 1 << 24};
    int rank = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *wrong =
        options_take(argc, argv,
                     (const option_row_t[]){OPTION_BY('m', NULL, parse_sizes, &sizes),
                                            OPTION_FROM('i', NULL, job.calls, 1, INT_MAX),
                                            OPTION_FROM('t', NULL, job.test_us, 0, us_per_second),
                                            OPTION('p', job.persistent),
                                            {.letter = 0}});
    if (NULL != wrong) {
        fprintf(stderr, "overlap: %s\n", wrong);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    const size_t last = sizes.last;
    job.in = calloc(last / sizeof(float), sizeof(float));
    job.out = calloc(last / sizeof(float), sizeof(float));
    if (NULL == job.in || NULL == job.out) {
        fprintf(stderr, "overlap: no memory for %zu bytes\n", last);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (int call = 0; call < WARMUP; call++) {
        MPI_Allreduce(MPI_IN_PLACE, job.out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (0 == rank) {
        printf("# %s; times in us; an MPI_Test every %g us\n",
               job.persistent ? "persistent" : "nonblocking", job.test_us);
        printf("#%9s %14s %14s %14s %10s\n", "bytes", "pure", "total", "computation", "overlap %");
    }
    for (size_t bytes = sizes.first; bytes <= last; bytes *= 2) {
        run_size(&job, bytes, rank);
    }
    free(job.in);
    free(job.out);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
