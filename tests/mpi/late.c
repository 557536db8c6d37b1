/*
 * One rank does not come to an allreduce. With a time limit set, the others get
 * an MPI error instead of waiting for ever, and every rank ends by itself.
 * What stderr must say about the missing rank is checked by the script.
 *
 *   -r RANK   who stays away (default 1)
 *   -w SEC    for how long (default 5); must be longer than the limit
 *   -n N      float elements of the sum (default 8), a size the component takes
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

enum { NORMAL_CALLS = 20 };

static int sum_ones(float *data, int count)
{
    for (int i = 0; i < count; i++) {
        data[i] = 1.0f;
    }
    return MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void check_before(float *data, int count, int ranks)
{
    for (int call = 0; call < NORMAL_CALLS; call++) {
        int code = sum_ones(data, count);

        tap_check(code == MPI_SUCCESS, "call %d returned %d", call, code);
        /* A quantized sum may be off by a step or two of its 8 bits. */
        tap_check(data[0] > 0.9f * (float) ranks && data[0] < 1.1f * (float) ranks,
                  "call %d: %g instead of %d", call, (double) data[0], ranks);
    }
    tap_case("%d calls before are right", NORMAL_CALLS);
}

static void check_without(float *data, int count, int missing, unsigned away_seconds)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == missing) {
        sleep(away_seconds);
    } else {
        double start = MPI_Wtime();
        int code = sum_ones(data, count);
        double waited_seconds = MPI_Wtime() - start;

        tap_check(code != MPI_SUCCESS, "returned success without rank %d", missing);
        tap_check(waited_seconds < away_seconds, "returned only after %.1f s", waited_seconds);
    }
    tap_case("all ranks but %d get an error within the time limit", missing);
}

int main(int argc, char **argv)
{
    int missing = 1;
    unsigned away_seconds = 5;
    int count = 8;
    int option;
    int ranks;

    MPI_Init(&argc, &argv);
    while ((option = getopt(argc, argv, "r:w:n:")) != -1) {
        if (option == 'r') {
            missing = atoi(optarg);
        } else if (option == 'w') {
            away_seconds = (unsigned) atoi(optarg);
        } else if (option == 'n') {
            count = atoi(optarg);
        } else {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tap_start();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    float *data = must_alloc((size_t) count * sizeof *data);
    check_before(data, count, ranks);
    check_without(data, count, missing, away_seconds);
    free(data);
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
