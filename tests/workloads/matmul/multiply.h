/*
 * C = A B: executes the list of local products.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_MULTIPLY_H
#define ARC_WORKLOADS_MATMUL_MULTIPLY_H

#include "matrix.h"
#include "products.h"

/* Buffers for fetched parts and for sums on their way: allocated once, for all calls. */
typedef struct multiplier {
    matrix_t *matrix; /* [MATRICES] */
    int stationary;
    products_t products;
    float *fetched[MATRIX_C][SLOTS];
    MPI_Request fetching[MATRIX_C][SLOTS];
    float *sums[2];
    MPI_Request sending[2];
} multiplier_t;

/* For matrices whose layouts are the problem's.  False if there is no memory.  To be given to
 * multiplier_fini() in either case. */
bool multiplier_init(multiplier_t *multiplier, matrix_t *matrix, const problem_t *problem,
                     int stationary) __attribute__((warn_unused_result));
void multiplier_fini(multiplier_t *multiplier);

/* Multiplies; collective.  Returns the seconds of reduce_replicas on this rank. */
double multiplier_run(multiplier_t *multiplier);

#endif
