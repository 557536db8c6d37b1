/*
 * Staging: the copies past the caches, the choice between ways, and the trial that all ranks
 * make together, here by threads over memory that is really shared.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "unit.h"
#include "copy.h"
#include "lowlat_staging.h"
#include "reduce.h"
#include "wait.h"

enum { MAX_RANKS = 4, ARENA_BYTES = 32768, ROUNDS = 5, LONG_COUNT = 512 };

static lowlat_segment_t *segment_new(void)
{
    lowlat_segment_t *segment = aligned_alloc(LOWLAT_PAGE_BYTES, lowlat_segment_bytes(ARENA_BYTES));

    assert_non_null(segment);
    memset(segment, 0, lowlat_segment_bytes(ARENA_BYTES));
    return segment;
}

/* ---- copies ---- */

static void copies_those_bytes_and_no_others(void **state)
{
    enum { LONGEST_BYTES = 700, ALIGNMENTS = 64, STEP = 7 };
    const arc_isa_t isa = *(const arc_isa_t *) *state;

    if (isa != arc_cpu_isa(isa)) {
        skip();
    }
    const arc_copier_t copier = arc_copier_streaming(isa);
    for (size_t bytes = 0; bytes <= LONGEST_BYTES; bytes += bytes < 200 ? 1 : STEP) {
        for (size_t misaligned = 0; misaligned < ALIGNMENTS; misaligned += 1 + bytes % STEP) {
            test_buffer_t from = test_buffer_new(bytes, (3 * misaligned + bytes) % ALIGNMENTS);
            test_buffer_t to = test_buffer_new(bytes, misaligned);

            for (size_t i = 0; i < bytes; ++i) {
                from.data[i] = (unsigned char) (i * 13 + bytes);
            }
            test_buffer_poison(&to);
            copier.copy(to.data, from.data, bytes);
            if (NULL != copier.fence) {
                copier.fence();
            }
            assert_memory_equal(to.data, from.data, bytes);
            assert_true(test_buffer_intact(&to) && test_buffer_intact(&from));
            test_buffer_free(&to);
            test_buffer_free(&from);
        }
    }
}

TEST(whatever_streams_has_a_fence)
{
    assert_null(arc_copier_streaming(ARC_ISA_SCALAR).fence);
#if HAVE_ISA_AVX2
    assert_non_null(arc_copier_streaming(ARC_ISA_AVX2).fence);
#endif
#if HAVE_ISA_AVX512
    assert_non_null(arc_copier_streaming(ARC_ISA_AVX512).fence);
#endif
}

/* ---- the choice ---- */

typedef struct choice {
    const char *name;
    lowlat_staging_times_t times; /* of 1, 2, 4, 8 KiB: ordinary, prefetching, streaming */
    size_t prefetch_bytes;
    size_t stream_bytes;
} choice_t;

static void takes_what_is_clearly_faster(void **state)
{
    const choice_t *choice = *state;
    lowlat_group_t group = {.ranks = 2};

    lowlat_staging_choose(&group, &choice->times);
    assert_int_equal(choice->prefetch_bytes, group.prefetch_bytes);
    assert_int_equal(choice->stream_bytes, group.stream_bytes);
}

TEST(a_forced_way_is_for_all_lengths)
{
    lowlat_group_t group = {.ranks = 2};

    lowlat_staging_force(&group, LOWLAT_WAY_ORDINARY);
    assert_true(0 == group.prefetch_bytes && SIZE_MAX == group.stream_bytes);
    assert_int_equal(LOWLAT_WAY_ORDINARY, lowlat_staging_way(&group));
    lowlat_staging_force(&group, LOWLAT_WAY_PREFETCHING);
    assert_true(SIZE_MAX == group.prefetch_bytes && SIZE_MAX == group.stream_bytes);
    assert_int_equal(LOWLAT_WAY_PREFETCHING, lowlat_staging_way(&group));
    lowlat_staging_force(&group, LOWLAT_WAY_STREAMING);
    assert_true(0 == group.prefetch_bytes && 0 == group.stream_bytes);
    assert_int_equal(LOWLAT_WAY_STREAMING, lowlat_staging_way(&group));
}

/* ---- looks ---- */

