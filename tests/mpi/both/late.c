/*
 * One rank does not come to an allreduce. With a time limit set, the others get
 * an MPI error instead of waiting for ever, and every rank ends by itself.
 * What stderr must say about the missing rank is checked by the script.
 *
 * It stays away, asleep, until all others have had their errors: each sends it a signal, so ranks
 * must be processes of one machine and see each other's numbers.
 *
 *   -r RANK   who stays away (default 1)
 *   -w SEC    for how long at most (default 15); must be longer than the limit
 *   -f        it is the first call, which sets up, that this rank stays away from; it comes to the
 *             same call afterwards, and gets an error, too
 *   -n N      float elements of the sum (default 8), a size the component takes
 *   -b N      so many in the calls before (default as -n): the component may need more memory for
 *             the one that the rank stays away from
 *   -s        MPI_Reduce_scatter_block of as many elements instead
 *   -g        MPI_Allgather, of as many elements in all
 *   -u        the others unmap their buffers after the error, and then the rank that stayed away
 *             comes to the call: what it receives and sends may not be theirs
 *   -d        the call does not block and has a duplicate of MPI_COMM_WORLD, which alone returns
 *             errors and is freed while the call is pending
 *   -p        the call is that of a persistent request on a duplicate of MPI_COMM_WORLD
 *   -l SEC    nobody stays away: a sum of so many elements that it takes longer than SEC must
 *             succeed, because the limit is for standing still
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "harness.h"
#include "persistent.h"

enum { NORMAL_CALLS = 20, LONGEST_ELEMS = 1 << 26 };

/* A communicator that is known to be broken answers at once, and not after a time limit, which is
 * longer. */
static const double at_once_seconds = 0.9;

static bool scatters;
static bool gathers;

