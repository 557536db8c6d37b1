/*
 * A seeded list of random jobs: shapes, partitionings, replication factors, and what stays.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_RANDOM_JOBS_H
#define ARC_WORKLOADS_MATMUL_RANDOM_JOBS_H

#include <stdint.h>

#include "products.h"

typedef struct random_job {
    uint64_t state;
    size_t dims[DIMS]; /* 1 to 70 */
    char text[256];    /* for job_parse() */
} random_job_t;

void random_job_seed(random_job_t *job, uint64_t seed);

/* The next job of the list for a number of ranks. */
void random_job_next(random_job_t *job, size_t ranks);

#endif
