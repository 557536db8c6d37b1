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
 *   -c NAME the collective: allreduce (default), reduce_scatter_block or allgather; in front
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
#include "shortage.h"

enum {
    ELEMS = 100003,
    RANGE = 1 << 16, /* in sixteenths, times 16 ranks, it is still exact in a float */
    NORMAL_ELEMS = 1 << 19,
    LARGE_ELEMS = 1 << 24, /* 64 MiB */
    SLACK_BYTES = 24 << 20,
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

/* The first half of a vector is four times as large as the second; ranks differ, too. */
static double value_of(int rank, int call, size_t i, size_t elems)
{
    const double value = (double) (draw_bits(83, (unsigned) (rank + 64 * call), i) % RANGE);

    return (value - RANGE / 2) / (i >= elems / 2 ? 4 : 1) / (1 << rank % 3);
}

static double sum_of(int call, size_t i, size_t elems)
{
    double sum = 0;

    for (int rank = 0; rank < world_ranks; rank++) {
        sum += value_of(rank, call, i, elems);
    }
    return sum;
}

/* Errors of a part of a result: sums of squares, the largest. */
typedef struct part_errors {
    double errors;
    double squares;
    double largest;
} part_errors_t;

static void note_error(part_errors_t *errors, double got, double exact)
{
    const double off = fabs(got - exact);

    errors->errors += off * off;
    errors->squares += exact * exact;
    errors->largest = fmax(errors->largest, off);
}

/* The numbers LAST_... of a result are at least those of `errors`. */
static void raise_error(double error[PVARS], const part_errors_t *errors)
{
    error[LAST_NMSE] = fmax(error[LAST_NMSE], errors->errors / errors->squares);
    error[LAST_ERROR] = fmax(error[LAST_ERROR], errors->largest);
}

/* ... over all ranks; by a call that no component of ours looks at. */
static void raise_to_all(double error[PVARS], MPI_Comm comm)
{
    double largest[PVARS];

    MPI_Reduce(error, largest, PVARS, MPI_DOUBLE, MPI_MAX, 0, comm);
    MPI_Bcast(largest, PVARS, MPI_DOUBLE, 0, comm);
    error[LAST_NMSE] = largest[LAST_NMSE];
    error[LAST_ERROR] = largest[LAST_ERROR];
}

/*
 * Received in every second place, if wide: a type that has to be packed, whatever other ranks
 * have.
 */
static void call_allgather(MPI_Comm comm, const float *send, float *receive, int block, bool wide)
{
    const size_t all = (size_t) block * (size_t) world_ranks;
    float *places = wide ? must_alloc(2 * all * sizeof *places) : receive;
    MPI_Datatype type = MPI_FLOAT;

    if (wide) {
        MPI_Type_create_resized(MPI_FLOAT, 0, 2 * sizeof(float), &type);
        MPI_Type_commit(&type);
    }
    MPI_Allgather(send, block, MPI_FLOAT, places, block, type, comm);
    if (wide) {
        for (size_t i = 0; i < all; i++) {
            receive[i] = places[2 * i];
        }
        MPI_Type_free(&type);
        free(places);
    }
}

/*
 * Call number `call` on `comm`, `elems` in a block: numbers LAST_... of its error, by our own
 * arithmetic, and in error[LAST_BOUND] the largest error on this rank.
 */
static void one_call(MPI_Comm comm, int call, size_t elems, double error[PVARS])
{
    const size_t all = elems * (size_t) world_ranks;
    const size_t parts = collective == ALLGATHER ? (size_t) world_ranks : 1;
    const size_t first = collective == REDUCE_SCATTER_BLOCK ? (size_t) world_rank * elems : 0;
    const size_t length = collective == REDUCE_SCATTER_BLOCK ? all : elems;
    const bool in_place = call % 2 == 0;
    SCOPED float *send = must_alloc(all * sizeof *send);
    SCOPED float *receive = must_alloc(all * sizeof *receive);

    memset(error, 0, PVARS * sizeof *error);
    for (size_t i = 0; i < length; i++) {
        send[i] = (float) value_of(world_rank, call, i, length);
        receive[i] = send[i];
    }
    if (collective == ALLREDUCE) {
        MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, (int) elems, MPI_FLOAT, MPI_SUM,
                      comm);
    } else if (collective == REDUCE_SCATTER_BLOCK) {
        MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : send, receive, (int) elems, MPI_FLOAT,
                                 MPI_SUM, comm);
    } else {
        call_allgather(comm, send, receive, (int) elems, world_rank == 0 && call % 3 == 0);
    }
    for (size_t part = 0; part < parts; part++) {
        part_errors_t errors = {0};

        for (size_t i = 0; i < elems; i++) {
            note_error(&errors, (double) receive[part * elems + i],
                       collective == ALLGATHER ? value_of((int) part, call, i, length)
                                               : sum_of(call, first + i, length));
        }
        error[LAST_BOUND] = fmax(error[LAST_BOUND], errors.largest);
        raise_error(error, &errors);
    }
    if (collective == REDUCE_SCATTER_BLOCK) {
        raise_to_all(error, comm);
    }
}

static void expect_number(double expected, int which, int call)
{
    const double value = read_pvar(which);

    tap_check(fabs(value - expected) <= tolerance * expected, "call %d: %s is %.17g, not %.17g",
              call, names[which], value, expected);
}

