/*
 * One-sided communication, for which Open MPI makes a communicator and shared memory of its own:
 * windows come and go between sums, and what was put, added and fetched is what must be there.
 *
 *   -n N   windows of each kind (default 50)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

/* A window: what the left neighbour puts, what all add up, and what stays as its owner left it. */
enum { PUT, ADDED, OWN, WORDS };
enum { OWN_VALUE = 77, SUMS_EVERY = 10 };

static const char *const names[] = {"MPI_Win_allocate", "MPI_Win_allocate_shared",
                                    "MPI_Win_create"};
enum { KINDS = sizeof names / sizeof names[0] };

static int *make_window(int kind, MPI_Win *window)
{
    static int memory[WORDS]; /* for one that is made over memory that is there already */
    const MPI_Aint bytes = sizeof memory;
    int *words = memory;

    if (kind == 0) {
        MPI_Win_allocate(bytes, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &words, window);
    } else if (kind == 1) {
        MPI_Win_allocate_shared(bytes, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &words,
                                window);
    } else {
        MPI_Win_create(memory, bytes, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, window);
    }
    return words;
}

static void use_window(int *words, MPI_Win window, int turn)
{
    const int right = (world_rank + 1) % world_ranks;
    const int left = (world_rank + world_ranks - 1) % world_ranks;
    const int all = world_ranks * (world_ranks - 1) / 2 + world_ranks * turn;
    const int mine = world_rank + turn;
    int seen = 0;

    words[PUT] = -1;
    words[ADDED] = 0;
    words[OWN] = OWN_VALUE + world_rank;
    MPI_Win_fence(0, window);
    MPI_Put(&mine, 1, MPI_INT, right, PUT, 1, MPI_INT, window);
    for (int target = 0; target < world_ranks; target++) {
        MPI_Accumulate(&mine, 1, MPI_INT, target, ADDED, 1, MPI_INT, MPI_SUM, window);
    }
    MPI_Win_fence(0, window);
    (void) sums_check_once(MPI_COMM_WORLD, (uint64_t) turn);
    tap_check(words[PUT] == left + turn, "turn %d: %d was put instead of %d", turn, words[PUT],
              left + turn);
    tap_check(words[ADDED] == all, "turn %d: %d was added instead of %d", turn, words[ADDED], all);
    MPI_Get(&seen, 1, MPI_INT, left, OWN, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    tap_check(seen == OWN_VALUE + left, "turn %d: fetched %d", turn, seen);
}

int main(int argc, char **argv)
{
    int turns = 50;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('n', turns));
    for (int kind = 0; kind < KINDS; kind++) {
        for (int turn = 0; turn < turns; turn++) {
            MPI_Win window = MPI_WIN_NULL;
            int *words = make_window(kind, &window);

            use_window(words, window, turn);
            MPI_Win_free(&window);
            if (turn % SUMS_EVERY == 0) {
                (void) sums_check(MPI_COMM_WORLD, (uint64_t) turn);
            }
        }
        tap_case("%d times %s, with sums between", turns, names[kind]);
    }
    return tap_end();
}
