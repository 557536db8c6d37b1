/*
 * What other MPIs' selectors take on the same simulated network, by SimGrid's SMPI:
 *
 *     smpirun ... smpi_allreduce BYTES...
 *
 * Prints for each length: bytes, microseconds of a call.  All ranks begin at the same time: where
 * nodes share links, late ones would find them free.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 2, US = 1000000, NS = 1000000000 };

static void await_all(void)
{
    double latest = MPI_Wtime();

    MPI_Allreduce(MPI_IN_PLACE, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double rest = latest + 1 - MPI_Wtime();
    const struct timespec sleep = {(time_t) rest, (long) ((rest - (time_t) rest) * NS)};
    smpi_nanosleep(&sleep, NULL);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; ++i) {
        const size_t bytes = (size_t) atol(argv[i]);
        const int count = (int) (bytes / sizeof(float));
        float *in = SMPI_SHARED_MALLOC(bytes);
        float *out = SMPI_SHARED_MALLOC(bytes);
        double most;
        MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        await_all();
        double took = -MPI_Wtime();
        for (unsigned call = 0; call < CALLS; ++call) {
            MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }
        took += MPI_Wtime();
        MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (0 == rank) {
            printf("%zu %.2f\n", bytes, most / CALLS * US);
        }
        SMPI_SHARED_FREE(in);
        SMPI_SHARED_FREE(out);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
