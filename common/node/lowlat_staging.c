/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <stdio.h>

#include "lowlat_staging.h"
#include "reduce.h"
#include "sizes.h"
#include "wait.h"

enum {
    LONGEST_BYTES = 8192, /* one block in the smallest arenas */
    TRIED_NUMBERS = LONGEST_BYTES / sizeof(uint32_t),
    BATCHES = 4,     /* of each way and length; the fastest counts */
    BATCH_CALLS = 4, /* behind one that leaves the lines as this way does */
};

const size_t lowlat_staging_bytes[LOWLAT_STAGING_LENGTHS] = {1024, 2048, 4096, LONGEST_BYTES};

void lowlat_staging_force(lowlat_group_t *group, lowlat_way_t way)
{
    group->prefetch_bytes = LOWLAT_WAY_PREFETCHING == way ? SIZE_MAX : 0;
    group->stream_bytes = LOWLAT_WAY_STREAMING == way ? 0 : SIZE_MAX;
}

static bool is_clearly_faster(const lowlat_staging_times_t *times, unsigned length,
                              lowlat_way_t way)
{
    /*
     * Of the other's time, or less.  To prefetch in vain costs about 2 % where it is not measured
     * to cost more, to stream in vain up to three times as much.
     */
    const int64_t percent = LOWLAT_WAY_PREFETCHING == way ? 95 : 90;
    const int64_t *ns = times->ns[length];

    for (unsigned other = 0; other < LOWLAT_WAYS; ++other) {
        if (other != (unsigned) way && 100 * ns[way] > percent * ns[other]) {
            return false;
        }
    }
    return true;
}

void lowlat_staging_choose(lowlat_group_t *group, const lowlat_staging_times_t *times)
{
    unsigned prefetched = LOWLAT_STAGING_LENGTHS; /* lengths below this one */
    unsigned streamed = LOWLAT_STAGING_LENGTHS;   /* from here on */

    while (prefetched > 0 && !is_clearly_faster(times, prefetched - 1, LOWLAT_WAY_PREFETCHING)) {
        --prefetched;
    }
    while (streamed > 0 && is_clearly_faster(times, streamed - 1, LOWLAT_WAY_STREAMING)) {
        --streamed;
    }
    /* The next longer one was tried, too, and prefetching did not win. */
    const size_t limit_bytes =
        LOWLAT_STAGING_LENGTHS == prefetched ? SIZE_MAX : lowlat_staging_bytes[prefetched] - 1;
    group->prefetch_bytes =
        0 == prefetched ? 0 : arc_min(limit_bytes, 2 * lowlat_staging_bytes[prefetched - 1]);
    group->stream_bytes =
        LOWLAT_STAGING_LENGTHS == streamed ? SIZE_MAX : lowlat_staging_bytes[streamed];
}

lowlat_way_t lowlat_staging_way(const lowlat_group_t *group)
{
    return SIZE_MAX != group->stream_bytes         ? LOWLAT_WAY_STREAMING
           : group->prefetch_bytes > LONGEST_BYTES ? LOWLAT_WAY_PREFETCHING
                                                   : LOWLAT_WAY_ORDINARY;
}

void lowlat_staging_describe(const lowlat_group_t *group, char *text, size_t text_bytes)
{
    if (0 == group->stream_bytes) {
        (void) snprintf(text, text_bytes, "streaming");
    } else if (SIZE_MAX != group->stream_bytes) {
        (void) snprintf(text, text_bytes, "streaming from %zu bytes", group->stream_bytes);
    } else if (0 != group->prefetch_bytes) {
        (void) snprintf(text, text_bytes, "prefetching to %zu bytes", group->prefetch_bytes);
    } else {
        (void) snprintf(text, text_bytes, "ordinary stores");
    }
}

/* `calls` one-shot calls of `count` numbers each; those of few by packets, whatever the levels. */
static arc_status_t make_calls(lowlat_group_t *group, lowlat_run_fn_t run, void *context,
                               size_t count, unsigned calls, uint32_t *out)
{
    static const uint32_t in[TRIED_NUMBERS];
    arc_status_t status = ARC_OK;
    arc_reducer_t reducer;

    (void) arc_reduce_make(&arc_reduce_table_scalar, ARC_OP_SUM, ARC_TYPE_UINT32, &reducer);
    for (unsigned i = 0; i < calls && ARC_OK == status; ++i) {
        lowlat_task_t task = {.group = group,
                              .reducer = &reducer,
                              .in = in,
                              .out = out,
                              .count = count,
                              .span_bytes = count * sizeof in[0],
                              .flat = true};
        lowlat_oneshot_start(&task);
        status = run(context, &task);
    }
    return status;
}

static arc_status_t time_way(lowlat_group_t *group, lowlat_run_fn_t run, void *context,
                             size_t bytes, lowlat_way_t way, int64_t *ns, uint32_t *out)
{
    const size_t count = bytes / sizeof(uint32_t);
    int64_t best_ns = INT64_MAX;

    lowlat_staging_force(group, way);
    for (unsigned batch = 0; batch < BATCHES; ++batch) {
        arc_status_t status = make_calls(group, run, context, count, 1, out);
        const int64_t start_ns = arc_now_ns();
        if (ARC_OK == status) {
            status = make_calls(group, run, context, count, BATCH_CALLS, out);
        }
        if (ARC_OK != status) {
            return status;
        }
        const int64_t batch_ns = arc_now_ns() - start_ns;
        best_ns = batch_ns < best_ns ? batch_ns : best_ns;
    }
    *ns = best_ns;
    return ARC_OK;
}

/* ---- how far apart the cores of two neighbours are ---- */

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

