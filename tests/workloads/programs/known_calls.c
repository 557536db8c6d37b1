/*
 * Makes allreduces whose number, lengths and waits are known, for the check of allreduce_time.c:
 *
 *     calls   of                bytes   how
 *         7   MPI_Allreduce         8   before one of them rank 1 is 50 ms late
 *         5   MPI_Allreduce      8192   in place
 *         2   MPI_Allreduce       100   on MPI_COMM_SELF
 *         3   MPI_Iallreduce       64   completed in another order than begun
 *         4   mpi_allreduce_       16   Fortran's; with -f only
 *
 * Exit status 1 if a sum is wrong.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SHORT = 7, LONG = 5, ALONE = 2, NONBLOCKING = 3, FROM_FORTRAN = 4 };
enum { LONG_COUNT = 1024, ALONE_COUNT = 25, NONBLOCKING_COUNT = 8, LATE_MS = 50 };

typedef void allreduce_fn_t(void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
                            MPI_Fint *);

static int rank, ranks;
static bool wrong;

static void expect(double found, double expected)
{
    if (found != expected) {
        fprintf(stderr, "rank %d: a sum is %g and not %g\n", rank, found, expected);
        wrong = true;
    }
}

static void make_short(void)
{
    const struct timespec late = {0, LATE_MS * 1000000L};

    for (int call = 0; call < SHORT; call++) {
        const double one = 1;
        double sum = 0;
        if (call == SHORT / 2 && rank == 1) {
            nanosleep(&late, NULL);
        }
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        expect(sum, ranks);
    }
}

static void make_long(void)
{
    double sums[LONG_COUNT];

    for (int call = 0; call < LONG; call++) {
        for (int i = 0; i < LONG_COUNT; i++) {
            sums[i] = i;
        }
        MPI_Allreduce(MPI_IN_PLACE, sums, LONG_COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        expect(sums[LONG_COUNT - 1], (double) ranks * (LONG_COUNT - 1));
    }
}

static void make_alone(void)
{
    for (int call = 0; call < ALONE; call++) {
        const float in[ALONE_COUNT] = {1};
        float out[ALONE_COUNT] = {0};
        MPI_Allreduce(in, out, ALONE_COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF);
        expect(out[0], 1);
    }
}

static void make_nonblocking(void)
{
    double in[NONBLOCKING][NONBLOCKING_COUNT] = {{0}};
    double out[NONBLOCKING][NONBLOCKING_COUNT] = {{0}};
    MPI_Request requests[NONBLOCKING];

    for (int call = 0; call < NONBLOCKING; call++) {
        in[call][0] = call;
        MPI_Iallreduce(in[call], out[call], NONBLOCKING_COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       &requests[call]);
    }
    for (int call = NONBLOCKING - 1; call >= 0; call--) {
        MPI_Wait(&requests[call], MPI_STATUS_IGNORE);
        expect(out[call][0], (double) ranks * call);
    }
}

/* As a Fortran program would: the symbol is that of the library which comes first. */
static void make_from_fortran(void)
{
    MPI_Fint count = 2;
    MPI_Fint type = MPI_Type_c2f(MPI_DOUBLE);
    MPI_Fint op = MPI_Op_c2f(MPI_SUM);
    MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_WORLD);
    MPI_Fint status = 0;
    allreduce_fn_t *allreduce;

    *(void **) &allreduce = dlopen("libmpi_mpifh.so.40", RTLD_NOW | RTLD_GLOBAL)
                                ? dlsym(RTLD_DEFAULT, "mpi_allreduce_")
                                : NULL;
    if (!allreduce) {
        fprintf(stderr, "no libmpi_mpifh.so.40 with mpi_allreduce_\n");
        wrong = true;
        return;
    }
    for (int call = 0; call < FROM_FORTRAN; call++) {
        double in[2] = {rank, 1};
        double out[2] = {0};
        allreduce(in, out, &count, &type, &op, &comm, &status);
        expect(out[1], ranks);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_short();
    make_long();
    make_alone();
    make_nonblocking();
    if (argc > 1 && strcmp(argv[1], "-f") == 0) {
        make_from_fortran();
    }
    MPI_Finalize();
    return wrong;
}
