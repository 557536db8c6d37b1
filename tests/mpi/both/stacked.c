/*
 * The collectives that components of ours may take, and those that Open MPI's own components make
 * of them, on MPI_COMM_WORLD, a duplicate and its halves: right sums, whatever lies above or below.
 *
 *   -l N   longest vector, in elements (default 1000)
 *
 * Integers are exact in any order. Floats are whole numbers, off by no more than a step of eight
 * bits for each rounding where they are quantized.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "harness.h"

enum { DEFAULT_ELEMS = 1000 };

static int longest = DEFAULT_ELEMS;

static void check_call(call_t call, MPI_Comm comm)
{
    int ranks = 0;

    MPI_Comm_size(comm, &ranks);
    call.comm = comm;
    /* Of numbers to WHOLE_RANGE in eight bits; a partial sum of k ranks has k times it. */
    const double half_step = call.numbers.type == MPI_INT ? 0 : WHOLE_RANGE / 127.0 / 2;
    const errors_t errors = call_run(&call, NULL);
    const double most = half_step * (ALLGATHER == call.collective ? 1 : ranks * (ranks + 1) / 2);
    tap_check(errors.worst <= most && !isnan(errors.mean_square), "%s of %zu is off by %g",
              collective_names[call.collective], call.elems, errors.worst);
}

static void check_sums(MPI_Comm comm)
{
    for (int count = 1; count <= longest; count *= 10) {
        call_t integers = call_of(ALLREDUCE, draw_wholes, (size_t) count);

        integers.numbers = numbers_named("int");
        check_call(integers, comm);
        integers.op = MPI_MAX;
        integers.in_place = true;
        check_call(integers, comm);
        check_call(call_of(REDUCE_SCATTER_BLOCK, draw_wholes, (size_t) count), comm);
        check_call(call_of(ALLGATHER, draw_wholes, (size_t) count), comm);
        MPI_Barrier(comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half = MPI_COMM_NULL;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('l', longest));
    check_sums(MPI_COMM_WORLD);
    MPI_Comm duplicate = dup_of(MPI_COMM_WORLD);
    check_sums(duplicate);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    check_sums(half);
    check_sums(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Comm_free(&duplicate);
    tap_case("right results on all communicators");
    return tap_end();
}
