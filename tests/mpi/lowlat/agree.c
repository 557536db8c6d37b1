/*
 * Exact sums on several communicators that are alive at the same time. What the
 * ranks of one job may set differently (parameters, the info key, the machine
 * around them) is up to the script: whatever a component makes of it, all ranks
 * must come back with the right sums.
 *
 *   -c N       communicators besides MPI_COMM_WORLD (default 1)
 *   -r N       rounds over all of them (default 3)
 *   -l N       leave out counts above N
 *   -k VALUE   this rank sets info key arc_quant to VALUE on each of them
 *   -s N       all of that on the first N ranks for themselves, and on the others
 *
 * Values are integers, far too fine for 8 bits: a sum that was quantized shows.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"

enum {
    COMMS_MAX = 64,
    LARGEST = 100003, /* floats: more than the 256 KiB from which coll_quant takes them */
    RANGE = 1 << 20,
};

static const int counts[] = {1, 14, 1000, 20011, LARGEST};

static int first_rank; /* of those that add up */
static int last_rank;
static int largest = LARGEST;
static float *floats;
static float *float_sums;
static double *doubles;
static double *double_sums;

static double value(int rank, int round, int i)
{
    return (double) (draw_bits(51, (unsigned) (rank + 64 * round), (uint64_t) i) % RANGE);
}

static void check_sums(MPI_Comm comm, int which, int round)
{
    for (size_t c = 0; c < sizeof counts / sizeof counts[0] && counts[c] <= largest; c++) {
        const int count = counts[c];
        const bool in_place = (which + round) % 2 == 0;

        for (int i = 0; i < count; i++) {
            floats[i] = (float) value(world_rank, round, i);
            doubles[i] = floats[i];
            float_sums[i] = floats[i];
            double_sums[i] = doubles[i];
        }
        MPI_Allreduce(in_place ? MPI_IN_PLACE : doubles, double_sums, count, MPI_DOUBLE, MPI_SUM,
                      comm);
        MPI_Allreduce(in_place ? MPI_IN_PLACE : floats, float_sums, count, MPI_FLOAT, MPI_SUM,
                      comm);
        for (int i = 0; i < count; i++) {
            double sum = 0;

            for (int rank = first_rank; rank <= last_rank; rank++) {
                sum += value(rank, round, i);
            }
            tap_check(double_sums[i] == sum, "communicator %d, %d doubles, element %d: %g, not %g",
                      which, count, i, double_sums[i], sum);
            tap_check((double) float_sums[i] == sum,
                      "communicator %d, %d floats, element %d: %g, not %g", which, count, i,
                      (double) float_sums[i], sum);
        }
    }
}

/* The ranks that this one adds up with: the first `split` ones, or the others. */
static MPI_Comm part_of_world(int split)
{
    MPI_Comm part;

    first_rank = world_rank < split ? 0 : split;
    last_rank = world_rank < split ? split - 1 : world_ranks - 1;
    if (split == 0) {
        return MPI_COMM_WORLD;
    }
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < split, world_rank, &part);
    return part;
}

int main(int argc, char **argv)
{
    int split = 0;
    MPI_Comm comms[COMMS_MAX];
    const char *wish = NULL;
    int communicators = 1;
    int rounds = 3;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('c', communicators), OPTION('r', rounds), OPTION('k', wish),
                 OPTION('l', largest), OPTION('s', split));
    if (communicators < 0 || communicators >= COMMS_MAX) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    floats = must_alloc(LARGEST * sizeof *floats);
    float_sums = must_alloc(LARGEST * sizeof *float_sums);
    doubles = must_alloc(LARGEST * sizeof *doubles);
    double_sums = must_alloc(LARGEST * sizeof *double_sums);
    comms[0] = part_of_world(split);
    for (int c = 1; c <= communicators; c++) {
        MPI_Comm_dup(comms[0], &comms[c]);
        if (wish != NULL) {
            set_key(comms[c], "arc_quant", wish);
        }
    }
    for (int round = 0; round < rounds; round++) {
        for (int c = 0; c <= communicators; c++) {
            check_sums(comms[c], c, round);
        }
    }
    tap_case("exact sums on %d communicators", communicators + 1);
    for (int c = 1; c <= communicators; c++) {
        MPI_Comm_free(&comms[c]);
    }
    free(floats);
    free(float_sums);
    free(doubles);
    free(double_sums);
    return tap_end();
}
