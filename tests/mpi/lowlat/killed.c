/*
 * A rank is killed between two sums; all others get an error, without a time limit.  What stderr
 * must say about the dead rank is checked by the script.
 *
 * To be run with mpirun's --enable-recovery, one rank on each node.
 *
 *   -r RANK   who is killed (default 1; not 0, which prints)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <signal.h>

#include "harness.h"

enum { ELEMS = 300, NORMAL_CALLS = 100, TAG = 1 };

/* Until all others have found out, too: who ends before that is one more that is gone. */
static void await_others(int rank, int victim)
{
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int other = 0; other < ranks; other++) {
        if (other != rank && other != victim) {
            MPI_Sendrecv(NULL, 0, MPI_INT, other, TAG, NULL, 0, MPI_INT, other, TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
    }
}

int main(int argc, char **argv)
{
    int victim = 1;
    int rank;
    int code = MPI_SUCCESS;
    float data[ELEMS] = {0};

    MPI_Init(&argc, &argv);
    TAKE_OPTIONS(OPTION('r', victim));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int call = 0; code == MPI_SUCCESS; call++) {
        if (rank == victim && call == NORMAL_CALLS) {
            raise(SIGKILL);
        }
        code = MPI_Allreduce(MPI_IN_PLACE, data, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        printf("ok 1 - an error where a rank was killed\n1..1\n");
        fflush(stdout);
    }
    await_others(rank, victim);
    /* Not MPI_Finalize, which waits for the dead. */
    _exit(EXIT_SUCCESS);
}
