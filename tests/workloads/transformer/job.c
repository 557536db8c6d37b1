/*
 * MPI for the programs of this folder.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "job.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_CALLS = 120 };

void job_begin(job_t *job, int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    memset(job, 0, sizeof(*job));
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
}

void job_fail(const job_t *job, int status, const char *format, ...)
{
    if (0 == job->rank) {
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fputc('\n', stderr);
    }
    MPI_Finalize();
    exit(status);
}

void job_take_options(const job_t *job, const char *program, int argc, char **argv,
                      const option_row_t *rows)
{
    const char *wrong = options_take(argc, argv, rows);

    if (NULL != wrong) {
        job_fail(job, JOB_USAGE, "%s: %s", program, wrong);
    }
}

void job_fail_if_any(const job_t *job, bool failed)
{
    int any = failed;

    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any) {
        MPI_Finalize();
        exit(JOB_USAGE);
    }
}

void job_sum(void *context, float *x, size_t count)
{
    job_t *job = context;
    const double begin = MPI_Wtime();

    MPI_Allreduce(MPI_IN_PLACE, x, (int) count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    job->sum_seconds += MPI_Wtime() - begin;
    job->sum_calls++;
}

bool job_identical(const job_t *job, const float *x, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, of whole words */
    uint64_t ends[2];

    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof(bits));
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    ends[0] = hash;
    ends[1] = ~hash;
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return ends[0] == ~ends[1];
}

double job_mean(const job_t *job, double value)
{
    double sum = 0;

    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / job->ranks;
}

double job_largest(double value)
{
    double largest = 0;

    MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
}

void job_warm(job_t *job)
{
    float one = 1;

    for (int call = 0; call < WARM_CALLS; call++) {
        job_sum(job, &one, 1);
    }
}
