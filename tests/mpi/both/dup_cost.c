/*
 * Prints the least time of an MPI_Comm_dup, in nanoseconds: what a program pays for each
 * communicator that it makes, also if it never calls a collective on it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <mpi.h>
#include <stdio.h>

enum { DUPS = 3000 };

int main(int argc, char **argv)
{
    double least = 1;
    int rank = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < DUPS; i++) {
        MPI_Comm comm = MPI_COMM_NULL;
        const double begin = MPI_Wtime();

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        const double seconds = MPI_Wtime() - begin;
        least = seconds < least ? seconds : least;
        MPI_Comm_free(&comm);
    }
    if (rank == 0) {
        printf("%.0f\n", least * 1e9);
    }
    MPI_Finalize();
    return 0;
}
