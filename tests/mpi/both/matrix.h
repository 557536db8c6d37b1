/*
 * The part of the correctness matrix that is about NaN.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_MATRIX_H
#define ARC_TESTS_MPI_MATRIX_H

#include "oracle.h"

/**
 * NaN of several ranks: the same bits on all ranks, which plain Open MPI does not promise.
 * Collective over MPI_COMM_WORLD; prints its own cases.
 */
void matrix_check_nan(void);

#endif
