/*
 * What MPI sees of the test cluster.
 *
 *   cluster_probe                a line per rank: rank, host, ranks that share memory with it
 *   cluster_probe ring BYTES COUNT
 *                                from each rank to the next one, all at the same time: COUNT
 *                                messages of BYTES in a row
 *   cluster_probe burst BYTES COUNT
 *                                from the first rank to the last one, COUNT times a message of
 *                                BYTES behind a pause in which nothing is sent
 *
 * Rates are of data only, without the headers that are on the wire too. One ring before the timed
 * ones opens the connections and TCP's window; the best of a few is printed, as other work of the
 * machine can only slow them down. The nodes are one machine with one clock: a message carries
 * the time at which it was sent.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "../lib/seconds.h"

enum {
    TAG = 1,
    WINDOW = 8,        /* messages under way: the wire never waits for a receive */
    RINGS = 3,         /* timed ones */
    BURSTS_BEFORE = 5, /* untimed ones */
    PAUSE_NS = 5000000 /* long enough to fill any bucket of the link */
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

/* Seconds for COUNT messages from every rank to the next one. */
static double time_ring(int rank, int last, char *data, int bytes, int count)
{
    const int to = (rank + 1) % (last + 1);
    const int from = (rank + last) % (last + 1);
    MPI_Request requests[2 * WINDOW];
    for (int slot = 0; slot < 2 * WINDOW; slot++) {
        requests[slot] = MPI_REQUEST_NULL;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = seconds_now();
    for (int i = 0; i < count; i++) {
        const int slot = i % WINDOW;
        MPI_Request *pair = &requests[2 * slot];
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        MPI_Irecv(data + (size_t) slot * bytes, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                  &pair[0]);
        MPI_Isend(data + (size_t) WINDOW * bytes, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD,
                  &pair[1]);
    }
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds_now() - start;
}

static void print_ring(int rank, int last, char *data, int bytes, int count)
{
    time_ring(rank, last, data, bytes, count);
    double best_seconds = time_ring(rank, last, data, bytes, count);
    for (int i = 1; i < RINGS; i++) {
        best_seconds = fmin(best_seconds, time_ring(rank, last, data, bytes, count));
    }
    if (0 == rank) {
        printf("ring %.1f Mbit/s\n", 8.0 * bytes * count / best_seconds / 1e6);
    }
}

static void print_burst(int rank, int last, char *data, int bytes, int count)
{
    double *seconds = calloc((size_t) count, sizeof *seconds);
    if (NULL == seconds) {
        fprintf(stderr, "no memory for %d times\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* The first ones open the connection and TCP's window. */
    for (int i = -BURSTS_BEFORE; i < count; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const struct timespec pause = {.tv_nsec = PAUSE_NS};
        nanosleep(&pause, NULL);
        double sent = seconds_now();
        if (0 == rank) {
            memcpy(data, &sent, sizeof sent);
            MPI_Send(data, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD);
        } else if (last == rank) {
            MPI_Recv(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            memcpy(&sent, data, sizeof sent);
            seconds[i < 0 ? 0 : i] = seconds_now() - sent;
        }
    }
    if (last == rank) {
        const double median = seconds_median(seconds, (size_t) count);
        printf("burst %.1f us, median %.1f us\n", seconds[0] * 1e6, median * 1e6);
    }
    free(seconds);
}

static int usage(void)
{
    fprintf(stderr, "usage: cluster_probe [ring|burst BYTES COUNT], on two ranks or more\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
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
    const int bytes = 4 == argc ? atoi(argv[2]) : 0;
    const int count = 4 == argc ? atoi(argv[3]) : 0;
    if (bytes < (int) sizeof(double) || count < 1 || ranks < 2) {
        return usage();
    }
    char *data = calloc((size_t) bytes, WINDOW + 1);
    if (NULL == data) {
        fprintf(stderr, "no memory for messages of %d bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (0 == strcmp(argv[1], "burst")) {
        print_burst(rank, ranks - 1, data, bytes, count);
    } else if (0 == strcmp(argv[1], "ring")) {
        print_ring(rank, ranks - 1, data, bytes, count);
    } else {
        return usage();
    }
    free(data);
    MPI_Finalize();
    return 0;
}
