/*
 * The parts of the correctness matrix that are not predefined types on
 * MPI_COMM_WORLD. Each function is collective over MPI_COMM_WORLD and prints its
 * own cases.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_MATRIX_H
#define ARC_TESTS_MPI_MATRIX_H

#include "oracle.h"

/** Some types, operations and counts on every kind of communicator (matrix_comms.c). */
void matrix_check_communicators(void);

/** Sums of arbitrary floats: error bound, and the same bits on all ranks (matrix_special.c). */
void matrix_check_random_floats(void);

/** NaN of several ranks: the same bits on all ranks, which plain Open MPI does not promise. */
void matrix_check_nan(void);

#endif
