/*
 * The allocator of shared memory: segments never overlap, nobody gets what others still use,
 * everything comes back, and what comes back joins.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "pool.h"

enum {
    SEED = 20261123,
    UNIT = ARC_POOL_UNIT_BYTES,
    HEAD = UNIT,
    REGION_UNITS = 64,
    REGION = REGION_UNITS * UNIT,
    MOST = 60, /* segments at a time */
    STEPS = 20000,
};

/* What others still use: the segments of this pool whose leaving is not complete. */
static uint64_t users_left[ARC_POOL_REGIONS][REGION_UNITS];
static unsigned asked;

static bool has_left(void *context, const arc_pool_segment_t *segment)
{
    ++asked;
    return users_left[segment->region][segment->offset_bytes / UNIT] == segment->users;
}

static void start(arc_pool_t *pool, unsigned regions)
{
    memset(users_left, 0, sizeof users_left);
    arc_pool_init(pool, REGION, 3, has_left, NULL);
    for (unsigned i = 0; i < regions; ++i) {
        assert_int_equal(ARC_OK, arc_pool_add(pool, REGION));
    }
}

/* The list covers each region behind its head, without gaps; *meet: free parts that meet. */
static size_t check_parts(const arc_pool_t *pool, unsigned *meet)
{
    size_t free_bytes = 0;
    size_t end = REGION; /* of the part before */
    unsigned regions = 0;
    bool was_free = false;

    *meet = 0;

    for (const arc_pool_segment_t *part = pool->first; NULL != part; part = part->after) {
        if (REGION == end) {
            assert_int_equal(regions++, part->region);
            end = HEAD;
            was_free = false;
        }
        assert_int_equal(end, part->offset_bytes);
        assert_true(part->bytes > 0 && part->bytes % UNIT == 0);
        *meet += was_free && ARC_POOL_FREE == part->state;
        was_free = ARC_POOL_FREE == part->state;
        free_bytes += was_free ? part->bytes : 0;
        end += part->bytes;
    }
    assert_int_equal(REGION, end);
    assert_int_equal(pool->regions, regions);
    return free_bytes;
}

/* The same once memory was wanted: free parts have joined. */
static size_t check_list(arc_pool_t *pool)
{
    unsigned meet = 0;

    assert_null(arc_pool_take(pool, 4 * (size_t) REGION)); /* more than there is */
    const size_t free_bytes = check_parts(pool, &meet);
    assert_int_equal(0, meet);
    return free_bytes;
}

static void overlap_with_none(arc_pool_segment_t *const *held, unsigned count,
                              const arc_pool_segment_t *segment)
{
    for (unsigned i = 0; i < count; ++i) {
        assert_true(held[i]->region != segment->region ||
                    held[i]->offset_bytes + held[i]->bytes <= segment->offset_bytes ||
                    segment->offset_bytes + segment->bytes <= held[i]->offset_bytes);
    }
}

/* What a random sequence has in its hands. */
typedef struct hands {
    arc_pool_segment_t *taken[MOST];
    unsigned count;
    arc_pool_segment_t *retired[MOST];
    unsigned retired_count;
} hands_t;

static void take_one(arc_pool_t *pool, hands_t *hands, test_random_t *random)
{
    const size_t bytes = 1 + test_random_below(random, 5 * UNIT);
    arc_pool_segment_t *segment = arc_pool_take(pool, bytes);

    if (NULL == segment) {
        return;
    }
    assert_int_equal(ARC_POOL_TAKEN, segment->state);
    assert_true(segment->bytes >= bytes && segment->bytes < bytes + UNIT);
    assert_true(segment->offset_bytes >= HEAD);
    overlap_with_none(hands->taken, hands->count, segment);
    overlap_with_none(hands->retired, hands->retired_count, segment);
    hands->taken[hands->count++] = segment;
}

static void let_go_of_one(hands_t *hands, test_random_t *random)
{
    const unsigned which = (unsigned) (test_random_below(random, hands->count));
    arc_pool_segment_t *segment = hands->taken[which];

    hands->taken[which] = hands->taken[--hands->count];
    if (test_random_below(random, 2) == 0 || MOST == hands->retired_count) {
        arc_pool_retire(segment, 0);
        return;
    }
    users_left[segment->region][segment->offset_bytes / UNIT] = 0;
    arc_pool_retire(segment, 1 + test_random_below(random, 3));
    hands->retired[hands->retired_count++] = segment;
}

/* One more of the others leaves a retired segment. */
static void leave_one(hands_t *hands, test_random_t *random)
{
    const unsigned which = (unsigned) (test_random_below(random, hands->retired_count));
    const arc_pool_segment_t *segment = hands->retired[which];
    uint64_t *left = &users_left[segment->region][segment->offset_bytes / UNIT];

    if (++*left == segment->users) {
        hands->retired[which] = hands->retired[--hands->retired_count];
    }
}

