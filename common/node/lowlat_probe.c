/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>

#include "lowlat_probe.h"
#include "wait.h"

/* How thorough a probe is. */
typedef struct effort {
    unsigned batches;
    unsigned batch_trips;
    unsigned max_polls; /* for an answer */
} effort_t;

static bool await_flag(const uint64_t *flag, uint64_t value, unsigned max_polls)
{
    for (unsigned poll = 0; poll < max_polls; ++poll) {
        if (__atomic_load_n(flag, __ATOMIC_RELAXED) >= value) {
            return true;
        }
        arc_cpu_relax();
    }
    return false;
}

/* The numbers of a probe begin above all of those before, also of one that was given up. */
static uint64_t first_trip(lowlat_group_t *group)
{
    enum { TRIPS_BITS = 16 };

    group->probes += 1;
    return group->probes << TRIPS_BITS;
}

/* The rank beside ours among the nearest ones; group->ranks: there is none.  Who writes first? */
static unsigned neighbour(const lowlat_group_t *group, bool *is_first)
{
    const lowlat_level_t *nearest = &group->levels.level[0];
    const bool is_flat = 0 == group->levels.count;
    const unsigned other = (is_flat ? group->rank : nearest->own) ^ 1;

    *is_first = 0 != other % 2;
    if (is_flat) {
        return other < group->ranks ? other : group->ranks;
    }
    return other < nearest->members ? nearest->rank[other] : group->ranks;
}

static int probe_peer(lowlat_group_t *group, effort_t effort)
{
    bool is_first = false;
    const unsigned peer = neighbour(group, &is_first);
    int64_t best_ns = INT64_MAX;
    uint64_t trip = first_trip(group);

    if (peer == group->ranks) {
        return 0;
    }
    uint64_t *own = &group->segment[group->rank]->probe;
    const uint64_t *peers = &group->segment[peer]->probe;
    for (unsigned batch = 0; batch < effort.batches; ++batch) {
        const int64_t start_ns = arc_now_ns();
        for (const uint64_t end = trip + effort.batch_trips; trip < end;) {
            ++trip;
            if (is_first) {
                __atomic_store_n(own, trip, __ATOMIC_RELAXED);
            }
            if (!await_flag(peers, trip, effort.max_polls)) {
                return INT_MAX;
            }
            if (!is_first) {
                __atomic_store_n(own, trip, __ATOMIC_RELAXED);
            }
        }
        const int64_t batch_ns = arc_now_ns() - start_ns;
        best_ns = batch_ns < best_ns ? batch_ns : best_ns;
    }
    return (int) (best_ns / effort.batch_trips / 2);
}

int lowlat_probe_ns(lowlat_group_t *group)
{
    /* 200 trips take about 50 us; so many polls about 1 ms. */
    return probe_peer(group, (effort_t){.batches = 5, .batch_trips = 40, .max_polls = 20000});
}

int lowlat_probe_again_ns(lowlat_group_t *group)
{
    /* 30 trips take 3 to 16 us, of which the first ones begin with a wait; so many polls 20 us. */
    return probe_peer(group, (effort_t){.batches = 3, .batch_trips = 10, .max_polls = 400});
}