TEST(a_change_is_told_when_seen_twice_in_a_row)
{
    enum { NEAR_NS = 50, FAR_NS = 200, SAME_NS = 99 };
    static const struct {
        int now_ns;
        bool told;
    } looks[] = {
        {SAME_NS, false}, {FAR_NS, false},  {NEAR_NS, false}, {FAR_NS, false},  {FAR_NS, true},
        {FAR_NS, true},   {SAME_NS, false}, {FAR_NS, false},  {INT_MAX, false}, {FAR_NS, true},
        {26, false},      {24, false},      {24, true},
    };
    lowlat_segment_t *segment = segment_new();
    lowlat_group_t group = {.ranks = 1, .segment = &segment, .apart_ns = NEAR_NS};

    for (unsigned i = 0; i < sizeof looks / sizeof looks[0]; ++i) {
        lowlat_staging_note(&group, looks[i].now_ns);
        assert_int_equal(looks[i].told, lowlat_staging_changed(&group));
    }
    /* Once nothing could be measured, whatever can be is a change. */
    group.apart_ns = INT_MAX;
    group.looks_changed = 0;
    lowlat_staging_note(&group, INT_MAX);
    assert_int_equal(0, group.looks_changed);
    lowlat_staging_note(&group, NEAR_NS);
    assert_int_equal(1, group.looks_changed);
    free(segment);
}

/* ---- what ranks do together, as threads ---- */

typedef struct rank rank_t;
struct rank {
    lowlat_group_t group;
    const void *parts[MAX_RANKS];
    pthread_t thread;
    void (*live)(rank_t *rank);
    unsigned way[ROUNDS];
    bool changed[ROUNDS];
    bool right;
};

static arc_status_t run_task(void *context, lowlat_task_t *task)
{
    arc_status_t status = ARC_IN_PROGRESS;

    while (ARC_IN_PROGRESS == status) {
        status = task->task.ops->progress(&task->task);
        if (ARC_IN_PROGRESS == status) {
            (void) sched_yield();
        }
    }
    return status;
}

static void *run_thread(void *argument)
{
    rank_t *rank = argument;

    rank->right = true;
    rank->live(rank);
    return NULL;
}

/* All ranks live their lives; they end with the same numbers of operations and pieces. */
static void live_together(rank_t *rank, unsigned ranks, void (*live)(rank_t *))
{
    lowlat_segment_t *segment[MAX_RANKS];

    for (unsigned i = 0; i < ranks; ++i) {
        segment[i] = segment_new();
    }
    for (unsigned i = 0; i < ranks; ++i) {
        rank[i].live = live;
        rank[i].group = (lowlat_group_t){
            .rank = i,
            .ranks = ranks,
            .arena_bytes = ARENA_BYTES,
            .block_bytes = ARENA_BYTES,
            .chunk_bytes = ARENA_BYTES,
            .segment = segment,
            .parts = rank[i].parts,
            .streaming = arc_copier_streaming(arc_cpu_isa(ARC_ISA_AVX512)),
        };
        assert_int_equal(0, pthread_create(&rank[i].thread, NULL, run_thread, &rank[i]));
    }
    for (unsigned i = 0; i < ranks; ++i) {
        assert_int_equal(0, pthread_join(rank[i].thread, NULL));
    }
    for (unsigned i = 0; i < ranks; ++i) {
        assert_true(rank[i].right);
        assert_int_equal(rank[0].group.sequence, rank[i].group.sequence);
        assert_int_equal(rank[0].group.pieces, rank[i].group.pieces);
        free(segment[i]);
    }
}

/* A sum of one number each; right? */
static bool sum_once(rank_t *rank)
{
    const uint32_t in = rank->group.rank + 1;
    uint32_t out = 0;
    arc_reducer_t reducer;
    lowlat_task_t task = {.group = &rank->group,
                          .reducer = &reducer,
                          .in = &in,
                          .out = &out,
                          .count = 1,
                          .span_bytes = sizeof in};

    (void) arc_reduce_make(&arc_reduce_table_scalar, ARC_OP_SUM, ARC_TYPE_UINT32, &reducer);
    lowlat_oneshot_start(&task);
    return ARC_OK == run_task(NULL, &task) &&
           out == rank->group.ranks * (rank->group.ranks + 1) / 2;
}

static bool is_change(unsigned round)
{
    return round % 2 > 0;
}