TEST(random_sequences_neither_overlap_nor_lose_memory)
{
    test_random_t random = test_random_start(SEED);
    hands_t hands = {.count = 0};
    arc_pool_t pool;
    unsigned meet = 0;

    start(&pool, 3);
    for (unsigned step = 0; step < STEPS; ++step) {
        const unsigned action = (unsigned) (test_random_below(&random, 5));
        if (action < 2 && hands.count < MOST) {
            take_one(&pool, &hands, &random);
        } else if (action < 4 && hands.count > 0) {
            let_go_of_one(&hands, &random);
        } else if (hands.retired_count > 0) {
            leave_one(&hands, &random);
        }
        (void) check_parts(&pool, &meet);
    }
    while (hands.count > 0) {
        let_go_of_one(&hands, &random);
    }
    while (hands.retired_count > 0) {
        leave_one(&hands, &random);
    }
    assert_null(arc_pool_take(&pool, REGION)); /* asks who has left */
    assert_int_equal(3 * (REGION - HEAD), check_list(&pool));
    arc_pool_clear(&pool);
}

TEST(nobody_gets_what_somebody_uses)
{
    arc_pool_t pool;

    start(&pool, 1);
    arc_pool_segment_t *segment = arc_pool_take(&pool, REGION - HEAD);
    assert_non_null(segment);
    assert_true(arc_pool_is_used(&pool));
    arc_pool_retire(segment, 2);
    assert_false(arc_pool_is_used(&pool)); /* by us */
    asked = 0;
    assert_null(arc_pool_take(&pool, 1));
    users_left[0][1] = 1;
    assert_null(arc_pool_take(&pool, 1));
    users_left[0][1] = 2;
    assert_non_null(arc_pool_take(&pool, REGION - HEAD));
    assert_int_equal(3, asked);
    assert_null(arc_pool_take(&pool, 1));
    arc_pool_clear(&pool);
}

TEST(what_was_cut_off_is_free)
{
    arc_pool_t pool;

    start(&pool, 1);
    arc_pool_segment_t *segment = arc_pool_take(&pool, REGION - HEAD);
    arc_pool_cut(segment, 10 * UNIT - 1);
    assert_int_equal(10 * UNIT, segment->bytes);
    assert_int_equal(REGION - HEAD - 10 * UNIT, check_list(&pool));
    /* Also where a free part follows. */
    arc_pool_cut(segment, UNIT);
    assert_int_equal(REGION - HEAD - UNIT, check_list(&pool));
    arc_pool_cut(segment, UNIT);
    arc_pool_retire(segment, 0);
    assert_int_equal(REGION - HEAD, check_list(&pool));
    arc_pool_clear(&pool);
}

TEST(a_cleared_pool_is_as_a_new_one)
{
    size_t least = 0;
    size_t best = 0;
    arc_pool_t pool;

    start(&pool, 2);
    assert_non_null(arc_pool_take(&pool, UNIT));
    arc_pool_retire(arc_pool_take(&pool, UNIT), 1);
    arc_pool_clear(&pool);
    asked = 0;
    assert_null(arc_pool_take(&pool, 1));
    assert_int_equal(0, asked);
    assert_true(arc_pool_wish(&pool, 1, &least, &best));
    assert_int_equal(REGION, best);
    assert_int_equal(ARC_OK, arc_pool_add(&pool, best));
    assert_int_equal(REGION - HEAD, check_list(&pool));
    arc_pool_clear(&pool);
}

/* 72 KiB at a time, as many as thousands of communicators: few regions, not much too large. */
TEST(a_pool_grows_in_few_steps)
{
    enum { SEGMENT = 72 << 10, SEGMENTS = 4000, FEW = 6 };
    size_t least = 0;
    size_t best = 0;
    arc_pool_t pool;

    arc_pool_init(&pool, 1 << 20, 3, has_left, NULL);
    for (unsigned i = 1; i <= SEGMENTS; ++i) {
        if (NULL == arc_pool_take(&pool, SEGMENT)) {
            assert_true(arc_pool_wish(&pool, SEGMENT, &least, &best));
            assert_int_equal(SEGMENT + HEAD, least);
            assert_int_equal(ARC_OK, arc_pool_add(&pool, best));
            assert_non_null(arc_pool_take(&pool, SEGMENT));
        }
        assert_true(pool.bytes <= (1 << 20) || pool.bytes < 5 * (size_t) i * SEGMENT);
    }
    assert_true(pool.regions <= FEW);
    arc_pool_clear(&pool);
}

TEST(a_region_has_room_for_what_is_wanted)
{
    size_t least = 0;
    size_t best = 0;
    arc_pool_t pool;

    arc_pool_init(&pool, 0, 1, has_left, NULL);
    for (unsigned i = 0; i < ARC_POOL_REGIONS; ++i) {
        assert_true(arc_pool_wish(&pool, 3 * UNIT + 1, &least, &best));
        assert_int_equal(HEAD + 4 * UNIT, least);
        assert_true(best == (i < 2 ? least : pool.bytes));
        assert_int_equal(ARC_OK, arc_pool_add(&pool, best));
    }
    assert_false(arc_pool_wish(&pool, 1, &least, &best));
    arc_pool_clear(&pool);
}
