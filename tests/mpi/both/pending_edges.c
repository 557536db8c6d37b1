/*
 * Nonblocking and persistent allreduces of programs that do unusual things: operations with much on
 * their stack, types of negative extent, what is freed early, signals that are blocked,
 * computations longer than the time limit.
 *
 *   -n      no persistent request: where it would be passed down, as Open MPI 4.1's own do not take
 *           a negative extent
 *   -c SEC  the length of such a computation
 *
 * To be run with a set-up at the first call, and a time limit.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <signal.h>
#include <time.h>

#include "harness.h"
#include "persistent.h"

enum { ELEMS = 500, STACK_BYTES = 3 << 20, PAGE_BYTES = 4096, STARTS = 3 };

static volatile sig_atomic_t signals;

static void add_on_large_stack(void *in, void *inout, int *count, MPI_Datatype *type)
{
    volatile unsigned char large[STACK_BYTES];

    for (int i = 0; i < STACK_BYTES; i += PAGE_BYTES) {
        large[i] = 1;
    }
    for (int i = 0; i < *count; i++) {
        ((int *) inout)[i] += ((int *) in)[i] * large[0];
    }
}

static void add_doubles(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;

    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *count; i++) {
        *(double *) ((char *) inout + i * extent) += *(double *) ((char *) in + i * extent);
    }
}

static void count_signal(int number)
{
    signals = signals + 1;
}

static void check_stack(void)
{
    int in[ELEMS];
    int out[ELEMS];
    MPI_Request request;
    MPI_Op op;

    MPI_Op_create(add_on_large_stack, 1, &op);
    for (int i = 0; i < ELEMS; i++) {
        in[i] = world_rank + i;
    }
    MPI_Iallreduce(in, out, ELEMS, MPI_INT, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ELEMS; i++) {
        tap_check(out[i] == world_ranks * i + world_ranks * (world_ranks - 1) / 2,
                  "element %d is %d", i, out[i]);
    }
    tap_case("an operation with %d bytes on its stack, freed while it is pending", STACK_BYTES);
}

/* Also where a persistent request outlives them. */
static void check_negative_extent(bool persistent)
{
    double in[2 * ELEMS];
    double out[2 * ELEMS];
    MPI_Datatype type;
    MPI_Request request;
    MPI_Op op;

    MPI_Op_create(add_doubles, 1, &op);
    MPI_Type_create_resized(MPI_DOUBLE, 0, -(MPI_Aint) sizeof(double), &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 2 * ELEMS; i++) {
        in[i] = world_rank + i;
        out[i] = -1;
    }
    if (persistent) {
        persistent_allreduce_init(in + ELEMS, out + ELEMS, ELEMS, type, op, MPI_COMM_WORLD,
                                  &request);
    } else {
        MPI_Iallreduce(in + ELEMS, out + ELEMS, ELEMS, type, op, MPI_COMM_WORLD, &request);
    }
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    for (int start = 0; persistent && start < STARTS; start++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (persistent) {
        MPI_Request_free(&request);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2 * ELEMS; i++) {
        const bool inside = i > 0 && i <= ELEMS;
        const double exact = inside ? world_ranks * i + world_ranks * (world_ranks - 1) / 2 : -1;

        tap_check(out[i] == exact, "place %d has %g, not %g", i, out[i], exact);
    }
    tap_case("%s, a type of negative extent, freed early",
             persistent ? "persistent" : "nonblocking");
}

/* The set-up of a new communicator is under way meanwhile. */
static void check_pause(double seconds)
{
    const struct timespec pause = {
        .tv_sec = (time_t) seconds,
        .tv_nsec = (long) ((seconds - (double) (time_t) seconds) * 1e9),
    };
    struct sigaction action = {.sa_handler = count_signal};
    sigset_t blocked;
    sigset_t before;
    MPI_Request request;
    int done = 0;
    int sum = world_rank;

    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    raise(SIGUSR1);
    nanosleep(&pause, NULL);
    const int code = done ? MPI_SUCCESS : MPI_Wait(&request, MPI_STATUS_IGNORE);
    tap_check(0 == signals, "a signal that is blocked was delivered");
    tap_check(MPI_SUCCESS == code, "the wait returned %d", code);
    tap_check(sum == world_ranks * (world_ranks - 1) / 2, "the sum is %d", sum);
    sigprocmask(SIG_SETMASK, &before, NULL);
    tap_check(1 == signals, "%d signals came", (int) signals);
    MPI_Comm_free(&comm);
    tap_case("a computation longer than the time limit, with a signal blocked");
}

int main(int argc, char **argv)
{
    double computes_seconds = 0;
    bool no_persistent = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('c', computes_seconds), OPTION('n', no_persistent));
    check_stack();
    check_negative_extent(false);
    if (!no_persistent) {
        check_negative_extent(true);
    }
    check_pause(computes_seconds);
    return tap_end();
}
