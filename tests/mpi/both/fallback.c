/*
 * Every cause for which a component must leave an allreduce, or a whole
 * collective, to the one below it. Each cause sits between two allreduces that
 * the component may take itself, over and over:
 *
 *   allreduce  -  the cause  -  allreduce  -  the cause  -  ...
 *
 * so that a call passed down must neither disturb nor be disturbed by the state
 * of its neighbours. All answers are exact integers; the data change every call.
 * Other collectives, and nonblocking calls, between them: pending.c.
 *
 *   -r N   rounds (default 40)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

enum {
    DEFAULT_ROUNDS = 40,
    NEIGHBOUR_LARGEST = 900,
    CAUSE_COUNT = 500,
    LARGE_COUNT = 400000,
    LARGE_EVERY = 8, /* calls of megabytes: only in every eighth round */
};

static MPI_Comm other_comm; /* an inter-communicator, or MPI_COMM_NULL with one rank */
static MPI_Op user_sum;
static MPI_Datatype derived_int;

static int value(int rank, int round, int i)
{
    return rank * 7 + round * 3 + i % 11;
}

/* An allreduce that nothing stands against; its size walks through small and middle ones. */
static void call_unhindered(int round)
{
    (void) sums_of(MPI_COMM_WORLD, MPI_DOUBLE, round * 37 % NEIGHBOUR_LARGEST + 1, round, true);
}

/* A sum by the program's function. */
static void reduce_world(int count, MPI_Datatype type, int round, const char *what)
{
    SCOPED int *in = must_alloc((size_t) count * sizeof *in);
    SCOPED int *out = must_alloc((size_t) count * sizeof *out);

    for (int i = 0; i < count; i++) {
        in[i] = value(world_rank, round, i);
    }
    MPI_Allreduce(in, out, count, type, user_sum, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        const int expected =
            world_ranks * (value(0, round, i) + value(world_ranks - 1, round, i)) / 2;
        tap_check(out[i] == expected, "%s, round %d, element %d: %d", what, round, i, out[i]);
    }
}

static void sum_ints(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    for (int i = 0; i < *count; i++) {
        b[i] += a[i];
    }
}

static void cause_user_op(int round)
{
    reduce_world(CAUSE_COUNT, MPI_INT, round, "user operation");
}

static void cause_derived_type(int round)
{
    reduce_world(CAUSE_COUNT, derived_int, round, "derived type");
}

static void cause_large(int round)
{
    if (round % LARGE_EVERY == 0) {
        (void) sums_of(MPI_COMM_WORLD, MPI_INT, LARGE_COUNT, round, false);
    }
}

/* Longer than functions of the program are given in one piece. */
static void cause_large_user_op(int round)
{
    if (round % LARGE_EVERY == 0) {
        reduce_world(LARGE_COUNT, MPI_INT, round, "large vector of a user operation");
    }
}

static void cause_count_zero(int round)
{
    int untouched = round;

    MPI_Allreduce(MPI_IN_PLACE, &untouched, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tap_check(untouched == round, "count 0 wrote %d", untouched);
}

static void cause_self(int round)
{
    (void) sums_of(MPI_COMM_SELF, MPI_INT, 1, round, false);
}

static void cause_inter(int round)
{
    if (other_comm != MPI_COMM_NULL) {
        (void) sums_check_inter(other_comm, (uint64_t) round);
    }
}

/* Open MPI agrees on the number of a new communicator by allreduces on the old one. */
static void cause_new_communicator(int round)
{
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    (void) sums_of(comm, MPI_INT, 1, round, false);
    MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    void (*run)(int round);
} causes[] = {
    {"a user operation", cause_user_op},
    {"a user operation on a derived type", cause_derived_type},
    {"a vector of 1.6 MB", cause_large},
    {"a user operation on 1.6 MB", cause_large_user_op},
    {"count 0", cause_count_zero},
    {"a communicator of one rank", cause_self},
    {"an inter-communicator", cause_inter},
    {"a communicator made and freed", cause_new_communicator},
};

static void make_objects(void)
{
    MPI_Comm local;
    int low_ranks = (world_ranks + 1) / 2;
    bool low = world_rank < low_ranks;

    MPI_Op_create(sum_ints, 1, &user_sum);
    MPI_Type_contiguous(1, MPI_INT, &derived_int);
    MPI_Type_commit(&derived_int);
    other_comm = MPI_COMM_NULL;
    if (world_ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, world_rank, &local);
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? low_ranks : 0, 1, &other_comm);
        MPI_Comm_free(&local);
    }
}

int main(int argc, char **argv)
{
    int rounds = DEFAULT_ROUNDS;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('r', rounds));
    make_objects();
    for (size_t cause = 0; cause < sizeof causes / sizeof causes[0]; cause++) {
        for (int round = 0; round < rounds; round++) {
            call_unhindered(round);
            causes[cause].run(round);
        }
        call_unhindered(rounds);
        tap_case("right answers with %s between allreduces", causes[cause].name);
    }
    for (int round = 0; round < rounds; round++) {
        for (size_t cause = 0; cause < sizeof causes / sizeof causes[0]; cause++) {
            causes[cause].run(round);
            call_unhindered(round);
        }
    }
    tap_case("right answers with all of these in turn");
    MPI_Op_free(&user_sum);
    MPI_Type_free(&derived_int);
    if (other_comm != MPI_COMM_NULL) {
        MPI_Comm_free(&other_comm);
    }
    return tap_end();
}
