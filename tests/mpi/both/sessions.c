/*
 * A program of an MPI session only (Open MPI 5.0 and later): nothing has made MPI_COMM_WORLD.  Sums
 * on a communicator that is made of a group, and on a part of it.
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

int main(void)
{
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
    report(comm, wrong);
    MPI_Comm_free(&part);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return EXIT_SUCCESS;
}
#else
int main(void)
{
    return EXIT_FAILURE;
}
#endif
