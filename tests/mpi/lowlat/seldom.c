/*
 * The last rank seldom calls MPI while a nonblocking sum sets a communicator up: that takes longer,
 * and is not taken for a network that does not work.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"

enum {
    SELDOM_US = 600000, /* longer than a put that is to prove the network may take */
    OFTEN_US = 2000,
    SOON_US = 100, /* the other ranks */
    TURNS = 3,     /* of these calls of MPI one comes late: the first, the second, ... */
};

static void check(int late)
{
    MPI_Request request;
    int sum = 1;
    int done = 0;
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    for (int call = 0; !done; call++) {
        usleep(world_rank < world_ranks - 1 ? SOON_US
               : call % TURNS == late       ? SELDOM_US
                                            : OFTEN_US);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&comm);
    tap_check(sum == world_ranks, "the sum is %d", sum);
    tap_case("a nonblocking sum, of which a rank seldom calls MPI");
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    for (int late = 0; late < TURNS; late++) {
        check(late);
    }
    return tap_end();
}
