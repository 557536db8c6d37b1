/*
 * The levels of a node (lowlat_levels.h): all ranks see the same groups, nobody has more than eight
 * members to wait for, and whoever shares a cache is together.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>

#include "unit.h"
#include "lowlat_levels.h"

enum { MAX_RANKS = 300 };

typedef bool (*make_fn_t)(lowlat_levels_t *levels, unsigned rank, unsigned ranks,
                          const void *context);

static lowlat_levels_t view[MAX_RANKS];

static void make_all(make_fn_t make, unsigned ranks, const void *context)
{
    assert_true(ranks <= MAX_RANKS);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        assert_true(make(&view[rank], rank, ranks, context));
    }
}

/* The ranks whose parts are in the sum of the unit of `level` that `rank` is in, in their order. */
static unsigned collect(unsigned rank, unsigned level, unsigned *members)
{
    unsigned count = 0;

    if (0 == level) {
        members[0] = rank;
        return 1;
    }
    const lowlat_level_t *inner = &view[rank].level[level - 1];
    for (unsigned i = 0; i < inner->members; ++i) {
        count += collect(inner->rank[i], level - 1, members + count);
    }
    return count;
}

/* Every rank is in the sum once, all have the same order; owners' shares meet on every level. */
static void check(unsigned ranks)
{
    unsigned first[MAX_RANKS];
    unsigned other[MAX_RANKS];
    bool seen[MAX_RANKS] = {false};

    assert_int_equal(ranks, collect(0, view[0].count, first));
    for (unsigned i = 0; i < ranks; ++i) {
        assert_false(seen[first[i]]);
        seen[first[i]] = true;
    }
    for (unsigned rank = 0; rank < ranks; ++rank) {
        assert_int_equal(view[0].count, view[rank].count);
        assert_int_equal(ranks, collect(rank, view[rank].count, other));
        assert_memory_equal(first, other, ranks * sizeof first[0]);
        bool owns = true; /* on all levels so far */
        for (unsigned i = 0; i < view[rank].count; ++i) {
            const lowlat_level_t *level = &view[rank].level[i];
            assert_true(level->members <= LOWLAT_LEVEL_MEMBERS && level->own < level->members);
            assert_int_equal(rank, level->rank[level->own]);
            assert_int_equal(view[0].level[i].owners, level->owners);
            assert_true(level->owners > 0 && level->owners <= level->members);
            for (unsigned member = 0; owns && member < level->members; ++member) {
                /* Who exchanges a share sees the same others, in the same order. */
                assert_memory_equal(level->rank, view[level->rank[member]].level[i].rank,
                                    level->members * sizeof level->rank[0]);
            }
            owns = owns && level->own < level->owners;
        }
    }
    for (unsigned i = 0; i < ranks; ++i) {
        assert_int_equal(view[0].in_order, view[i].in_order);
        assert_true(view[0].shape == view[i].shape);
        assert_true(!view[0].in_order || first[i] == i);
    }
}

static bool by_pairs(lowlat_levels_t *levels, unsigned rank, unsigned ranks, const void *context)
{
    (void) context;
    return lowlat_levels_by_pairs(levels, rank, ranks);
}

static bool by_text(lowlat_levels_t *levels, unsigned rank, unsigned ranks, const void *context)
{
    unsigned members[LOWLAT_MAX_LEVELS];
    const unsigned count = lowlat_levels_parse(context, members);

    assert_true(count > 0);
    return lowlat_levels_by_numbers(levels, rank, ranks, members, count);
}

static bool by_seats(lowlat_levels_t *levels, unsigned rank, unsigned ranks, const void *context)
{
    return lowlat_levels_by_seats(levels, rank, ranks, context);
}

/* "8,4,2": the members of rank 0's groups. */
static void assert_shape(const char *expected)
{
    char text[100] = "";
    size_t used = 0;

    for (unsigned i = 0; i < view[0].count; ++i) {
        used += (size_t) snprintf(text + used, sizeof text - used, "%s%u", 0 == i ? "" : ",",
                                  view[0].level[i].members);
    }
    assert_string_equal(expected, text);
}

/* Ranks dealt to caches of `cores` cores: `caches` in a NUMA domain, `domains` in each of the
 * sockets. */
static void seat_ranks(lowlat_seat_t *seats, unsigned ranks, unsigned cores, unsigned caches,
                       unsigned domains)
{
    for (unsigned rank = 0; rank < ranks; ++rank) {
        const unsigned cache = rank / cores;
        const unsigned domain = cache / caches;
        seats[rank] = (lowlat_seat_t){
            {(uint16_t) (1 + domain / domains), (uint16_t) (1 + domain), (uint16_t) (1 + cache)}};
    }
}

/* Seats of the same order have one shape, whatever their numbers; other groups, or others in them,
 * do not. */
TEST(other_groups_have_another_shape)
{
    enum { RANKS = 12 };
    static const char *const caches[] = {"aaaabbbbcccc", "ddddeeeeffff", "aaabbbcccddd",
                                         "abcabcabcabc", "bbbbaaaacccc"};
    uint64_t shape[sizeof caches / sizeof caches[0]];

    for (unsigned i = 0; i < sizeof caches / sizeof caches[0]; ++i) {
        lowlat_seat_t seats[RANKS] = {{{0}}};
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            seats[rank].domain[LOWLAT_DOMAINS - 1] = (uint16_t) caches[i][rank];
        }
        make_all(by_seats, RANKS, seats);
        check(RANKS);
        shape[i] = view[0].shape;
        for (unsigned before = 0; before < i; ++before) {
            assert_int_equal(0 == before && 1 == i, shape[before] == shape[i]);
        }
    }
}

