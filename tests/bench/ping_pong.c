/*
 * The counters of bounce.h in memory that all ranks share, written by ranks 0 and 1.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stddef.h>

#include "ping_pong.h"

/* Those of each counter, and room to align. */
enum { SHARED_BYTES = (BOUNCE_SIDES + 1) * BOUNCE_SPACING_BYTES };

void ping_pong_init(ping_pong_t *ping_pong)
{
    MPI_Comm node;
    MPI_Aint bytes;
    int unit;
    int node_ranks;
    int rank;
    int ranks;
    void *memory = NULL;

    *ping_pong = (ping_pong_t){.window = MPI_WIN_NULL};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ping_pong->takes_part = rank < BOUNCE_SIDES;
    ping_pong->bounce.side = (unsigned) rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &node_ranks);
    /* Every rank finds the same: either one node has all of them, or none has. */
    if (ranks > 1 && node_ranks == ranks) {
        MPI_Win_allocate_shared(rank == 0 ? SHARED_BYTES : 0, 1, MPI_INFO_NULL, node, &memory,
                                &ping_pong->window);
        MPI_Win_shared_query(ping_pong->window, 0, &bytes, &unit, &memory);
        /* The same line on all ranks: shared memory is mapped in whole pages. */
        uintptr_t first = ((uintptr_t) memory + BOUNCE_SPACING_BYTES - 1) / BOUNCE_SPACING_BYTES *
                          BOUNCE_SPACING_BYTES;
        for (unsigned side = 0; side < BOUNCE_SIDES; side++) {
            uint64_t *counter = (uint64_t *) (first + side * (uintptr_t) BOUNCE_SPACING_BYTES);

            ping_pong->bounce.counter[side] = counter;
            if (rank == 0) {
                __atomic_store_n(counter, 0, __ATOMIC_RELEASE);
            }
        }
    }
    MPI_Comm_free(&node);
}

void ping_pong_fini(ping_pong_t *ping_pong)
{
    if (ping_pong->window != MPI_WIN_NULL) {
        MPI_Win_free(&ping_pong->window);
    }
}

double ping_pong_nanoseconds(ping_pong_t *ping_pong)
{
    double ns = 0;

    if (ping_pong->window == MPI_WIN_NULL) {
        return 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (ping_pong->takes_part) {
        ns = bounce_nanoseconds(&ping_pong->bounce);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return ping_pong->bounce.side == 0 ? ns : 0;
}
