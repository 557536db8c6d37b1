/*
 * Many calls of a few lengths, in turns as a program makes them, on MPI_COMM_WORLD and then on a
 * duplicate: whatever algorithm is tried or chosen, every sum is right.
 *
 *   -n CALLS   of each length on each communicator
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

static void check_calls(MPI_Comm comm, int calls)
{
    static const int counts[] = {2, 300, 1, 5000};

    for (int call = 0; call < calls; call++) {
        for (size_t length = 0; length < sizeof counts / sizeof counts[0]; length++) {
            (void) sums_of(comm, MPI_INT, counts[length], call, false);
        }
    }
}

int main(int argc, char **argv)
{
    int calls = 100;
    MPI_Comm again = MPI_COMM_NULL;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('n', calls));
    check_calls(MPI_COMM_WORLD, calls);
    tap_case("right sums");
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    check_calls(again, calls);
    MPI_Comm_free(&again);
    tap_case("right sums on a duplicate");
    return tap_end();
}
