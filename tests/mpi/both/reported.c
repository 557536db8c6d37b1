/*
 * Calls whose numbers a script compares with the files of coll_arc_report_file (test_report.sh):
 *
 *   every rank        SHORT sums of 8 bytes, LONG of 80000, PENDING nonblocking ones of 8, on
 *                     MPI_COMM_WORLD; before the last short one rank `late` sleeps for LATE_US
 *   even, odd ranks   HALF sums of 8 bytes
 *
 *   -l RANK   who is late, default: 3
 *
 * The sums are right.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"

enum { SHORT = 100, LONG = 10, PENDING = 7, HALF = 20, LONG_ELEMS = 10000, LATE_US = 300000 };

static long late = 3;

/* Sums of `count` ones. */
static void add(int calls, int count, bool pending, MPI_Comm comm)
{
    SCOPED double *vector = must_alloc((size_t) count * sizeof *vector);
    int ranks = 0;

    MPI_Comm_size(comm, &ranks);
    for (int call = 0; call < calls; call++) {
        MPI_Request request = MPI_REQUEST_NULL;
        for (int i = 0; i < count; i++) {
            vector[i] = 1;
        }
        if (pending) {
            MPI_Iallreduce(MPI_IN_PLACE, vector, count, MPI_DOUBLE, MPI_SUM, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Allreduce(MPI_IN_PLACE, vector, count, MPI_DOUBLE, MPI_SUM, comm);
        }
        tap_check(vector[0] == ranks && vector[count - 1] == ranks, "call %d", call);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('l', late));
    add(SHORT - 1, 1, false, MPI_COMM_WORLD);
    add(LONG, LONG_ELEMS, false, MPI_COMM_WORLD);
    add(PENDING, 1, true, MPI_COMM_WORLD);
    if (world_rank == late) {
        usleep(LATE_US);
    }
    add(1, 1, false, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    add(HALF, 1, false, half);
    MPI_Comm_free(&half);
    tap_case("%d ranks", world_ranks);
    return tap_end();
}
