/*
 * A program of an MPI session only (Open MPI 5.0 and later): nothing has made MPI_COMM_WORLD.  Sums
 * on a communicator that is made of a group, and on a part of it.
 *
 *   -w   and a nonblocking one of floats, which one rank starts before MPI_Init has made
 *        MPI_COMM_WORLD, and the others after it; to be run with coll_quant_enable 1
 *
 * One session: in a second one, after the first, plain Open MPI 5.0.7 waits for ever now and again.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

#if OMPI_MAJOR_VERSION >= 5
enum { ROUNDS = 4 };

/* harness.c would report by messages on MPI_COMM_WORLD. */
static void report(MPI_Comm comm, int wrong)
{
    int all_wrong = 0;
    int rank = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == 0) {
        printf("%s 1 - without MPI_COMM_WORLD: right sums\n1..1\n",
               all_wrong == 0 ? "ok" : "not ok");
        fflush(stdout);
    }
}

/* How many elements of a sum of ones are wrong that is pending while MPI_Init runs, on rank 0. */
static int sum_around_init(MPI_Comm comm, int rank)
{
    enum { ELEMS = 1 << 18 };
    SCOPED float *ones = must_alloc(ELEMS * sizeof *ones);
    SCOPED float *sums = must_alloc(ELEMS * sizeof *sums);
    MPI_Request request = MPI_REQUEST_NULL;
    int ranks = 0;
    int wrong = 0;

    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < ELEMS; i++) {
        ones[i] = 1;
    }
    /* So that the set-up is over, and too little is known to tell what is faster. */
    MPI_Allreduce(ones, sums, ELEMS, MPI_FLOAT, MPI_SUM, comm);
    MPI_Allreduce(ones, sums, ELEMS, MPI_FLOAT, MPI_SUM, comm);
    if (rank > 0) {
        MPI_Init(NULL, NULL);
    }
    MPI_Iallreduce(ones, sums, ELEMS, MPI_FLOAT, MPI_SUM, comm, &request);
    if (rank == 0) {
        MPI_Init(NULL, NULL);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ELEMS; i++) {
        wrong += fabsf(sums[i] - (float) ranks) > 1e-3f;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const bool makes_world = argc > 1 && strcmp(argv[1], "-w") == 0;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm part = MPI_COMM_NULL;
    int rank = 0;
    int wrong = 0;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "arc.tests", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split(comm, rank % 2, -rank, &part);
    for (int round = 0; round < ROUNDS; round++) {
        wrong += !sums_check(comm, (uint64_t) round);
        wrong += !sums_check(part, (uint64_t) round);
    }
    wrong += makes_world ? sum_around_init(comm, rank) : 0;
    report(comm, wrong);
    MPI_Comm_free(&part);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    if (makes_world) {
        MPI_Finalize();
    }
    MPI_Session_finalize(&session);
    return EXIT_SUCCESS;
}
#else
int main(void)
{
    return EXIT_FAILURE;
}
#endif