/* Element 0 of a result is the number of ranks. */
static int sum_ones(float *data, int count)
{
    for (int i = 0; i < count; i++) {
        data[i] = gathers ? (float) world_ranks : 1.0f;
    }
    if (scatters) {
        return MPI_Reduce_scatter_block(MPI_IN_PLACE, data, count / world_ranks, MPI_FLOAT, MPI_SUM,
                                        MPI_COMM_WORLD);
    }
    if (gathers) {
        /* Not in place: such calls are passed down. */
        SCOPED float *own = must_alloc((size_t) (count / world_ranks) * sizeof *own);
        memcpy(own, data, (size_t) (count / world_ranks) * sizeof *own);
        const int code = MPI_Allgather(own, count / world_ranks, MPI_FLOAT, data,
                                       count / world_ranks, MPI_FLOAT, MPI_COMM_WORLD);
        return code;
    }
    return MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void check_before(float *data, int count, int ranks)
{
    for (int call = 0; call < NORMAL_CALLS; call++) {
        int code = sum_ones(data, count);

        tap_check(code == MPI_SUCCESS, "call %d returned %d", call, code);
        /* A quantized sum may be off by a step or two of its 8 bits. */
        tap_check(data[0] > 0.9f * (float) ranks && data[0] < 1.1f * (float) ranks,
                  "call %d: %g instead of %d", call, (double) data[0], ranks);
    }
    tap_case("%d calls before are right", NORMAL_CALLS);
}

/* Sleep until `ranks` signals have come, for `most_seconds` at most. */
static void stay_away(int ranks, unsigned most_seconds)
{
    const double back = MPI_Wtime() + most_seconds;
    double left_seconds = most_seconds;
    sigset_t awaited;

    sigemptyset(&awaited);
    sigaddset(&awaited, SIGRTMIN);
    while (ranks > 0 && left_seconds > 0) {
        const time_t seconds = (time_t) left_seconds;
        const struct timespec left = {
            .tv_sec = seconds,
            .tv_nsec = (long) ((left_seconds - (double) seconds) * 1e9),
        };
        ranks -= sigtimedwait(&awaited, NULL, &left) == SIGRTMIN;
        left_seconds = back - MPI_Wtime();
    }
}

/* Memory that is gone when it is unmapped, whoever still uses it. */
static float *map(int count)
{
    void *data = mmap(NULL, (size_t) count * sizeof(float), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return data;
}

static void unmap(float *data, int count)
{
    munmap(data, (size_t) count * sizeof *data);
}

/*
 * The rank that stayed away comes when all others have given up, and is told.  Not always at once:
 * in powers of two it may have from the others all that the first agreement needs.
 */
static void check_late_one(float *data, int count, unsigned limit_seconds)
{
    const double start = MPI_Wtime();
    const int code = sum_ones(data, count);
    const double waited_seconds = MPI_Wtime() - start;

    tap_check(code != MPI_SUCCESS, "the late rank's call returned success");
    tap_check(waited_seconds < limit_seconds, "the late rank's call took %.3f s", waited_seconds);
}

/* Which calls of the rank that stayed away succeed is not said: it may find all it needs. */
static void check_unmapped(int count, int missing, unsigned away_seconds)
{
    float *data = map(count);
    long process = getpid();

    MPI_Bcast(&process, 1, MPI_LONG, missing, MPI_COMM_WORLD);
    if (world_rank == missing) {
        stay_away(world_ranks - 1, away_seconds);
        (void) sum_ones(data, count);
        unmap(data, count);
    } else {
        tap_check(sum_ones(data, count) != MPI_SUCCESS, "returned success without rank %d",
                  missing);
        unmap(data, count);
        tap_check(kill((pid_t) process, SIGRTMIN) == 0, "no signal to rank %d", missing);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    tap_case("nobody uses the buffers of a call that has failed without rank %d", missing);
}

static void check_without(float *data, int count, int missing, unsigned away_seconds, bool is_first)
{
    long process = getpid();

    MPI_Bcast(&process, 1, MPI_LONG, missing, MPI_COMM_WORLD);
    if (world_rank == missing) {
        stay_away(world_ranks - 1, away_seconds);
        if (is_first) {
            check_late_one(data, count, away_seconds);
        }
    } else {
        double start = MPI_Wtime();
        int code = sum_ones(data, count);
        double waited_seconds = MPI_Wtime() - start;

        tap_check(code != MPI_SUCCESS, "returned success without rank %d", missing);
        tap_check(waited_seconds < away_seconds, "returned only after %.1f s", waited_seconds);
        start = MPI_Wtime();
        code = sum_ones(data, count);
        waited_seconds = MPI_Wtime() - start;
        tap_check(code != MPI_SUCCESS, "the second call returned success");
        tap_check(waited_seconds < at_once_seconds, "the second call took %.3f s", waited_seconds);
        if (!is_first) { /* which ends coll_quant alone, and that is not asked here */
            MPI_Request request;
            int least = 0;
            code =
                MPI_Iallreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
            tap_check(code != MPI_SUCCESS, "a call that is not blocking returned success");
        }
        tap_check(kill((pid_t) process, SIGRTMIN) == 0, "no signal to rank %d", missing);
    }
    tap_case("all ranks but %d get an error within the time limit, and at once the next time",
             missing);
}

static void check_freed(float *data, int count, int missing, unsigned away_seconds)
{
    MPI_Request request = MPI_REQUEST_NULL;
    long process = getpid();
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Bcast(&process, 1, MPI_LONG, missing, comm);
    if (world_rank != missing) {
        MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, comm, &request);
    }
    MPI_Comm_free(&comm);
    if (world_rank == missing) {
        stay_away(world_ranks - 1, away_seconds);
    } else {
        const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        tap_check(code != MPI_SUCCESS, "returned success without rank %d", missing);
        tap_check(kill((pid_t) process, SIGRTMIN) == 0, "no signal to rank %d", missing);
    }
    tap_case("a pending call without rank %d ends in an error of its communicator, freed meanwhile",
             missing);
}

/*
 * Where Open MPI leaves the failed request to the program (6), the communicator ends as any other:
 * the next one has its place.
 */
static void check_persistent(float *data, int count, int missing, unsigned away_seconds)
{
    MPI_Request request = MPI_REQUEST_NULL;
    long process = getpid();
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Bcast(&process, 1, MPI_LONG, missing, comm);
    persistent_allreduce_init(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, comm, &request);
    if (world_rank == missing) {
        stay_away(world_ranks - 1, away_seconds);
    } else {
        MPI_Start(&request);
        tap_check(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS,
                  "returned success without rank %d", missing);
        tap_check(kill((pid_t) process, SIGRTMIN) == 0, "no signal to rank %d", missing);
    }
    const bool is_left = MPI_REQUEST_NULL != request;
    const MPI_Fint place = MPI_Comm_c2f(comm);
    if (is_left) {
        MPI_Request_free(&request);
    }
    MPI_Comm_free(&comm);
    MPI_Comm next = dup_of(MPI_COMM_SELF);
    tap_check(!is_left || place == MPI_Comm_c2f(next), "the communicator is still there");
    MPI_Comm_free(&next);
    tap_case("a started request without rank %d ends in an error, and with its communicator",
             missing);
}

/* Before there are threads, which inherit it: signals wait for stay_away(). */
static void hold_signals(void)
{
    sigset_t held;

    sigemptyset(&held);
    sigaddset(&held, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &held, NULL);
}

/* A healthy sum that takes longer than `limit_seconds`: the size grows until it does. */
static void check_long(int count, double limit_seconds)
{
    SCOPED float *data = must_alloc((size_t) LONGEST_ELEMS * sizeof *data);
    double took_seconds = 0;

    while (took_seconds <= limit_seconds && count <= LONGEST_ELEMS) {
        for (int i = 0; i < count; i++) {
            data[i] = 1.0f;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        int code = MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        took_seconds = MPI_Wtime() - start;

        tap_check(code == MPI_SUCCESS, "%d elements: returned %d", count, code);
        tap_check(data[0] > 0.9f * (float) world_ranks && data[0] < 1.1f * (float) world_ranks,
                  "%d elements: %g instead of %d", count, (double) data[0], world_ranks);
        tap_note("%d elements took %.2f s", count, took_seconds);
        /* All ranks go on together. */
        MPI_Bcast(&took_seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        count = took_seconds <= limit_seconds ? 2 * count : count;
    }
    if (took_seconds > limit_seconds) {
        tap_case("a sum that takes longer than %g s is not taken for one that stands still",
                 limit_seconds);
    } else {
        tap_skip("a sum that takes long", "this machine is too fast");
    }
}

int main(int argc, char **argv)
{
    int missing = 1;
    unsigned away_seconds = 15;
    int count = 8;
    int count_before = 0;
    double long_seconds = 0;
    bool is_first = false;
    bool unmaps = false;
    bool frees = false;
    bool persists = false;

    hold_signals();
    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('r', missing), OPTION('w', away_seconds), OPTION('n', count),
                 OPTION('f', is_first), OPTION('u', unmaps), OPTION('b', count_before),
                 OPTION('s', scatters), OPTION('g', gathers), OPTION('l', long_seconds),
                 OPTION('d', frees), OPTION('p', persists));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (long_seconds > 0) {
        check_long(count, long_seconds);
    } else {
        SCOPED float *data = must_alloc((size_t) count * sizeof *data);

        if (!is_first) {
            check_before(data, count_before > 0 ? count_before : count, world_ranks);
        }
        if (frees) {
            check_freed(data, count, missing, away_seconds);
        } else if (persists) {
            check_persistent(data, count, missing, away_seconds);
        } else if (unmaps) {
            check_unmapped(count, missing, away_seconds);
        } else {
            check_without(data, count, missing, away_seconds, is_first);
        }
    }
    return tap_end();
}
