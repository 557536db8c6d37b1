/*
 * The collectives that components of ours may take, and those that Open MPI's own components make
 * of them, on MPI_COMM_WORLD, a duplicate and its halves: right sums, whatever lies above or below.
 *
 *   -l N   longest vector, in elements (default 1000)
 *
 * Integers are exact in any order. Floats are small integers of one magnitude, which are right to
 * half a step of eight bits where they are quantized.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

enum { DEFAULT_ELEMS = 1000, RANGE = 100 };

static int longest = DEFAULT_ELEMS;

/* Element `i` of rank `rank`. */
static int number_at(int rank, int i)
{
    return rank + 1 + i % RANGE;
}

static int sum_at(int ranks, int i)
{
    return ranks * (ranks + 1) / 2 + ranks * (i % RANGE);
}

static void check_allreduce(MPI_Comm comm, int count)
{
    int rank = 0;
    int ranks = 0;
    SCOPED int *in = must_alloc((size_t) count * sizeof *in);

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    (void) sums_of(comm, MPI_INT, count, count, false);
    for (int i = 0; i < count; i++) {
        in[i] = number_at(rank, i);
    }
    tap_check(MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS,
              "maximum of %d fails", count);
    for (int i = 0; i < count; i++) {
        tap_check(in[i] == number_at(ranks - 1, i), "maximum of %d: element %d is %d", count, i,
                  in[i]);
    }
}

static void check_halves(MPI_Comm comm, int count)
{
    int rank = 0;
    int ranks = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    SCOPED float *all = must_alloc((size_t) (count * ranks) * sizeof *all);
    SCOPED float *own = must_alloc((size_t) count * sizeof *own);
    for (int i = 0; i < count * ranks; i++) {
        all[i] = (float) number_at(rank, i);
    }
    tap_check(MPI_Reduce_scatter_block(all, own, count, MPI_FLOAT, MPI_SUM, comm) == MPI_SUCCESS,
              "reduce_scatter_block of %d fails", count);
    for (int i = 0; i < count; i++) {
        const float exact = (float) sum_at(ranks, rank * count + i);
        tap_check(own[i] > exact * 0.9f - 1 && own[i] < exact * 1.1f + 1,
                  "reduce_scatter_block of %d: element %d is %g, not %g", count, i, (double) own[i],
                  (double) exact);
        own[i] = (float) number_at(rank, i);
    }
    tap_check(MPI_Allgather(own, count, MPI_FLOAT, all, count, MPI_FLOAT, comm) == MPI_SUCCESS,
              "allgather of %d fails", count);
    for (int i = 0; i < count * ranks; i++) {
        const float exact = (float) number_at(i / count, i % count);
        tap_check(all[i] > exact - 2 && all[i] < exact + 2,
                  "allgather of %d: element %d is %g, not %g", count, i, (double) all[i],
                  (double) exact);
    }
}

static void check_sums(MPI_Comm comm)
{
    for (int count = 1; count <= longest; count *= 10) {
        check_allreduce(comm, count);
        check_halves(comm, count);
        MPI_Barrier(comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Comm half = MPI_COMM_NULL;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('l', longest));
    check_sums(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    check_sums(duplicate);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    check_sums(half);
    check_sums(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Comm_free(&duplicate);
    tap_case("right results on all communicators");
    return tap_end();
}
