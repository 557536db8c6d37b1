/*
 * What the matrices hold, and how far a product is from the one that a single process computes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_VALUES_H
#define ARC_WORKLOADS_MATMUL_VALUES_H

#include "matrix.h"
#include "products.h"

/*
 * An element is a hash of its matrix and its place, so that every process sets its own tiles, and
 * any process the whole matrix.
 *
 *   VALUES_WHOLE     whole numbers from -4 to 4: sums of up to 2^20 products are exact in a float
 *   VALUES_UNIFORM   uniform in [-1, 1)
 */
enum { VALUES_WHOLE, VALUES_UNIFORM };

/* Sets the tiles of this process. */
void values_fill(matrix_t *matrix, int which, int kind);

/*
 * The Frobenius norm of the difference between C and the product of the whole matrices, which each
 * process computes by one call of sgemm, divided by the norm of that product; of the worst replica.
 * Exactly 0 if all elements are equal.  Collective.  Negative if there is no memory.
 */
double values_error(const matrix_t *c, const problem_t *problem, int kind);

#endif