/* 200 trips take about 50 us; so many polls about 1 ms. */
static const effort_t thorough = {.batches = 5, .batch_trips = 40, .max_polls = 20000};
/* 30 trips take 3 to 16 us, of which the first ones begin with a wait; so many polls 20 us. */
static const effort_t quick = {.batches = 3, .batch_trips = 10, .max_polls = 400};

/*
 * Nanoseconds that a cache line takes from our core to that of our neighbour: half of a round trip,
 * of the fastest of some batches of them.  All ranks come here at about the same time; each needs a
 * core.  Never waits long: INT_MAX if the neighbour did not answer, 0 if there is none.
 */
static int probe_ns(lowlat_group_t *group, effort_t effort)
{
    enum { TRIPS_BITS = 16 };
    bool is_first = false;
    const unsigned peer = neighbour(group, &is_first);
    int64_t best_ns = INT64_MAX;
    /* The numbers of a probe begin above all of those before, also of one that was given up. */
    uint64_t trip = ++group->probes << TRIPS_BITS;

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

/* ---- the trial, and looks ---- */

static lowlat_told_t *told_by(const lowlat_group_t *group, unsigned rank)
{
    return &group->segment[rank]->told;
}

/* The ranks that are nearest to ours, as a flat group, of which `segments` are the memory. */
static lowlat_group_t nearest_of(const lowlat_group_t *group,
                                 lowlat_segment_t *segments[LOWLAT_LEVEL_MEMBERS])
{
    const lowlat_level_t *nearest = &group->levels.level[0];
    lowlat_group_t near = *group;

    if (0 != group->levels.count) {
        for (unsigned i = 0; i < nearest->members; ++i) {
            segments[i] = group->segment[nearest->rank[i]];
        }
        near.levels.count = 0;
        near.rank = nearest->own;
        near.ranks = nearest->members;
        near.segment = segments;
    }
    return near;
}

arc_status_t lowlat_staging_try(lowlat_group_t *group, lowlat_run_fn_t run, void *context)
{
    enum { NEVER_NS = 1000000000 };
    _Static_assert(0 == LOWLAT_STAGING_LENGTHS * LOWLAT_WAYS * BATCHES * (1 + BATCH_CALLS) %
                            LOWLAT_BUFFER_SETS,
                   "the next operation of all leaves the packets of the first one alone");
    uint32_t out[TRIED_NUMBERS];
    lowlat_segment_t *segments[LOWLAT_LEVEL_MEMBERS];
    lowlat_staging_times_t times = {0};

    /* Of all ranks: who has completed it may write into both arenas (lowlat.h). */
    arc_status_t status = make_calls(group, run, context, 1, 1, out);
    lowlat_group_t near = nearest_of(group, segments);
    group->apart_ns = probe_ns(group, thorough);
    group->looks_changed = 0;
    for (unsigned length = 0; length < LOWLAT_STAGING_LENGTHS; ++length) {
        for (unsigned way = 0; way < LOWLAT_WAYS && ARC_OK == status; ++way) {
            status = time_way(&near, run, context, lowlat_staging_bytes[length], way,
                              &times.ns[length][way], out);
        }
        if (NULL == group->streaming.fence) {
            times.ns[length][LOWLAT_WAY_STREAMING] = NEVER_NS; /* nothing streams here */
        }
    }
    if (ARC_OK != status) {
        return status;
    }
    /* All have made as many. */
    group->sequence = near.sequence;
    group->pieces = near.pieces;
    lowlat_staging_choose(group, &times);
    return lowlat_staging_agree(group, lowlat_staging_way(group), run, context);
}

arc_status_t lowlat_staging_agree(lowlat_group_t *group, lowlat_way_t way, lowlat_run_fn_t run,
                                  void *context)
{
    unsigned told[LOWLAT_WAYS] = {0};
    uint32_t out = 0;

    /*
     * Relaxed, here and below: the operation in between orders it.  Whoever has completed that one
     * has seen that all have told.
     */
    __atomic_store_n(&told_by(group, group->rank)->way, way, __ATOMIC_RELAXED);
    arc_status_t status = make_calls(group, run, context, 1, 1, &out);
    for (unsigned rank = 0; rank < group->ranks; ++rank) {
        const uint64_t of_rank = __atomic_load_n(&told_by(group, rank)->way, __ATOMIC_RELAXED);
        told[of_rank < LOWLAT_WAYS ? of_rank : LOWLAT_WAY_ORDINARY] += 1;
    }
    group->way = 2 * told[LOWLAT_WAY_STREAMING] > group->ranks     ? LOWLAT_WAY_STREAMING
                 : 2 * told[LOWLAT_WAY_PREFETCHING] > group->ranks ? LOWLAT_WAY_PREFETCHING
                                                                   : LOWLAT_WAY_ORDINARY;
    return status;
}

void lowlat_staging_note(lowlat_group_t *group, int now_ns)
{
    enum { IN_A_ROW = 2 }; /* one may be an accident */
    const int then_ns = group->apart_ns;
    const bool has_moved = INT_MAX == then_ns || now_ns / 2 > then_ns || now_ns < then_ns / 2;

    if (INT_MAX != now_ns) { /* else the neighbour did not answer, which tells nothing */
        group->looks_changed = has_moved ? group->looks_changed + 1 : 0;
    }
    __atomic_store_n(&told_by(group, group->rank)->changed, group->looks_changed >= IN_A_ROW,
                     __ATOMIC_RELAXED);
}

void lowlat_staging_look(lowlat_group_t *group)
{
    lowlat_staging_note(group, probe_ns(group, quick));
}

bool lowlat_staging_changed(const lowlat_group_t *group)
{
    for (unsigned rank = 0; rank < group->ranks; ++rank) {
        if (0 != __atomic_load_n(&told_by(group, rank)->changed, __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return false;
}
