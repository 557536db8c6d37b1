/*
 * What coll_quant guarantees, seen by a program: verified calls are measured right
 * and can be read through MPI_T, no error is above the bound of its call, an error
 * above the limit makes a communicator exact, and a target is met.
 *
 * Data are integers whose sums are exact in floats: the program knows the exact
 * result, and so the error, without a second call.  The error of an allreduce is that of
 * the vector, of the two other collectives the largest of any block; ranks have numbers of
 * different sizes.
 *
 *   -c NAME the collective: allreduce (default), reduce_scatter_block or allgather
 *   -e K    coll_quant_verify_every is K: check the numbers of 3 K + 1 calls
 *   -s K    and coll_quant_max_nmse is below any error: check the switch
 *   -m K    memory is short on one rank at the first verified call
 *   -t T    coll_quant_target_nmse is T: check the error of normally distributed data
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "harness.h"
#include "pvars.h"

enum {
    ELEMS = 100003,
    RANGE = 1 << 16, /* in sixteenths, times 16 ranks, it is still exact in a float */
    NORMAL_ELEMS = 1 << 19,
    LARGE_ELEMS = 1 << 24, /* 64 MiB */
    SLACK_MAX = 4,
};

/* Sums of doubles in another order than the component's may differ by some last bits. */
static const double tolerance = 1e-9;

static collective_t collective = ALLREDUCE;

/* ---- performance variables ---- */

static const char *const names[] = {
    "coll_quant_comm_verified_calls", "coll_quant_comm_last_nmse",   "coll_quant_comm_last_error",
    "coll_quant_comm_worst_nmse",     "coll_quant_comm_worst_error", "coll_quant_comm_last_bound",
    "coll_quant_comm_worst_bound",
};
enum { CALLS, LAST_NMSE, LAST_ERROR, WORST_NMSE, WORST_ERROR, LAST_BOUND, WORST_BOUND, PVARS };

static pvar_t pvars[PVARS];

static void open_pvars(void)
{
    MPI_Comm world = MPI_COMM_WORLD;

    pvars_begin();
    for (int p = 0; p < PVARS; p++) {
        tap_check(pvar_open(&pvars[p], names[p], &world), "%s is not there, or not as it should be",
                  names[p]);
    }
    tap_case("MPI_T lists the variables");
}

static double read_pvar(int which)
{
    return pvar_read(&pvars[which]);
}

static void close_pvars(void)
{
    for (int p = 0; p < PVARS; p++) {
        pvar_close(&pvars[p]);
    }
    pvars_end();
}

/* ---- calls ---- */

static int running; /* the number of the call */
static size_t vector_elems;

/* The first half of a vector is four times as large as the second; ranks differ, too. */
static void draw(int rank, size_t first, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = draw_bits(83, (unsigned) (rank + 64 * running), first + i);
        const int value = (int) (bits % RANGE) - RANGE / 2;
        out[i] = (float) value / (first + i >= vector_elems / 2 ? 4 : 1) / (float) (1 << rank % 3);
    }
}

static errors_t one_call(MPI_Comm comm, int number, size_t elems, bool is_short)
{
    call_t call = call_of(collective, draw, elems);

    running = number;
    vector_elems = elems * (collective == REDUCE_SCATTER_BLOCK ? (size_t) world_ranks : 1);
    call.comm = comm;
    call.in_place = collective != ALLGATHER && number % 2 == 0;
    call.other_types = collective == ALLGATHER && number % 3 == 0;
    call.is_short = is_short;
    return call_run(&call, NULL);
}

static void expect_number(double expected, int which, int call)
{
    const double value = read_pvar(which);

    tap_check(fabs(value - expected) <= tolerance * expected, "call %d: %s is %.17g, not %.17g",
              call, names[which], value, expected);
}

