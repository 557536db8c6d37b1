/*
 * Texts that name a partitioning, a replication factor and which matrix stays, turned into layouts.
 *
 *   MATRIX      PARTITION[*REPLICATION]
 *   PARTITION   row          as many blocks of rows as a replica has processes
 *               col          blocks of columns
 *               block        2D blocks on the process grid that is most nearly square
 *               cyclic       the same grid, tiles with sides of a quarter of the blocks' sides
 *               RxC@PxQ      tiles of R rows and C columns on P x Q processes
 *   JOB         MATRIX,MATRIX,MATRIX,STAYS      A, B, C; and A, B or C
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_SPEC_H
#define ARC_WORKLOADS_MATMUL_SPEC_H

#include "products.h"

typedef struct job {
    problem_t problem;
    int stationary; /* MATRIX_A to MATRIX_C */
} job_t;

/* A job for `dims` (M, K, N) and a number of ranks.  False if that cannot be, with the reason and
 * what to change in `error`. */
bool job_parse(const char *text, const size_t *dims, size_t ranks, job_t *job, char *error,
               size_t error_bytes) __attribute__((warn_unused_result));

#endif
