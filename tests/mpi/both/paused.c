/*
 * A nonblocking call never waits for a rank that does something else: the last rank starts a sum on
 * a new communicator, drives the progress a few times, each time another number of them, and then
 * computes, without a call of MPI, until rank 0 has come back from so many calls of MPI_Test.
 * Whatever the sum is at by then, set-up or exchange, nobody may stay in it.  Behind it comes a sum
 * of integers, which rank 0 starts before the last rank goes on.
 *
 *   -b   then a sum of which the last rank's part is under way when it has started
 *
 * Ranks of one machine; to be run with the set-ups at the first calls.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdatomic.h>
#include <time.h>

#include "harness.h"

enum { ELEMS = 60000, INTS = 1000, FEW_INTS = 50, PAUSES = 40, TESTS = 50, MOMENT_NS = 200000 };

/* In memory that rank 0 and the last one share. */
typedef struct meeting {
    atomic_int paused; /* what the last rank is at */
    atomic_int released;
} meeting_t;

typedef struct sums {
    float floats[ELEMS];
    float float_sums[ELEMS];
    int ints[INTS];
    int int_sums[INTS];
    MPI_Request requests[2];
} sums_t;

static void wait_a_moment(void)
{
    const struct timespec moment = {0, MOMENT_NS};

    nanosleep(&moment, NULL);
}

static void test_sum(sums_t *sums)
{
    int flag = 0;

    MPI_Test(&sums->requests[0], &flag, MPI_STATUS_IGNORE);
}

static void start_ints(sums_t *sums, int ints, MPI_Comm comm)
{
    MPI_Iallreduce(sums->ints, sums->int_sums, ints, MPI_INT, MPI_SUM, comm, &sums->requests[1]);
}

static void pause_after(sums_t *sums, meeting_t *meeting, int pause, int tests)
{
    for (int i = 0; i < tests; i++) {
        test_sum(sums);
        wait_a_moment();
    }
    atomic_store(&meeting->paused, pause);
    while (atomic_load(&meeting->released) < pause) {
        wait_a_moment();
    }
}

static void go_on_meanwhile(sums_t *sums, meeting_t *meeting, int pause, MPI_Comm comm)
{
    while (atomic_load(&meeting->paused) < pause) {
        test_sum(sums);
    }
    start_ints(sums, INTS, comm);
    for (int i = 0; i < TESTS; i++) {
        test_sum(sums);
        wait_a_moment();
    }
    atomic_store(&meeting->released, pause);
}

static void check_ints(const sums_t *sums, int ints)
{
    for (int i = 0; i < ints; i++) {
        tap_check(world_ranks * i == sums->int_sums[i], "%d: %d", i, sums->int_sums[i]);
    }
}

static void check_pause(sums_t *sums, meeting_t *meeting, int pause)
{
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    MPI_Iallreduce(sums->floats, sums->float_sums, ELEMS, MPI_FLOAT, MPI_SUM, comm,
                   &sums->requests[0]);
    if (0 == world_rank) {
        go_on_meanwhile(sums, meeting, pause, comm);
    } else {
        if (world_ranks - 1 == world_rank) {
            pause_after(sums, meeting, pause, pause - 1);
        }
        start_ints(sums, INTS, comm);
    }
    MPI_Waitall(2, sums->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ELEMS; i++) {
        const double right = world_ranks * (double) sums->floats[i];
        tap_check(fabs(sums->float_sums[i] - right) < 0.05 * world_ranks, "element %d: %g, not %g",
                  i, (double) sums->float_sums[i], right);
    }
    check_ints(sums, INTS);
    MPI_Comm_free(&comm);
}

/*
 * On a communicator that is set up; rank 0 has the sum before the last rank calls MPI again.  Few
 * elements: Open MPI ends a send of more than 256 bytes only when the sender drives the progress.
 */
static void check_begun(sums_t *sums, meeting_t *meeting)
{
    enum { MOST_TESTS = 25000 };
    int has_come = 0;

    MPI_Allreduce(sums->ints, sums->int_sums, FEW_INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    start_ints(sums, FEW_INTS, MPI_COMM_WORLD);
    if (0 == world_rank) {
        for (int i = 0; i < MOST_TESTS && !has_come; i++) {
            MPI_Test(&sums->requests[1], &has_come, MPI_STATUS_IGNORE);
            wait_a_moment();
        }
        atomic_store(&meeting->released, PAUSES + 1);
        tap_check(has_come, "it did not come");
    } else if (world_ranks - 1 == world_rank) {
        while (atomic_load(&meeting->released) <= PAUSES) {
            wait_a_moment();
        }
    }
    MPI_Wait(&sums->requests[1], MPI_STATUS_IGNORE);
    check_ints(sums, FEW_INTS);
    tap_case("a sum that is under way when it has been started");
}

int main(int argc, char **argv)
{
    static sums_t sums;
    bool begun = false;
    MPI_Win window;
    meeting_t *meeting = NULL;
    MPI_Aint bytes = 0;
    int unit = 0;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('b', begun));
    MPI_Win_allocate_shared(0 == world_rank ? sizeof *meeting : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            (void *) &meeting, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, (void *) &meeting);
    if (0 == world_rank) {
        atomic_init(&meeting->paused, 0);
        atomic_init(&meeting->released, 0);
    }
    for (int i = 0; i < ELEMS; i++) {
        sums.floats[i] = (float) (i % 7) / 7;
    }
    for (int i = 0; i < INTS; i++) {
        sums.ints[i] = i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int pause = 1; pause <= PAUSES; pause++) {
        check_pause(&sums, meeting, pause);
    }
    tap_case("%d sums that a rank leaves alone for a while", PAUSES);
    if (begun) {
        check_begun(&sums, meeting);
    }
    MPI_Win_free(&window);
    return tap_end();
}
