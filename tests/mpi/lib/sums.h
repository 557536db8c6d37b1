/*
 * Sums on any communicator, with results that are known and results that round:
 * for tests that are about the communicator and not about the sum.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_SUMS_H
#define ARC_TESTS_MPI_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

/**
 * Allreduces of several lengths on an intracommunicator: exact sums of doubles, each element
 * compared, and sums of floats that round, whose bits are the same on all ranks. `seed` is the
 * same on all ranks, too, and another one in each call, so that data of an earlier call cannot
 * pass. Collective. True if all is right; what is wrong also goes to tap_fail().
 */
bool sums_check(MPI_Comm comm, uint64_t seed);

/**
 * One exact sum of MPI_INT, MPI_FLOAT (of at most 32 ranks) or MPI_DOUBLE, each element compared:
 * whole numbers that are too fine for 8 bits, so that a sum that was quantized shows.  `salt` as
 * `seed` above.
 */
bool sums_of(MPI_Comm comm, MPI_Datatype type, int count, int salt, bool in_place);

/** One short exact sum: what a program does that makes a communicator for a single call. */
bool sums_check_once(MPI_Comm comm, uint64_t seed);

/** One exact sum over the other group of an intercommunicator of groups of any size. */
bool sums_check_inter(MPI_Comm inter, uint64_t seed);

#endif
