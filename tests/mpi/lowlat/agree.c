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
#include "sums.h"

enum {
    COMMS_MAX = 64,
    LARGEST = 100003, /* floats: more than the 256 KiB from which coll_quant takes them */
};

static const int counts[] = {1, 14, 1000, 20011, LARGEST};

static int largest = LARGEST;

static void check_sums(MPI_Comm comm, int which, int round)
{
    for (size_t c = 0; c < sizeof counts / sizeof counts[0] && counts[c] <= largest; c++) {
        (void) sums_of(comm, MPI_DOUBLE, counts[c], round, (which + round) % 2 == 0);
        (void) sums_of(comm, MPI_FLOAT, counts[c], round, (which + round) % 2 == 0);
    }
}

/* The ranks that this one adds up with: the first `split` ones, or the others. */
static MPI_Comm part_of_world(int split)
{
    MPI_Comm part;

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
    return tap_end();
}