/* What a communicator does: try, then calls with looks between them; rank 0 tells of changes. */
static void try_and_look(rank_t *rank)
{
    for (unsigned round = 0; round < ROUNDS; ++round) {
        rank->right = rank->right && ARC_OK == lowlat_staging_try(&rank->group, run_task, NULL);
        rank->way[round] = rank->group.way;
        rank->right = sum_once(rank) && rank->right;
        lowlat_staging_look(&rank->group); /* a single look never tells */
        if (0 == rank->group.rank) {
            const uint64_t changed = is_change(round);
            __atomic_store_n(&rank->group.segment[0]->told.changed, changed, __ATOMIC_RELEASE);
        }
        rank->right = sum_once(rank) && rank->right;
        rank->changed[round] = lowlat_staging_changed(&rank->group);
        rank->right = sum_once(rank) && rank->right;
    }
}

static void all_ranks_find_the_same(void **state)
{
    const unsigned ranks = *(const unsigned *) *state;
    rank_t rank[MAX_RANKS] = {{.right = false}};

    live_together(rank, ranks, try_and_look);
    for (unsigned round = 0; round < ROUNDS; ++round) {
        for (unsigned i = 0; i < ranks; ++i) {
            assert_int_equal(rank[0].way[round], rank[i].way[round]);
            assert_int_equal(is_change(round), rank[i].changed[round]);
        }
    }
}

/* How each rank stages in a round. */
#define O LOWLAT_WAY_ORDINARY
#define P LOWLAT_WAY_PREFETCHING
#define S LOWLAT_WAY_STREAMING
static const lowlat_way_t own[ROUNDS][MAX_RANKS] = {
    {S, O, O, O}, {S, S, O, P}, {P, P, S, P}, {S, S, S, S}, {O, P, P, O}};
#undef O
#undef P
#undef S

/* The way of more than half of so many ranks, or the ordinary one. */
static lowlat_way_t way_of_most(unsigned round, unsigned ranks)
{
    for (lowlat_way_t way = LOWLAT_WAY_ORDINARY; way < LOWLAT_WAYS; ++way) {
        unsigned count = 0;

        for (unsigned i = 0; i < ranks; ++i) {
            count += way == own[round][i];
        }
        if (2 * count > ranks) {
            return way;
        }
    }
    return LOWLAT_WAY_ORDINARY;
}

/* Another rank is late each time: who reads too early does not know its word. */
static void agree_each_round(rank_t *rank)
{
    static const struct timespec late = {.tv_nsec = 20 * 1000 * 1000};

    for (unsigned round = 0; round < ROUNDS; ++round) {
        if (rank->group.rank == round % rank->group.ranks) {
            (void) nanosleep(&late, NULL);
        }
        rank->right = rank->right &&
                      ARC_OK == lowlat_staging_agree(&rank->group, own[round][rank->group.rank],
                                                     run_task, NULL);
        rank->way[round] = rank->group.way;
        rank->right = sum_once(rank) && rank->right;
    }
}

static void more_than_half_of_the_ranks_decide(void **state)
{
    const unsigned ranks = *(const unsigned *) *state;
    rank_t rank[MAX_RANKS] = {{.right = false}};

    live_together(rank, ranks, agree_each_round);
    for (unsigned round = 0; round < ROUNDS; ++round) {
        for (unsigned i = 0; i < ranks; ++i) {
            assert_int_equal(way_of_most(round, ranks), rank[i].way[round]);
        }
    }
}

/* Rank 2 adds the parts of the outer level late: the other ranks may go on to their trial
 * meanwhile. */
static void reduce_late(const void *const *parts, unsigned n, void *out, size_t count,
                        const void *context)
{
    enum { TRIED = 200, LATE_MS = 300 }; /* operations that write where we read are over */
    const lowlat_group_t *group = context;
    const int64_t end_ns = arc_now_ns() + LATE_MS * (ARC_NS_PER_SECOND / 1000);
    const uint64_t *entered = &group->segment[0]->flag[LOWLAT_ENTERED].value;
    arc_reducer_t reducer;

    (void) arc_reduce_make(&arc_reduce_table_scalar, ARC_OP_SUM, ARC_TYPE_UINT32, &reducer);
    while (2 == group->rank && parts[1] == out &&
           __atomic_load_n(entered, __ATOMIC_RELAXED) < TRIED && arc_now_ns() < end_ns) {
        (void) sched_yield();
    }
    reducer.reduce(parts, n, out, count, reducer.context);
}

