/*
 * What MPI sees of the test cluster.
 *
 *   cluster_probe                a line per rank: rank, host, ranks that share memory with it
 *   cluster_probe BYTES COUNT    from the first rank to the last one and nothing beside it:
 *                                COUNT messages of BYTES in a row, answered by one small message,
 *                                and then a ping-pong of one byte
 *
 * The stream's rate is data only, without the headers that are on the wire too. One stream before
 * the timed one opens the connection and TCP's window; the best of a few is printed, as other work
 * of the machine can only slow a stream down.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

enum {
    TAG = 1,
    WINDOW = 8,      /* messages under way: the wire never waits for a receive */
    STREAMS = 3,     /* timed ones */
    PING_PONGS = 500 /* timed ones, after as many untimed */
};

static void print_places(int rank)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int host_length;
    MPI_Get_processor_name(host, &host_length);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    int node_ranks;
    MPI_Comm_size(node, &node_ranks);
    MPI_Comm_free(&node);
    printf("rank %d on %s shares memory with %d\n", rank, host, node_ranks - 1);
}

/* Seconds for COUNT messages from rank 0 to `last` and the answer. */
static double stream(int rank, int last, char *data, int bytes, int count)
{
    char answer = 0;
    MPI_Request requests[WINDOW];
    for (int slot = 0; slot < WINDOW; slot++) {
        requests[slot] = MPI_REQUEST_NULL;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < count && (0 == rank || last == rank); i++) {
        const int slot = i % WINDOW;
        MPI_Request *request = &requests[slot];
        MPI_Wait(request, MPI_STATUS_IGNORE);
        if (0 == rank) {
            MPI_Isend(data, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD, request);
        } else {
            MPI_Irecv(data + (size_t) slot * bytes, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
                      request);
        }
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (0 == rank) {
        MPI_Recv(&answer, 1, MPI_BYTE, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (last == rank) {
        MPI_Send(&answer, 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - start;
}

/* Seconds of one way. */
static double ping_pong(int rank, int last)
{
    char ball = 0;
    double start = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 * PING_PONGS && (0 == rank || last == rank); i++) {
        if (PING_PONGS == i) {
            start = MPI_Wtime();
        }
        if (0 == rank) {
            MPI_Send(&ball, 1, MPI_BYTE, last, TAG, MPI_COMM_WORLD);
        }
        MPI_Recv(&ball, 1, MPI_BYTE, 0 == rank ? last : 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (0 != rank) {
            MPI_Send(&ball, 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / (2 * PING_PONGS);
}

int main(int argc, char **argv)
{
    int rank;
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (1 == argc) {
        print_places(rank);
        MPI_Finalize();
        return 0;
    }
    const int bytes = atoi(argv[1]);
    const int count = 3 == argc ? atoi(argv[2]) : 0;
    if (bytes < 1 || count < 1 || ranks < 2) {
        fprintf(stderr, "usage: cluster_probe [BYTES COUNT], the latter on two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    char *data = calloc((size_t) bytes, WINDOW);
    if (NULL == data) {
        fprintf(stderr, "no memory for messages of %d bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    stream(rank, ranks - 1, data, bytes, count);
    double best_seconds = stream(rank, ranks - 1, data, bytes, count);
    for (int i = 1; i < STREAMS; i++) {
        const double seconds = stream(rank, ranks - 1, data, bytes, count);
        best_seconds = seconds < best_seconds ? seconds : best_seconds;
    }
    const double way_seconds = ping_pong(rank, ranks - 1);
    if (0 == rank) {
        printf("stream %.1f Mbit/s\n", 8.0 * bytes * count / best_seconds / 1e6);
        printf("one way %.1f us\n", way_seconds * 1e6);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
