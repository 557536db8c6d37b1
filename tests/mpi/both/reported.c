/*
 * Calls whose numbers a script compares with the files of coll_arc_report_file (test_report.sh):
 *
 *   every rank        SHORT sums of 8 bytes, LONG of 80000, PENDING nonblocking ones of 8, on
 *                     MPI_COMM_WORLD; before the last short one rank `late` sleeps for LATE_US
 *                     PASSED of 80000 by an operation of the program
 *   even, odd ranks   HALF sums of 8 bytes
 *
 *   -l RANK   who is late, default: 3
 *   -p        the variables of MPI_T of coll_lowlat tell the same
 *
 * The sums are right.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "persistent.h"
#include "pvars.h"

enum {
    SHORT = 100,
    LONG = 10,
    PENDING = 7,
    PASSED = 3,
    HALF = 20,
    LONG_ELEMS = 10000,
    LATE_US = 300000
};

static long late = 3;
static bool has_pvars;

static void add_doubles(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) {
        ((double *) inout)[i] += ((const double *) in)[i];
    }
}

/* Sums of `count` ones. */
static void add(int calls, int count, MPI_Op op, bool pending, MPI_Comm comm)
{
    SCOPED double *vector = must_alloc((size_t) count * sizeof *vector);
    int ranks = 0;

    MPI_Comm_size(comm, &ranks);
    for (int call = 0; call < calls; call++) {
        for (int i = 0; i < count; i++) {
            vector[i] = 1;
        }
        if (pending) {
            nonblocking_allreduce(MPI_IN_PLACE, vector, count, MPI_DOUBLE, op, comm);
        } else {
            MPI_Allreduce(MPI_IN_PLACE, vector, count, MPI_DOUBLE, op, comm);
        }
        tap_check(vector[0] == ranks && vector[count - 1] == ranks, "call %d", call);
    }
}

static const char *const names[] = {
    "coll_lowlat_comm_served_calls", "coll_lowlat_comm_served_bytes",
    "coll_lowlat_comm_passed_calls", "coll_lowlat_comm_passed_bytes",
    "coll_lowlat_comm_last_call",
};
enum { PVARS = sizeof names / sizeof names[0], LAST_CALL = PVARS - 1 };

int main(int argc, char **argv)
{
    MPI_Comm half;
    MPI_Op op;
    MPI_Comm world = MPI_COMM_WORLD;
    pvar_t pvars[PVARS];
    char text[PVAR_NAME_BYTES];

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('l', late), OPTION('p', has_pvars));
    MPI_Op_create(add_doubles, 1, &op);
    pvars_begin();
    for (int i = 0; has_pvars && i < PVARS; i++) {
        tap_check(pvar_open(&pvars[i], names[i], &world), "%s is not there", names[i]);
    }
    add(SHORT - 1, 1, MPI_SUM, false, world);
    add(LONG, LONG_ELEMS, MPI_SUM, false, world);
    add(PENDING, 1, MPI_SUM, true, world);
    add(PASSED, LONG_ELEMS, op, false, world);
    if (has_pvars) {
        pvar_name(&pvars[LAST_CALL], (int) pvar_read(&pvars[LAST_CALL]), text);
        tap_check(strstr(text, "passed down: no algorithm here is for") != NULL, "last: %s", text);
    }
    if (world_rank == late) {
        usleep(LATE_US);
    }
    add(1, 1, MPI_SUM, false, world);
    MPI_Comm_split(world, world_rank % 2, world_rank, &half);
    add(HALF, 1, MPI_SUM, false, half);
    MPI_Comm_free(&half);
    if (has_pvars) {
        const double values[] = {
            SHORT + LONG + PENDING,
            sizeof(double) * (SHORT + LONG * LONG_ELEMS + PENDING),
            PASSED,
            sizeof(double) * PASSED * LONG_ELEMS,
        };
        for (int i = 0; i < LAST_CALL; i++) {
            tap_check(pvar_read(&pvars[i]) == values[i], "%s is %g, not %g", names[i],
                      pvar_read(&pvars[i]), values[i]);
        }
        pvar_name(&pvars[LAST_CALL], (int) pvar_read(&pvars[LAST_CALL]), text);
        tap_check(strcmp(text, "oneshot") == 0, "last: %s", text);
        for (int i = 0; i < PVARS; i++) {
            pvar_close(&pvars[i]);
        }
    }
    pvars_end();
    MPI_Op_free(&op);
    tap_case("%d ranks", world_ranks);
    return tap_end();
}
