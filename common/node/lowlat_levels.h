/*
 * The levels of a node: groups of ranks that are near to each other, groups of such groups, and so
 * on.  An exchange by levels (lowlat_by_levels.h) goes from the innermost level outwards, so that
 * few lines travel far, and a rank waits for seven others on a level, not for all.
 *
 *     2 sockets of 2 caches of 4 ranks       level 0   0 1 2 3 | 4 5 6 7 | 8 9 10 11 | 12 13 14 15
 *                                            level 1   the caches of a socket
 *                                            level 2   the sockets
 *
 * The *places* of a node are its ranks in the order of their seats.  A unit of level l is a run of
 * places: of level 0 one place, of the level behind the last one all.  The *members* of a rank's
 * group on level l are the units of level l in its unit of level l + 1.  A member is spoken for by
 * the rank that stands in it as ours does in our own unit: the same way from its top down to a
 * rank, modulo the number of members where it has fewer.
 *
 * The first `owners` members of a group share out a vector.  Their number is that of the smallest
 * group of the level, so that what is shared out on one level is cut alike in all groups.
 *
 * Pure, and a function of facts that are equal on all ranks of the node.
 *
 * Source: M. Chaarawi et al., "HAN: a hierarchical autotuned collective communication framework";
 * G. Katevenis, M. Ploumidis, M. Marazakis, "A framework for hierarchical single-copy MPI
 * collectives on multicore nodes" (xhc), which have the groups, and leaders in place of owners.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_LEVELS_H
#define LOWLAT_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LOWLAT_LEVEL_MEMBERS = 8, /* readers of a line, at most, but for uneven groups */
    LOWLAT_MAX_LEVELS = 16,
    LOWLAT_DOMAINS = 3,
    LOWLAT_FLAT_RANKS = 8, /* nodes of so many ranks or fewer are flat */
};

/* Where a rank runs; numbers of the node, outermost first: socket, NUMA domain, last-level cache.
 */
typedef struct lowlat_seat {
    uint16_t domain[LOWLAT_DOMAINS];
} lowlat_seat_t;

typedef struct lowlat_level {
    uint16_t members;
    uint16_t own;    /* which one is ours */
    uint16_t owners; /* members that share out a vector; the same in all groups of the level */
    uint16_t rank[LOWLAT_LEVEL_MEMBERS]; /* that speaks for a member, to us */
} lowlat_level_t;

/* A rank's view of the levels.  Zero-initialised: it has none, and the node is flat. */
typedef struct lowlat_levels {
    unsigned count;
    unsigned caches; /* last-level ones that ranks share; 1, too, if none is known */
    bool in_order;   /* places are ranks: sums by levels keep the order of the ranks */
    uint64_t shape;  /* a hash: nodes that have the same have the same groups, rank by rank */
    lowlat_level_t level[LOWLAT_MAX_LEVELS];
} lowlat_levels_t;

/*
 * By seats.  A domain whose parts are so uneven that half of the ranks would own nothing is left
 * out; more than LOWLAT_LEVEL_MEMBERS members make a further level.  False: there is no memory.
 */
bool lowlat_levels_by_seats(lowlat_levels_t *levels, unsigned rank, unsigned ranks,
                            const lowlat_seat_t *seats);

/*
 * By numbers of members, innermost level first, of `count` levels, ranks in their order: 8, 4, 2
 * are two halves of four groups each.  How many ranks a group has follows from how many there are.
 */
bool lowlat_levels_by_numbers(lowlat_levels_t *levels, unsigned rank, unsigned ranks,
                              const unsigned *members, unsigned count);

/* Two members on each level: the pairs of the butterflies. */
bool lowlat_levels_by_pairs(lowlat_levels_t *levels, unsigned rank, unsigned ranks);

/* Read "8,4,2" into `members`; how many there are, 0: it is no such text. */
unsigned lowlat_levels_parse(const char *text, unsigned members[LOWLAT_MAX_LEVELS]);

#endif
