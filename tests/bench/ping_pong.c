/*
 * Two counters in shared memory, each in a cache line of its own, written by rank 0
 * and by rank 1 alone, as the flags of a collective are:
 *
 *   rank 0   set own to k, poll other's for k      rank 1   poll other's for k, set own to k
 *
 * Not one line that both write: processors recognize a line that migrates and hand
 * it over for reading and writing at once, which takes half the time. The numbers go on
 * from one measurement to the next, so that nobody has to reset them. The polls yield after a
 * while, and so come to an end also where both ranks share a core; the result is then the time of
 * the scheduler, not of the cache.
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
    PAIR_BYTES = 128, /* of lines: the prefetcher fetches them together */
    /* A pair for each counter, and room to align. */
    SHARED_BYTES = 3 * PAIR_BYTES,
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
        uintptr_t first = ((uintptr_t) memory + PAIR_BYTES - 1) / PAIR_BYTES * PAIR_BYTES;
        for (unsigned rank = 0; rank < PING_PONG_RANKS; rank++) {
            ping_pong->counter[rank] = (uint64_t *) (first + rank * (uintptr_t) PAIR_BYTES);
            if (ping_pong->rank == 0) {
                __atomic_store_n(ping_pong->counter[rank], 0, __ATOMIC_RELEASE);
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

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void await(const uint64_t *counter, uint64_t number)
{
    unsigned polls = 0;

    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) != number) {
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
    uint64_t *own = ping_pong->counter[ping_pong->rank];
    const uint64_t *other = ping_pong->counter[1 - ping_pong->rank];
    double start = MPI_Wtime();

    for (int trip = 0; trip < BATCH_TRIPS; trip++) {
        uint64_t number = ++ping_pong->served;

        if (ping_pong->rank == 0) {
            __atomic_store_n(own, number, __ATOMIC_RELEASE);
            await(other, number);
        } else {
            await(other, number);
            __atomic_store_n(own, number, __ATOMIC_RELEASE);
        }
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