TEST(any_number_of_ranks_has_pairs)
{
    static const unsigned powers[] = {2, 4, 8, 16, 32, 64, 128, 256};

    for (unsigned ranks = 2; ranks <= MAX_RANKS; ranks += ranks < 40 ? 1 : 13) {
        make_all(by_pairs, ranks, NULL);
        check(ranks);
        assert_true(view[0].in_order);
    }
    for (unsigned i = 0; i < sizeof powers / sizeof powers[0]; ++i) {
        make_all(by_pairs, powers[i], NULL);
        assert_int_equal(i + 1, view[0].count);
    }
}

TEST(declared_groups_are_cut_evenly)
{
    static const char *const texts[] = {"2,2", "8,4,2", "4,2", "2,3", "3,3,3", "8,8", "2,2,2,2,2"};

    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        for (unsigned ranks = 2; ranks <= MAX_RANKS; ranks += ranks < 40 ? 1 : 17) {
            make_all(by_text, ranks, texts[i]);
            check(ranks);
        }
    }
    make_all(by_text, 64, "8,4,2");
    assert_shape("8,4,2");
    assert_int_equal(1, view[0].caches);
    make_all(by_text, 12, "3,2,2");
    assert_shape("3,2,2");
}

TEST(machines_have_the_levels_of_their_caches)
{
    lowlat_seat_t seats[MAX_RANKS];
    static const struct {
        unsigned ranks, cores, caches, domains;
        const char *shape;
        unsigned shared;
    } rows[] = {
        {128, 8, 8, 1, "8,8,2", 16},    /* 2 sockets of 8 caches of 8 cores */
        {192, 8, 12, 1, "8,3,4,2", 24}, /* 12 caches of 8 cores */
        {192, 8, 3, 4, "8,3,4,2", 24},  /* the same in four domains of a socket */
        {96, 48, 1, 1, "6,8,2", 2},     /* one cache a socket */
        {64, 64, 1, 1, "8,8", 1},       /* one cache */
        {64, 1, 64, 1, "8,8", 1},       /* a cache for each core */
        {16, 8, 8, 1, "8,2", 2},        /* a part of a socket */
        {9, 8, 8, 1, "3,3", 2},         /* a cache and a rank: even groups */
        {256, 16, 8, 1, "4,4,8,2", 16},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        seat_ranks(seats, rows[i].ranks, rows[i].cores, rows[i].caches, rows[i].domains);
        make_all(by_seats, rows[i].ranks, seats);
        check(rows[i].ranks);
        assert_shape(rows[i].shape);
        assert_int_equal(rows[i].shared, view[0].caches);
        assert_true(view[0].in_order);
    }
}

/* Ranks dealt to the sockets in turns, as mpirun maps by socket. */
TEST(neighbours_need_not_have_neighbouring_numbers)
{
    enum { RANKS = 64, SOCKETS = 2, CORES = 8 };
    lowlat_seat_t seats[RANKS];

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        const unsigned socket = rank % SOCKETS;
        seats[rank] = (lowlat_seat_t){{(uint16_t) socket, (uint16_t) socket,
                                       (uint16_t) (socket * 100 + rank / SOCKETS / CORES)}};
    }
    make_all(by_seats, RANKS, seats);
    check(RANKS);
    assert_shape("8,4,2");
    assert_false(view[0].in_order);
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        for (unsigned i = 0; i < CORES; ++i) {
            assert_int_equal(seats[rank].domain[2], seats[view[rank].level[0].rank[i]].domain[2]);
        }
        assert_int_not_equal(seats[view[rank].level[2].rank[0]].domain[0],
                             seats[view[rank].level[2].rank[1]].domain[0]);
    }
}

/* Any seats at all: no rank is left out, and none has too many to wait for. */
TEST(odd_seats_do_no_harm)
{
    lowlat_seat_t seats[MAX_RANKS];
    test_random_t random = test_random_start(20261125);

    for (unsigned round = 0; round < 200; ++round) {
        const unsigned ranks = 2 + (unsigned) test_random_below(&random, 70);
        for (unsigned rank = 0; rank < ranks; ++rank) {
            for (unsigned i = 0; i < LOWLAT_DOMAINS; ++i) {
                seats[rank].domain[i] = (uint16_t) test_random_below(&random, 1 + round % 7);
            }
        }
        make_all(by_seats, ranks, seats);
        check(ranks);
    }
}

/* One owner for many is what uneven domains would make; they are left out. */
TEST(most_members_own_a_share)
{
    lowlat_seat_t seats[MAX_RANKS];

    for (unsigned ranks = 9; ranks <= 200; ++ranks) {
        seat_ranks(seats, ranks, 8, 8, 1);
        make_all(by_seats, ranks, seats);
        check(ranks);
        for (unsigned i = 0; i < view[0].count; ++i) {
            assert_true(2 * view[0].level[i].owners >= view[0].level[i].members);
        }
    }
}

TEST(a_text_has_numbers_and_commas)
{
    static const char *const wrong[] = {
        "",   ",",  "8,", "8,,2", "1",
        "9",  "0",  "a",  "8,4x", "-2",
        "+2", " 2", "2 ", "auto", "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2"};
    unsigned members[LOWLAT_MAX_LEVELS];

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(0, lowlat_levels_parse(wrong[i], members));
    }
    assert_int_equal(3, lowlat_levels_parse("8,4,2", members));
    assert_int_equal(8, members[0]);
    assert_int_equal(4, members[1]);
    assert_int_equal(2, members[2]);
}
