/*
 * Many calls of a few lengths, in turns as a program makes them, on MPI_COMM_WORLD and then on a
 * duplicate: whatever algorithm is tried or chosen, every sum is right.
 *
 *   -n CALLS   of each length on each communicator
 *   -t         each length on one of them, which take turns
 *   -p CALLS   for each call that is blocking so many that are not, up to 8, pending at a time
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "harness.h"

static const int counts[] = {2, 300, 1, 5000};
enum { LENGTHS = sizeof counts / sizeof counts[0], MOST = 5000, MOST_PENDING = 8 };

/* Element i of rank r in call c. */
static int value(int rank, int call, int i)
{
    return rank * 7 + call % 100 + i % 1000;
}

static int wrong_of(const int *out, int ranks, int call, int count)
{
    int wrong = 0;

    for (int i = 0; i < count; i++) {
        wrong += out[i] != 7 * (ranks * (ranks - 1) / 2) + ranks * value(0, call, i);
    }
    return wrong;
}

/* All the same sum, each with an output of its own. */
static int wrong_of_pending(const int *in, int pending, int call, int count, MPI_Comm comm)
{
    static int out[MOST_PENDING][MOST];
    MPI_Request requests[MOST_PENDING];
    int ranks = 0;
    int wrong = 0;

    MPI_Comm_size(comm, &ranks);
    pending = pending < MOST_PENDING ? pending : MOST_PENDING;
    for (int i = 0; i < pending; i++) {
        memset(out[i], -1, (size_t) count * sizeof out[i][0]);
        MPI_Iallreduce(in, out[i], count, MPI_INT, MPI_SUM, comm, &requests[i]);
    }
    MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < pending; i++) {
        wrong += wrong_of(out[i], ranks, call, count);
    }
    return wrong;
}

static void check_calls(MPI_Comm first, MPI_Comm second, int calls, int pending)
{
    static int in[MOST];
    static int out[MOST];
    int rank = 0;
    int ranks = 0;

    MPI_Comm_rank(first, &rank);
    MPI_Comm_size(first, &ranks);
    for (int call = 0; call < calls; call++) {
        for (int length = 0; length < LENGTHS; length++) {
            const int count = counts[length];
            const MPI_Comm comm = length % 2 ? second : first;

            for (int i = 0; i < count; i++) {
                in[i] = value(rank, call, i);
                out[i] = -1;
            }
            MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
            const int wrong = wrong_of(out, ranks, call, count) +
                              wrong_of_pending(in, pending, call, count, comm);
            tap_check(0 == wrong, "call %d of %d elements: %d are wrong", call, count, wrong);
        }
    }
}

int main(int argc, char **argv)
{
    int calls = 100;
    int pending = 0;
    bool in_turns = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('n', calls), OPTION('p', pending), OPTION('t', in_turns));
    if (!in_turns) {
        check_calls(MPI_COMM_WORLD, MPI_COMM_WORLD, calls, pending);
        tap_case("right sums");
    }
    MPI_Comm again = dup_of(MPI_COMM_WORLD);
    check_calls(in_turns ? MPI_COMM_WORLD : again, again, calls, pending);
    MPI_Comm_free(&again);
    tap_case("right sums on a duplicate");
    return tap_end();
}
