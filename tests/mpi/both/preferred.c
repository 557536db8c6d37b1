/*
 * All calls go to one communicator, which is made with Open MPI's info key
 * ompi_comm_coll_preference:
 *
 *   preferred VALUE
 *
 * Sums are right whoever serves them; the report of the component tells who did. Without the
 * harness, whose own calls that report would count.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <mpi.h>
#include <stdio.h>

enum { CALLS = 10 };

int main(int argc, char **argv)
{
    int rank, ranks;
    int wrong = 0;
    int wrong_anywhere = 0;
    MPI_Info info;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", argc > 1 ? argv[1] : "");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int call = 0; call < CALLS; ++call) {
        const double part = rank + call;
        double sum = 0;
        MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        wrong += sum != ranks * (ranks - 1) / 2 + ranks * call;
    }
    MPI_Reduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    if (0 == rank) {
        printf("1..1\n%s 1 - sums are right\n", 0 == wrong_anywhere ? "ok" : "not ok");
    }
    MPI_Finalize();
    return 0;
}
