/*
 * Communicators of processes that were not started together. MPI_Comm_spawn, and
 * MPI_Comm_connect to MPI_Comm_accept between two halves of one job; in each round sums on the
 * intercommunicator, on what MPI_Intercomm_merge makes of it, and on a duplicate of that.
 *
 *   spawned spawn CHILDREN [COMMAND]   all ranks start so many more, of this program or by COMMAND
 *   spawned connect                    the lower ranks connect to the upper ones
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

enum { ROUNDS = 2, VERDICT_TAG = 1, INTER_SEED = 900, MERGED_SEED = 1, DUP_SEED = 2, OWN_SEED = 3 };

/* Collective over both groups of `inter`; `upper` is whether ours comes last in the merged one. */
static bool check_pair(MPI_Comm inter, bool upper)
{
    MPI_Comm merged = MPI_COMM_NULL;
    int local_ranks = 0;
    int remote_ranks = 0;
    int merged_ranks = 0;

    bool good = sums_check_inter(inter, INTER_SEED);
    MPI_Intercomm_merge(inter, upper, &merged);
    MPI_Comm_size(inter, &local_ranks);
    MPI_Comm_remote_size(inter, &remote_ranks);
    MPI_Comm_size(merged, &merged_ranks);
    good = tap_check(merged_ranks == local_ranks + remote_ranks, "%d ranks instead of %d + %d",
                     merged_ranks, local_ranks, remote_ranks) &&
           good;
    good = sums_check(merged, MERGED_SEED) && good;
    MPI_Comm dup = dup_of(merged);
    good = sums_check(dup, DUP_SEED) && good;
    MPI_Comm_free(&merged);
    good = sums_check(dup, DUP_SEED + OWN_SEED) && good;
    MPI_Comm_free(&dup);
    return sums_check(MPI_COMM_WORLD, OWN_SEED) && good;
}

/* A spawned process: each of them tells rank 0 of its parents how it went. */
static void be_child(MPI_Comm parents)
{
    int good = check_pair(parents, true);

    MPI_Send(&good, 1, MPI_INT, 0, VERDICT_TAG, parents);
    MPI_Comm_disconnect(&parents);
}

static void run_spawn(const char *program, int children)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm inter = MPI_COMM_NULL;

        MPI_Comm_spawn(program, MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
        (void) check_pair(inter, false);
        for (int child = 0; world_rank == 0 && child < children; child++) {
            int good = 0;

            MPI_Recv(&good, 1, MPI_INT, child, VERDICT_TAG, inter, MPI_STATUS_IGNORE);
            tap_check(good, "child %d has seen wrong sums", child);
        }
        MPI_Comm_disconnect(&inter);
        tap_case("round %d: sums with %d spawned processes", round, children);
    }
}

static void run_connect(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half = MPI_COMM_NULL;
    const int lower_ranks = world_ranks / 2;
    const bool upper = world_rank >= lower_ranks;

    MPI_Comm_split(MPI_COMM_WORLD, upper, world_rank, &half);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm inter = MPI_COMM_NULL;

        if (world_rank == lower_ranks) {
            MPI_Open_port(MPI_INFO_NULL, port);
        }
        MPI_Bcast(port, (int) sizeof port, MPI_CHAR, lower_ranks, MPI_COMM_WORLD);
        if (upper) {
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
        } else {
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
        }
        (void) check_pair(inter, upper);
        MPI_Comm_disconnect(&inter);
        if (world_rank == lower_ranks) {
            MPI_Close_port(port);
        }
        tap_case("round %d: sums of %d ranks that connected and %d that accepted", round,
                 lower_ranks, world_ranks - lower_ranks);
    }
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Comm parents = MPI_COMM_NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        be_child(parents);
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    tap_start();
    if (argc >= 3 && strcmp(argv[1], "spawn") == 0) {
        run_spawn(argv[argc > 3 ? 3 : 0], atoi(argv[2]));
    } else if (argc == 2 && strcmp(argv[1], "connect") == 0) {
        run_connect();
    } else {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return tap_end();
}
