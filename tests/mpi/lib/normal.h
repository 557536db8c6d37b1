/*
 * Normally distributed data that any rank can compute for any other.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_NORMAL_H
#define ARC_TESTS_MPI_NORMAL_H

#include <stddef.h>

/** Elements 2 pair and 2 pair + 1 of the vector of `rank`. */
void draw_normal_pair(int rank, size_t pair, float *first, float *second);

/** The vector of `rank`, of variance 1. */
void draw_normal(float *out, int rank, size_t elems);

/**
 * How far `sum` is from the sum of the vectors of so many ranks, an even number of elements: the
 * squares of the errors, and in *squares those of the exact sum.  Of so many shares of it the one
 * with this number, for ranks that share the work.
 */
double normal_errors(const float *sum, size_t elems, int ranks, int share, int shares,
                     double *squares);

#endif