/* A sum by levels, and at once a trial among the nearest. */
static void try_behind_a_sum(rank_t *rank)
{
    static const unsigned members[] = {2, 2};
    uint32_t in[LONG_COUNT];
    uint32_t out[LONG_COUNT];
    const arc_reducer_t reducer = {reduce_late,  &rank->group, sizeof in[0],
                                   sizeof in[0], false,        false};
    lowlat_task_t task = {.group = &rank->group,
                          .reducer = &reducer,
                          .in = in,
                          .out = out,
                          .count = LONG_COUNT,
                          .span_bytes = sizeof in};

    for (unsigned i = 0; i < LONG_COUNT; ++i) {
        in[i] = rank->group.rank + i;
    }
    rank->right =
        lowlat_levels_by_numbers(&rank->group.levels, rank->group.rank, MAX_RANKS, members, 2);
    lowlat_oneshot_start(&task);
    rank->right = rank->right && ARC_OK == run_task(NULL, &task) &&
                  ARC_OK == lowlat_staging_try(&rank->group, run_task, NULL);
    for (unsigned i = 0; i < LONG_COUNT; ++i) {
        rank->right = rank->right && 6 + MAX_RANKS * i == out[i];
    }
}

TEST(a_trial_of_a_part_waits_for_all)
{
    rank_t rank[MAX_RANKS] = {{.right = false}};

    live_together(rank, MAX_RANKS, try_behind_a_sum);
}

int main(void)
{
    static const arc_isa_t isas[] = {ARC_ISA_SCALAR, ARC_ISA_AVX2, ARC_ISA_AVX512};
    static const unsigned ranks[] = {2, 3, 4};
    /* clang-format off */
    static const choice_t choices[] = {
        {"near: nothing is clearly faster",
         {{{170, 165, 600}, {220, 210, 700}, {260, 430, 900}, {430, 450, 1700}}}, 0, SIZE_MAX},
        {"far: prefetching for short ones",
         {{{430, 370, 590}, {920, 640, 750}, {1010, 1000, 1100}, {1450, 1620, 1800}}}, 4095, SIZE_MAX},
        {"far: streaming for long ones",
         {{{700, 440, 800}, {1000, 990, 1050}, {2000, 1900, 1250}, {4500, 4400, 1820}}}, 2047, 4096},
        {"prefetching stops below what was slower",
         {{{430, 370, 590}, {920, 640, 750}, {1010, 955, 1100}, {1450, 1620, 1800}}}, 8191, SIZE_MAX},
        {"prefetching stops where streaming begins",
         {{{430, 370, 590}, {920, 640, 750}, {1010, 900, 1100}, {1450, 1620, 1000}}}, 8191, 8192},
        {"streaming for all", {{{9, 9, 5}, {9, 9, 5}, {9, 9, 5}, {9, 9, 5}}}, 0, 1024},
        {"prefetching for all", {{{9, 5, 9}, {9, 5, 9}, {9, 5, 9}, {9, 5, 9}}}, 16384, SIZE_MAX},
        {"streaming must be faster from there on", {{{9, 9, 5}, {9, 9, 5}, {9, 9, 5}, {9, 9, 9}}}, 0, SIZE_MAX},
        {"prefetching: the longest counts", {{{9, 9, 9}, {9, 5, 9}, {9, 9, 9}, {9, 9, 9}}}, 4095, SIZE_MAX},
        {"a little is not clear enough", {{{100, 96, 99}, {100, 100, 91}, {100, 100, 91}, {100, 100, 91}}}, 0, SIZE_MAX},
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; ++i) {
        unit_add_row(copies_those_bytes_and_no_others, &isas[i], 0, "copies those bytes: %s",
                     arc_isa_name(isas[i]));
    }
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; ++i) {
        unit_add_row(more_than_half_of_the_ranks_decide, &ranks[i], 0, "more than half decide: %u",
                     ranks[i]);
        unit_add_row(all_ranks_find_the_same, &ranks[i], 0, "all ranks find the same: %u",
                     ranks[i]);
    }
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; ++i) {
        unit_add_row(takes_what_is_clearly_faster, &choices[i], 0, "%s", choices[i].name);
    }
    return unit_run("staging");
}
