/*
 * A program that traps on every floating-point exception, FE_INEXACT too, and rounds another way
 * on each rank. Its sums are exact: only arithmetic that is not its own could trap. After each
 * call it finds its environment as it left it. Each length is summed twice on a new communicator,
 * so that set-up, growth and trials come in this environment: on two duplicates, and on the first
 * 2, 3, ... ranks and MPI_COMM_WORLD, each another shape.  While a rank waits in a set-up, Open MPI
 * calls a function of the program: that finds its environment, too.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE /* feenableexcept */
#include "config.h"

#include <fenv.h>

#include "harness.h"
#include "sums.h"

enum { COMMUNICATORS = 2, CALLS = 2, ROUNDINGS = 4 };

static const int counts[] = {1, 10, 1000, 10000, 100000};

static int rounding_of(int rank)
{
    static const int roundings[ROUNDINGS] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    return roundings[rank % ROUNDINGS];
}

/* Which exceptions trap, of those that can be asked for. */
static int enabled_traps(void)
{
#ifdef __GLIBC__
    return fegetexcept();
#else
    return 0;
#endif
}

static void change_environment(void)
{
    fesetround(rounding_of(world_rank));
#ifdef __GLIBC__
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
#endif
}

static void check_calls(int count, MPI_Comm comm)
{
    const int rounding = fegetround();
    const int trapping = enabled_traps();

    for (int call = 0; call < CALLS; call++) {
        (void) sums_of(comm, MPI_DOUBLE, count, call, false);
        tap_check(fegetround() == rounding, "count %d: rounding %d became %d", count, rounding,
                  fegetround());
        tap_check(enabled_traps() == trapping, "count %d: traps %#x became %#x", count,
                  (unsigned) trapping, (unsigned) enabled_traps());
    }
}

static void check_comm(MPI_Comm comm)
{
    fenv_t usual;

    fegetenv(&usual);
    change_environment();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_calls(counts[i], comm);
    }
    fesetenv(&usual);
}

static void check_shapes(void)
{
    for (int ranks = 2; ranks < world_ranks; ranks++) {
        MPI_Comm comm = MPI_COMM_NULL;

        MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, world_rank, &comm);
        if (comm != MPI_COMM_NULL) {
            check_comm(comm);
            MPI_Comm_free(&comm);
        }
        tap_case("the first %d ranks: the same", ranks);
    }
    check_comm(MPI_COMM_WORLD);
    tap_case("MPI_COMM_WORLD: the same");
}

/* ---- a function of the program, called in somebody else's wait ---- */

/* A sum and a difference that differ by how they are rounded.  Not fegetround(), which looks at the
 * x87 unit. */
typedef struct rounded {
    double sum;
    double difference;
} rounded_t;

static rounded_t noted;

static rounded_t round_here(void)
{
    static volatile double one = 1;
    static volatile double tiny = 0x1p-60;

    return (rounded_t){one + tiny, one - tiny};
}

static void add_and_note(void *in, void *sums, int *count, MPI_Datatype *type)
{
    (void) type;
    noted = round_here();
    for (int i = 0; i < *count; i++) {
        ((int *) sums)[i] += ((const int *) in)[i];
    }
}

/* The calls of one communicator set it up while a nonblocking one of another is pending. */
static void check_foreign(void)
{
    enum { CALLS_BEFORE = 4, LATE_US = 50000 };
    MPI_Op op;
    MPI_Request request;
    int sum = 1;

    MPI_Op_create(add_and_note, 1, &op);
    MPI_Comm set_up = dup_of(MPI_COMM_WORLD);
    MPI_Comm pending = dup_of(MPI_COMM_WORLD);
    fesetround(rounding_of(world_rank));
    const rounded_t own = round_here();
    noted = own;
    for (int call = 0; call < CALLS_BEFORE; call++) {
        (void) sums_of(set_up, MPI_DOUBLE, 1, call, false);
    }
    if (1 == world_rank) {
        usleep(LATE_US);
    }
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, op, pending, &request);
    (void) sums_of(set_up, MPI_DOUBLE, 1, CALLS_BEFORE, false);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tap_check(sum == world_ranks, "the pending sum is %d", sum);
    tap_check(noted.sum == own.sum && noted.difference == own.difference,
              "1 + 2^-60 is 1 + %g, and was 1 + %g in the function", own.sum - 1, noted.sum - 1);
    fesetround(FE_TONEAREST);
    MPI_Op_free(&op);
    MPI_Comm_free(&pending);
    MPI_Comm_free(&set_up);
    tap_case("a function that is called during a set-up rounds as the program does");
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    for (int c = 0; c < COMMUNICATORS; c++) {
        MPI_Comm comm = dup_of(MPI_COMM_WORLD);
        check_comm(comm);
        MPI_Comm_free(&comm);
        tap_case("communicator %d: sums, nothing traps, the environment is as before", c);
    }
    check_shapes();
    check_foreign();
    return tap_end();
}