static void check_numbers(int every)
{
    double last[2] = {0}; /* NMSE, error */
    double worst[2] = {0};
    double worst_bound = 0;
    double slackest = 0;
    int verified = 0;

    for (int call = 1; call <= 3 * every + 1; call++) {
        /* Another length, so that the errors differ. */
        const errors_t errors =
            one_call(MPI_COMM_WORLD, call, ELEMS - 1000 * (size_t) (call % 3), false);
        const double found[2] = {errors.nmse, errors.worst};

        tap_check(errors.off > 0, "call %d is exact", call);
        verified += call % every == 0;
        expect_number(verified, CALLS, call);
        for (int i = 0; i < 2; i++) {
            last[i] = call % every == 0 ? found[i] : last[i];
            worst[i] = fmax(worst[i], last[i]);
            expect_number(last[i], LAST_NMSE + i, call);
            expect_number(worst[i], WORST_NMSE + i, call);
        }
        const double bound = read_pvar(LAST_BOUND);
        tap_check(errors.here <= bound, "call %d: error %g, bound %g", call, errors.here, bound);
        slackest = fmax(slackest, bound / errors.here);
        worst_bound = fmax(worst_bound, bound);
        expect_number(worst_bound, WORST_BOUND, call);
    }
    tap_note("%d of %d calls verified: worst NMSE %.4e, worst error %.1f", verified, 3 * every + 1,
             worst[0], worst[1]);
    tap_case("MPI_T has the errors that the program finds, of every call number %d", every);
    tap_note("bounds are up to %.2f times the largest error", slackest);
    /* So many of these data that the largest error of a step is nearly reached in each. */
    tap_check(slackest < SLACK_MAX, "%g", slackest);
    tap_case("no error of any call is above the bound that it tells, nor far below");
}

static bool call_is_exact(MPI_Comm comm, int call)
{
    return one_call(comm, call, ELEMS, false).off == 0;
}

static void check_switch(int every)
{
    MPI_Comm other = dup_of(MPI_COMM_WORLD);
    for (int call = 1; call <= every + 3; call++) {
        tap_check(call_is_exact(MPI_COMM_WORLD, call) == (call >= every), "call %d is%s exact",
                  call, call < every ? "" : " not");
    }
    tap_check(read_pvar(CALLS) == 1, "%g calls are verified", read_pvar(CALLS));
    tap_check(read_pvar(LAST_NMSE) > 0, "the error of the verified call is %g",
              read_pvar(LAST_NMSE));
    tap_case("exact from the verified call on, that one included");
    for (int call = 1; call < every; call++) {
        tap_check(!call_is_exact(other, call), "call %d on another communicator is exact", call);
    }
    tap_case("another communicator is judged by its own calls");
    set_key(MPI_COMM_WORLD, "arc_quant", "on");
    for (int call = 4; call < every; call++) {
        tap_check(!call_is_exact(MPI_COMM_WORLD, call), "call %d after the key is exact", call);
    }
    tap_case("a program that sets the info key again begins anew");
    MPI_Comm_free(&other);
}

static void check_memory(int every)
{
    const size_t elems = LARGE_ELEMS / (collective == ALLREDUCE ? 1 : (size_t) world_ranks);

    for (int call = 1; call <= 2 * every; call++) {
        const errors_t errors = one_call(MPI_COMM_WORLD, call, elems, call == every);

        tap_check(errors.here <= read_pvar(LAST_BOUND), "call %d: error %g, bound %g", call,
                  errors.here, read_pvar(LAST_BOUND));
        tap_check(read_pvar(CALLS) == (call == 2 * every), "call %d: %g calls are verified", call,
                  read_pvar(CALLS));
    }
    tap_case("a call that has no memory to be verified is not, and the next one is");
}

static void check_target(double target)
{
    const call_t call = call_of(ALLREDUCE, draw_normals, NORMAL_ELEMS);
    const errors_t errors = call_run(&call, NULL);
    const double nmse = errors.mean_square / errors.mean_exact;

    tap_note("target %.1e on %d ranks: NMSE %.3e", target, world_ranks, nmse);
    tap_check(nmse < target, "NMSE is %.3e", nmse);
    /* Two bits less would be 16 times the error: then a cheaper format would have done. */
    tap_check(nmse > target / 100, "NMSE is only %.3e", nmse);
    tap_case("normal data stay below the target, but not by far");
}

int main(int argc, char **argv)
{
    const char *name = collective_names[ALLREDUCE];
    int every = 0;
    int switched = 0;
    int remembered = 0;
    double target = 0;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('c', name), OPTION('e', every), OPTION('s', switched),
                 OPTION('m', remembered), OPTION('t', target));
    collective = collective_named(name);
    open_pvars();
    if (every > 0) {
        check_numbers(every);
    } else if (switched > 0) {
        check_switch(switched);
    } else if (remembered > 0) {
        check_memory(remembered);
    } else {
        check_target(target);
    }
    close_pvars();
    return tap_end();
}
