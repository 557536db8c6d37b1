/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <time.h>

#include "lowlat_probe.h"
#include "wait.h"

enum {
    BATCHES = 5,
    BATCH_TRIPS = 40,  /* with the others 200: about 50 us */
    MAX_POLLS = 20000, /* about 1 ms */
    NS_PER_SECOND = 1000000000,
};

static long long now_ns(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long) now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static bool await(const uint64_t *flag, uint64_t value)
{
    for (unsigned poll = 0; poll < MAX_POLLS; ++poll) {
        if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) >= value) {
            return true;
        }
        arc_cpu_relax();
    }
    return false;
}

int lowlat_probe_ns(const lowlat_group_t *group)
{
    const unsigned peer = group->rank ^ 1;
    long long best_ns = LLONG_MAX;
    uint64_t trip = 0;

    if (peer >= group->ranks) {
        return 0;
    }
    uint64_t *own = &group->segment[group->rank]->probe;
    const uint64_t *peers = &group->segment[peer]->probe;
    for (unsigned batch = 0; batch < BATCHES; ++batch) {
        const long long start_ns = now_ns();
        for (const uint64_t end = trip + BATCH_TRIPS; trip < end;) {
            ++trip;
            /* The even rank of a pair writes first, the odd one answers. */
            if (0 == group->rank % 2) {
                __atomic_store_n(own, trip, __ATOMIC_RELEASE);
            }
            if (!await(peers, trip)) {
                return INT_MAX;
            }
            if (0 != group->rank % 2) {
                __atomic_store_n(own, trip, __ATOMIC_RELEASE);
            }
        }
        const long long batch_ns = now_ns() - start_ns;
        best_ns = batch_ns < best_ns ? batch_ns : best_ns;
    }
    return (int) (best_ns / BATCH_TRIPS / 2);
}
