/*
 * Many communicators with nonblocking sums where address space is short, as batch systems limit it:
 * what one sum needs serves the next one, and those that are pending at the same time wait for each
 * other.  To be run where sums cannot be tasks: between nodes.
 *
 *   -c N   communicators (default 300)
 *   -m N   MiB that the process may take more than it has after MPI_Init (default 256)
 *   -p     the sums of all communicators are pending at the same time
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "footprint.h"
#include "harness.h"

enum { MOST = 1000, SUMS = 3 };

static void start(MPI_Comm comm, int *in, int *out, MPI_Request *request)
{
    *in = 1;
    *out = 0;
    tap_check(MPI_SUCCESS == MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, request),
              "a start fails");
}

static void finish(const int *out, int ranks, MPI_Request *request)
{
    tap_check(MPI_SUCCESS == MPI_Wait(request, MPI_STATUS_IGNORE), "a sum fails");
    tap_check(ranks == *out, "a sum is %d", *out);
}

int main(int argc, char **argv)
{
    static MPI_Comm comms[MOST];
    static MPI_Request requests[MOST];
    static int in[MOST];
    static int out[MOST];
    int count = 300;
    size_t more_mib = 256;
    bool all_pending = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('c', count), OPTION('m', more_mib), OPTION('p', all_pending));
    shortage_begin(more_mib << 20);
    for (int i = 0; i < count; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (int sum = 0; sum < SUMS; sum++) {
        for (int i = 0; i < count; i++) {
            start(comms[i], &in[i], &out[i], &requests[i]);
            if (!all_pending) {
                finish(&out[i], world_ranks, &requests[i]);
            }
        }
        for (int i = 0; all_pending && i < count; i++) {
            finish(&out[i], world_ranks, &requests[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        MPI_Comm_free(&comms[i]);
    }
    tap_case("%d communicators, %zu MiB", count, more_mib);
    return tap_end();
}
