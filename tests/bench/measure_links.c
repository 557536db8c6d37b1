/*
 * Alpha, beta and gamma of the machine that it runs on, as tests/bench/crossovers reads them:
 *
 *   mpirun ... measure_links
 *
 * Messages go both ways at once between pairs of ranks: neighbours on a node, and ranks of equal
 * number on neighbouring nodes, all pairs at the same time, because that is how an allreduce uses
 * the links.  alpha is the median of many exchanges of 8 bytes, beta follows from that of 32 KiB.
 * Of all ranks the slowest counts.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>

#include <mpi.h>

#include "../lib/seconds.h"

enum {
    TAG = 1,
    SHORT_BYTES = 8,
    LONG_BYTES = 32 << 10,
    WARM_UP = 10,
    EXCHANGES = 201, /* odd: has a median */
    ADDITIONS = 101,
    VECTOR_FLOATS = 16 << 10,
};

static char source[LONG_BYTES];
static char target[LONG_BYTES];
static float left[VECTOR_FLOATS];
static float right[VECTOR_FLOATS];

/* Seconds of an exchange with `partner`; 0 if there is none. */
static double time_exchange(MPI_Comm comm, int partner, int bytes)
{
    double seconds[EXCHANGES] = {0};

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = -WARM_UP; i < EXCHANGES && MPI_PROC_NULL != partner; ++i) {
        const double begin = MPI_Wtime();
        MPI_Sendrecv(source, bytes, MPI_BYTE, partner, TAG, target, bytes, MPI_BYTE, partner, TAG,
                     comm, MPI_STATUS_IGNORE);
        seconds[i < 0 ? 0 : i] = MPI_Wtime() - begin;
    }
    return seconds_median(seconds, EXCHANGES);
}

/* Print alpha and beta of the pairs of neighbours in `comm`. */
static void print_level(MPI_Comm comm, const char *level)
{
    int rank = 0;
    int ranks = 0;
    int self = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    const int partner = (rank ^ 1) < ranks ? rank ^ 1 : MPI_PROC_NULL;
    double seconds[] = {time_exchange(comm, partner, SHORT_BYTES),
                        time_exchange(comm, partner, LONG_BYTES)};
    MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (0 == self) {
        printf("alpha_%s %.3e\n", level, seconds[0]);
        printf("beta_%s %.3e\n", level, (seconds[1] - seconds[0]) / (LONG_BYTES - SHORT_BYTES));
    }
}

/* Seconds to add a byte, while all ranks do. */
static double time_addition(void)
{
    double seconds[ADDITIONS];

    for (int i = 0; i < ADDITIONS; ++i) {
        const double begin = MPI_Wtime();
        MPI_Reduce_local(left, right, VECTOR_FLOATS, MPI_FLOAT, MPI_SUM);
        seconds[i] = MPI_Wtime() - begin;
    }
    return seconds_median(seconds, ADDITIONS) / sizeof left;
}

int main(int argc, char **argv)
{
    MPI_Comm node;
    MPI_Comm others;
    int rank = 0;
    int local = 0;
    int local_ranks = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local);
    MPI_Comm_size(node, &local_ranks);
    MPI_Comm_split(MPI_COMM_WORLD, local, rank, &others);

    print_level(node, "intra");
    print_level(others, "inter");
    double gamma = time_addition();
    MPI_Allreduce(MPI_IN_PLACE, &gamma, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &local_ranks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("gamma %.3e\neta 1\nranks_per_node %d\nlabel measured\n", gamma, local_ranks);
    }
    MPI_Comm_free(&others);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
