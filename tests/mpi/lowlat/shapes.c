/*
 * Communicators of the first 2, 3, ... ranks, all of them twice: one sum on each.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"

enum { ROUNDS = 2 };

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        for (int size = 2; size <= world_ranks; size++) {
            MPI_Comm comm = MPI_COMM_NULL;
            int sum = 1;

            MPI_Comm_split(MPI_COMM_WORLD, world_rank < size ? 0 : MPI_UNDEFINED, world_rank,
                           &comm);
            if (comm != MPI_COMM_NULL) {
                MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
                tap_check(sum == size, "%d instead of %d", sum, size);
                MPI_Comm_free(&comm);
            }
        }
    }
    tap_case("right sums on all communicators");
    return tap_end();
}
