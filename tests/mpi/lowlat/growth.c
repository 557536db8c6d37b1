/*
 * The shared memory of communicators grows with their messages, and not with
 * anything else. Many communicators are alive, and sizes go up and down on each
 * of them in an order of its own, so that one grows while the others do not.
 * All sums are exact integers.
 *
 *   -c N   communicators (default 6)
 *   -m N   elements of the longest vectors (default 200000 doubles)
 *   -r N   rounds (default 4)
 *   -t N   all of that N times, with new communicators (default 1)
 *   -g     memory as such: it grows with a longer message, stays with shorter ones, has the stated
 *          limit, and serves the next communicator (needs System V memory)
 *   -a N   what N bytes of memory a rank may not exceed with -g
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "footprint.h"
#include "harness.h"
#include "sums.h"

enum { COMMS_MAX = 600, SIZES = 7 };

/* The sum of `count` numbers, in place in every other call. */
static void check_sum(MPI_Comm comm, int count, int call)
{
    (void) sums_of(comm, MPI_DOUBLE, count, call, call % 2 != 0);
}

static void check_interleaved(int communicators, int rounds, int longest)
{
    static MPI_Comm comms[COMMS_MAX];
    const int sizes[SIZES] = {1, 7, 8, 1000, longest / 20 + 1, longest / 3 + 1, longest};
    int call = 0;

    for (int c = 0; c < communicators; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
    }
    for (int round = 0; round < rounds; round++) {
        for (int c = 0; c < communicators; c++) {
            /* 1, 3, 5, 7 ... steps through the sizes: all of them, in another order each. */
            check_sum(comms[c], sizes[(c + round * (1 + c % (SIZES - 1))) % SIZES], call++);
        }
    }
    for (int c = 0; c < communicators; c++) {
        check_sum(comms[c], longest, call++);
        check_sum(comms[c], 1, call++);
    }
    tap_case("%d communicators, %d rounds, up to %d elements: right sums", communicators, rounds,
             longest);
    for (int c = 0; c < communicators; c++) {
        MPI_Comm_free(&comms[c]);
    }
}

static long shared_bytes(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const long bytes = footprint_take().sysv_bytes;
    MPI_Barrier(MPI_COMM_WORLD);
    return bytes;
}

static void check_memory(int longest, long limit_bytes)
{
    const long before = shared_bytes();
    int call = 0;
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    check_sum(comm, 1, call++);
    const long small = shared_bytes() - before;
    check_sum(comm, longest, call++);
    const long large = shared_bytes() - before;
    for (int i = 0; i < SIZES; i++) {
        check_sum(comm, 1 + i * longest / SIZES, call++);
    }
    const long again = shared_bytes() - before;
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_sum(comm, longest, call++);
    const long reused = shared_bytes() - before;
    check_sum(comm, 4 * longest, call++);
    const long largest = shared_bytes() - before;
    MPI_Comm_free(&comm);

    tap_note("bytes of a rank: %ld after 1 element, %ld after %d, %ld after %d", small, large,
             longest, largest, 4 * longest);
    tap_check(small > 0, "no shared memory after one element");
    tap_check(large > small, "%ld bytes after one element, %ld after %d", small, large, longest);
    tap_check(again == large, "%ld bytes became %ld without a longer message", large, again);
    tap_check(reused == large, "%ld bytes became %ld with another communicator", large, reused);
    tap_check(largest >= large && largest <= limit_bytes, "%ld bytes; at most %ld are promised",
              largest, limit_bytes);
    tap_case(
        "shared memory grows with the longest message only, up to its limit, and is used again");
}

int main(int argc, char **argv)
{
    int communicators = 6;
    int longest = 200000;
    int rounds = 4;
    int times = 1;
    long limit_bytes = 0;
    bool memory = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('c', communicators), OPTION('m', longest), OPTION('r', rounds),
                 OPTION('t', times), OPTION('g', memory), OPTION('a', limit_bytes));
    if (communicators < 0 || communicators > COMMS_MAX) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (memory) {
        check_memory(longest, limit_bytes);
    }
    for (int time = 0; time < times; time++) {
        check_interleaved(communicators, rounds, longest);
    }
    return tap_end();
}
