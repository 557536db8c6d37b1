/*
 * A ball in shared memory that only ranks 0 and 1 touch. Rank 0 sets it to an odd
 * number, rank 1 answers with the next even one:
 *
 *   rank 0   set 2k+1, poll for 2k+2      rank 1   poll for 2k+1, set 2k+2
 *
 * The line moves twice per round trip. The numbers go on from one measurement to
 * the next, so that nobody has to reset the ball. The polls yield after a while,
 * and so come to an end also where both ranks share a core; the result is then
 * the time of the scheduler, not of the cache.
 *
 * The median of a few batches: a batch that an interrupt hit does not count, and
 * neither does the first one, which finds the line somewhere else.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <sched.h>
#include <stdlib.h>

#include "ping_pong.h"

enum {
    LINE_BYTES = 64,
    /* The ball's line, the one that the prefetcher pairs with it, and room to align. */
    SHARED_BYTES = 4 * LINE_BYTES,
    BATCHES = 5,
    BATCH_TRIPS = 20, /* with the first batch 120 in all: 60 us where half of one takes 0.25 us */
    POLLS_BEFORE_YIELD = 1000, /* tens of microseconds, far more than any round trip */
};

static const double ns_per_second = 1e9;

void ping_pong_init(ping_pong_t *ping_pong)
{
    MPI_Comm node;
    MPI_Aint bytes;
    int unit;
    int node_ranks;
    int ranks;
    void *memory = NULL;

    *ping_pong = (ping_pong_t){.window = MPI_WIN_NULL};
    MPI_Comm_rank(MPI_COMM_WORLD, &ping_pong->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &node_ranks);
    /* Every rank finds the same: either one node has all of them, or none has. */
    if (ranks > 1 && node_ranks == ranks) {
        MPI_Win_allocate_shared(ping_pong->rank == 0 ? SHARED_BYTES : 0, 1, MPI_INFO_NULL, node,
                                &memory, &ping_pong->window);
        MPI_Win_shared_query(ping_pong->window, 0, &bytes, &unit, &memory);
        /* The same line on all ranks: shared memory is mapped in whole pages. */
        uintptr_t pair = 2 * (uintptr_t) LINE_BYTES;
        ping_pong->ball = (uint64_t *) (((uintptr_t) memory + pair - 1) / pair * pair);
        if (ping_pong->rank == 0) {
            __atomic_store_n(ping_pong->ball, 0, __ATOMIC_RELEASE);
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

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void await(const uint64_t *ball, uint64_t number)
{
    unsigned polls = 0;

    while (__atomic_load_n(ball, __ATOMIC_ACQUIRE) != number) {
        pause_core();
        if (++polls == POLLS_BEFORE_YIELD) {
            polls = 0;
            (void) sched_yield();
        }
    }
}

/* One batch, on ranks 0 and 1; returns its seconds. */
static double bounce(ping_pong_t *ping_pong)
{
    uint64_t *ball = ping_pong->ball;
    double start = MPI_Wtime();

    for (int trip = 0; trip < BATCH_TRIPS; trip++) {
        uint64_t ping = ping_pong->served + 1;
        uint64_t pong = ping_pong->served + 2;

        if (ping_pong->rank == 0) {
            __atomic_store_n(ball, ping, __ATOMIC_RELEASE);
            await(ball, pong);
        } else {
            await(ball, ping);
            __atomic_store_n(ball, pong, __ATOMIC_RELEASE);
        }
        ping_pong->served = pong;
    }
    return MPI_Wtime() - start;
}

static int ascending(const void *a, const void *b)
{
    double difference = *(const double *) a - *(const double *) b;

    return (difference > 0) - (difference < 0);
}

double ping_pong_nanoseconds(ping_pong_t *ping_pong)
{
    double seconds[BATCHES];

    if (ping_pong->window == MPI_WIN_NULL) {
        return 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (ping_pong->rank <= 1) {
        (void) bounce(ping_pong);
        for (int batch = 0; batch < BATCHES; batch++) {
            seconds[batch] = bounce(ping_pong);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (ping_pong->rank != 0) {
        return 0;
    }
    qsort(seconds, BATCHES, sizeof seconds[0], ascending);
    return seconds[BATCHES / 2] / BATCH_TRIPS / 2 * ns_per_second;
}