static void check_numbers(int every)
{
    double last[PVARS] = {0};
    double worst[PVARS] = {0};
    double worst_bound = 0;
    double slackest = 0;
    int verified = 0;

    for (int call = 1; call <= 3 * every + 1; call++) {
        double error[PVARS];

        /* Another length, so that the errors differ. */
        one_call(MPI_COMM_WORLD, call, ELEMS - 1000 * (size_t) (call % 3), error);
        tap_check(error[LAST_NMSE] > 0, "call %d is exact", call);
        if (call % every == 0) {
            verified++;
            for (int p = LAST_NMSE; p <= LAST_ERROR; p++) {
                last[p] = error[p];
                worst[p] = fmax(worst[p], error[p]);
            }
        }
        expect_number(verified, CALLS, call);
        for (int p = LAST_NMSE; p <= LAST_ERROR; p++) {
            expect_number(last[p], p, call);
            expect_number(worst[p], p - LAST_NMSE + WORST_NMSE, call);
        }
        const double bound = read_pvar(LAST_BOUND);
        tap_check(error[LAST_BOUND] <= bound, "call %d: error %g, bound %g", call,
                  error[LAST_BOUND], bound);
        slackest = fmax(slackest, bound / error[LAST_BOUND]);
        worst_bound = fmax(worst_bound, bound);
        expect_number(worst_bound, WORST_BOUND, call);
    }
    tap_note("%d of %d calls verified: worst NMSE %.4e, worst error %.1f", verified, 3 * every + 1,
             worst[LAST_NMSE], worst[LAST_ERROR]);
    tap_case("MPI_T has the errors that the program finds, of every call number %d", every);
    tap_note("bounds are up to %.2f times the largest error", slackest);
    /* So many of these data that the largest error of a step is nearly reached in each. */
    tap_check(slackest < SLACK_MAX, "%g", slackest);
    tap_case("no error of any call is above the bound that it tells, nor far below");
}

static bool call_is_exact(MPI_Comm comm, int call)
{
    double error[PVARS];

    one_call(comm, call, ELEMS, error);
    return error[LAST_NMSE] == 0;
}

static void check_switch(int every)
{
    MPI_Comm other;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
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

/*
 * A call on LARGE_ELEMS, `block` for each rank if it has blocks, in place if it can be: how many
 * are the result.
 */
static size_t call_in_place(float *data, float *own, size_t block)
{
    if (collective == REDUCE_SCATTER_BLOCK) {
        MPI_Reduce_scatter_block(MPI_IN_PLACE, data, (int) block, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
        return block;
    }
    if (collective == ALLGATHER) {
        MPI_Allgather(own, (int) block, MPI_FLOAT, data, (int) block, MPI_FLOAT, MPI_COMM_WORLD);
        return block * (size_t) world_ranks;
    }
    MPI_Allreduce(MPI_IN_PLACE, data, LARGE_ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return LARGE_ELEMS;
}

/* Of element i of the result, where element i of a rank's vector is rank + call + i % 1000. */
static double exact_in_place(int call, size_t i)
{
    const size_t block = (size_t) LARGE_ELEMS / (size_t) world_ranks;

    if (collective == ALLGATHER) {
        return (double) (i / block) + call + (double) (i % 1000);
    }
    if (collective == REDUCE_SCATTER_BLOCK) {
        i += (size_t) world_rank * block;
    }
    return world_ranks * (call + (double) (i % 1000)) + world_ranks * (world_ranks - 1) / 2.0;
}

static void check_memory(int every)
{
    const size_t block = (size_t) LARGE_ELEMS / (size_t) world_ranks;
    SCOPED float *data = must_alloc((size_t) LARGE_ELEMS * sizeof *data);
    SCOPED float *own = must_alloc(block * sizeof *own);

    for (int call = 1; call <= 2 * every; call++) {
        for (size_t i = 0; i < LARGE_ELEMS; i++) {
            data[i] = (float) (world_rank + call + (int) (i % 1000));
        }
        memcpy(own, data + (size_t) world_rank * block, block * sizeof *own);
        if (world_rank == world_ranks - 1 && call == every) {
            shortage_begin(SLACK_BYTES);
        }
        const size_t results = call_in_place(data, own, block);
        shortage_end();
        for (size_t i = 0; i < results; i++) {
            /* Ten steps of the scale for each rank. */
            tap_check(fabs((double) data[i] - exact_in_place(call, i)) < 100.0 * world_ranks,
                      "call %d, element %zu: %g", call, i, (double) data[i]);
        }
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

static collective_t collective_by_name(const char *name)
{
    collective_t found = ALLREDUCE;

    while (strcmp(name, collective_names[found]) != 0) {
        if (found == ALLGATHER) {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
        found++;
    }
    return found;
}

int main(int argc, char **argv)
{
    int option;

    tap_begin(&argc, &argv);
    open_pvars();
    while ((option = getopt(argc, argv, "c:e:s:m:t:")) != -1) {
        if (option == 'c') {
            collective = collective_by_name(optarg);
        } else if (option == 'e') {
            check_numbers(atoi(optarg));
        } else if (option == 's') {
            check_switch(atoi(optarg));
        } else if (option == 'm') {
            check_memory(atoi(optarg));
        } else if (option == 't') {
            check_target(atof(optarg));
        } else {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    close_pvars();
    return tap_end();
}
