/*
 * What the programs of this folder share of MPI: errors that end all ranks, the timed sum over the
 * ranks, and whether all have the same bits.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_JOB_H
#define TRANSFORMER_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

typedef struct job {
    int rank;
    int ranks;
    double sum_seconds; /* in job_sum() since it was last set to 0 */
    size_t sum_calls;
} job_t;

enum { JOB_WRONG = 1, JOB_USAGE = 2 }; /* exit statuses */

void job_begin(job_t *job, int *argc, char ***argv);

/* Ends the program on all ranks, which all call it, with one line from rank 0. */
void job_fail(const job_t *job, int status, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* options_take(), or job_fail(). */
void job_take_options(const job_t *job, const char *program, int argc, char **argv,
                      const option_row_t *rows);

/* Ends it on all ranks if failed on one, which has said why. */
void job_fail_if_any(const job_t *job, bool failed);

/* A pass_sum_fn_t; context is the job. */
void job_sum(void *context, float *x, size_t count);

/* Whether all ranks have the same bits. */
bool job_identical(const job_t *job, const float *x, size_t count);

/* Over the ranks. */
double job_mean(const job_t *job, double value);
double job_largest(double value);

/* Enough short calls that a component which looks at a program's first calls is set up. */
void job_warm(job_t *job);

#endif
