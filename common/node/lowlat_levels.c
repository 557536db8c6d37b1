/*
 * The plan is made from the top down: cuts of the row of places, each finer than the one before.
 * A cut is a row of numbers, for each place that of the first place of its unit.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "lowlat_levels.h"
#include "sizes.h"

typedef struct place {
    lowlat_seat_t seat;
    unsigned rank;
} place_t;

typedef struct plan {
    unsigned ranks;
    place_t *place;
    unsigned cuts; /* outermost first */
    uint16_t *cut[LOWLAT_MAX_LEVELS + 1];
    uint16_t *finer; /* the one that is to be reached next; in front of all others */
} plan_t;

static bool plan_make(plan_t *plan, unsigned ranks)
{
    enum { CUTS = LOWLAT_MAX_LEVELS + 1 };

    *plan = (plan_t){.ranks = ranks,
                     .place = calloc(ranks, sizeof(place_t)),
                     .finer = calloc(CUTS + 1, ranks * sizeof(uint16_t))};
    const bool made = NULL != plan->place && NULL != plan->finer && ranks <= UINT16_MAX;
    for (unsigned i = 0; made && i < CUTS; ++i) {
        plan->cut[i] = plan->finer + (size_t) (i + 1) * ranks;
    }
    for (unsigned i = 0; made && i < ranks; ++i) {
        plan->place[i].rank = i;
    }
    plan->cuts = 1; /* the first one has all places in one unit */
    return made;
}

static void cut_singly(const plan_t *plan, uint16_t *cut)
{
    for (unsigned place = 0; place < plan->ranks; ++place) {
        cut[place] = (uint16_t) place;
    }
}

static unsigned unit_end(const plan_t *plan, const uint16_t *cut, unsigned begin)
{
    unsigned end = begin;

    while (end < plan->ranks && cut[end] == begin) {
        ++end;
    }
    return end;
}

/* How many units of `inner` begin in places [begin, end). */
static unsigned members_in(const uint16_t *inner, unsigned begin, unsigned end)
{
    unsigned members = 0;

    for (unsigned place = begin; place < end; ++place) {
        members += inner[place] == place;
    }
    return members;
}

typedef struct extremes {
    unsigned fewest;
    unsigned most;
} extremes_t;

/* Of the units of `outer`: the fewest and the most units of `inner` in one. */
static extremes_t count_members(const plan_t *plan, const uint16_t *outer, const uint16_t *inner)
{
    extremes_t count = {.fewest = plan->ranks};

    for (unsigned begin = 0, end = 0; begin < plan->ranks; begin = end) {
        end = unit_end(plan, outer, begin);
        const unsigned members = members_in(inner, begin, end);
        count.fewest = members < count.fewest ? members : count.fewest;
        count.most = members > count.most ? members : count.most;
    }
    return count;
}

/* Cut each unit of `outer` into `pieces`, or fewer, of as many units of `inner` as can be. */
static void cut_evenly(const plan_t *plan, const uint16_t *outer, const uint16_t *inner,
                       unsigned pieces, uint16_t *cut)
{
    for (unsigned begin = 0, end = 0; begin < plan->ranks; begin = end) {
        end = unit_end(plan, outer, begin);
        const unsigned members = members_in(inner, begin, end);
        unsigned first = begin;
        unsigned piece = 0;
        unsigned member = 0;
        for (unsigned place = begin; place < end; ++place) {
            member += place > begin && inner[place] == place;
            const unsigned of = (unsigned) (((size_t) member + 1) * pieces - 1) / members;
            first = of != piece ? place : first;
            piece = of;
            cut[place] = (uint16_t) first;
        }
    }
}

/* Into how many pieces to cut `members`, so that `levels` further ones are enough for a piece. */
static unsigned pieces_of(unsigned members, unsigned levels)
{
    unsigned rest = 1; /* what a piece may have */

    for (unsigned i = 0; i < levels; ++i) {
        rest *= LOWLAT_LEVEL_MEMBERS;
    }
    const unsigned least = (unsigned) arc_divide_up(members, rest);
    unsigned even = 1; /* the least number whose power has room */
    for (unsigned room = 0; room < members; ++even) {
        room = 1;
        for (unsigned i = 0; i <= levels; ++i) {
            room *= even + 1;
        }
    }
    for (unsigned pieces = even; pieces <= LOWLAT_LEVEL_MEMBERS; ++pieces) {
        if (0 == members % pieces) {
            return pieces;
        }
    }
    for (unsigned pieces = even; pieces >= least && pieces > 1; --pieces) {
        if (0 == members % pieces) {
            return pieces;
        }
    }
    return even;
}

/* Cuts between the last one and plan->finer, until no unit has too many members; then that one. */
static void refine(plan_t *plan)
{
    const uint16_t *inner = plan->finer;
    unsigned most = count_members(plan, plan->cut[plan->cuts - 1], inner).most;
    unsigned levels = 0;

    for (unsigned room = LOWLAT_LEVEL_MEMBERS; room < most; room *= LOWLAT_LEVEL_MEMBERS) {
        ++levels;
    }
    for (; levels > 0 && plan->cuts < LOWLAT_MAX_LEVELS; --levels) {
        cut_evenly(plan, plan->cut[plan->cuts - 1], inner, pieces_of(most, levels),
                   plan->cut[plan->cuts]);
        plan->cuts += 1;
        most = count_members(plan, plan->cut[plan->cuts - 1], inner).most;
    }
    if (most > 1) {
        memcpy(plan->cut[plan->cuts], inner, plan->ranks * sizeof *inner);
        plan->cuts += 1;
    }
}

/* ---- a rank's view ---- */

/* The place in the unit of `cut` that begins at `begin` to which the same way leads as to ours. */
static unsigned counterpart(const plan_t *plan, const lowlat_levels_t *levels, unsigned level,
                            unsigned begin)
{
    while (level-- > 0) {
        const uint16_t *outer = plan->cut[plan->cuts - 2 - level];
        const uint16_t *inner = plan->cut[plan->cuts - 1 - level];
        const unsigned end = unit_end(plan, outer, begin);
        unsigned left = levels->level[level].own % members_in(inner, begin, end);
        for (; left > 0; --left) {
            begin = unit_end(plan, inner, begin);
        }
    }
    return begin;
}

static bool view(const plan_t *plan, unsigned rank, lowlat_levels_t *levels)
{
    unsigned own = 0;

    *levels = (lowlat_levels_t){
        .count = plan->cuts - 1, .caches = 1, .in_order = true, .shape = ARC_HASH_EMPTY};
    for (unsigned place = 0; place < plan->ranks; ++place) {
        levels->shape = arc_hash_add(levels->shape, plan->place[place].rank);
        for (unsigned i = 0; i < plan->cuts; ++i) {
            levels->shape = arc_hash_add(levels->shape, plan->cut[i][place]);
        }
        own = rank == plan->place[place].rank ? place : own;
        levels->in_order = levels->in_order && place == plan->place[place].rank;
    }
    for (unsigned i = 0; i < levels->count; ++i) {
        const uint16_t *outer = plan->cut[plan->cuts - 2 - i];
        const uint16_t *inner = plan->cut[plan->cuts - 1 - i];
        lowlat_level_t *level = &levels->level[i];
        const extremes_t members = count_members(plan, outer, inner);

        if (members.most > LOWLAT_LEVEL_MEMBERS) {
            return false;
        }
        level->owners = (uint16_t) members.fewest;
        const unsigned end = unit_end(plan, outer, outer[own]);
        for (unsigned begin = outer[own]; begin < end; begin = unit_end(plan, inner, begin)) {
            level->own = begin == inner[own] ? level->members : level->own;
            level->rank[level->members] =
                (uint16_t) plan->place[counterpart(plan, levels, i, begin)].rank;
            level->members += 1;
        }
    }
    return true;
}

/* The last cut has a unit for each place. */
static bool finish(plan_t *plan, bool made, unsigned rank, lowlat_levels_t *levels)
{
    if (made) {
        cut_singly(plan, plan->finer);
        refine(plan);
        made = view(plan, rank, levels);
    }
    if (!made) {
        *levels = (lowlat_levels_t){.count = 0};
    }
    free(plan->finer);
    free(plan->place);
    return made;
}

/* ---- what it is made from ---- */

static int compare(const void *a, const void *b)
{
    const place_t *one = a;
    const place_t *other = b;

    for (unsigned i = 0; i < LOWLAT_DOMAINS; ++i) {
        if (one->seat.domain[i] != other->seat.domain[i]) {
            return one->seat.domain[i] < other->seat.domain[i] ? -1 : 1;
        }
    }
    return one->rank < other->rank ? -1 : 1;
}

/* Units of ranks that share the first `domains` domains. */
static void cut_by_domain(const plan_t *plan, unsigned domains, uint16_t *cut)
{
    cut[0] = 0;
    for (unsigned place = 1; place < plan->ranks; ++place) {
        bool same = true;
        for (unsigned i = 0; i < domains; ++i) {
            same =
                same && plan->place[place].seat.domain[i] == plan->place[place - 1].seat.domain[i];
        }
        cut[place] = same ? cut[place - 1] : (uint16_t) place;
    }
}

/* Which domains have parts that are nearly of one size?  From the innermost outwards. */
static unsigned even_domains(const plan_t *plan, unsigned even[LOWLAT_DOMAINS])
{
    uint16_t *outer = plan->cut[LOWLAT_MAX_LEVELS]; /* not needed yet */
    uint16_t *inner = plan->cut[LOWLAT_MAX_LEVELS - 1];
    unsigned count = 0;

    cut_singly(plan, inner);
    for (unsigned domains = LOWLAT_DOMAINS; domains > 0; --domains) {
        cut_by_domain(plan, domains, outer);
        const extremes_t parts = count_members(plan, outer, inner);
        if (parts.most > 1 && 2 * parts.fewest >= parts.most) {
            even[count++] = domains;
            memcpy(inner, outer, plan->ranks * sizeof *inner);
        }
    }
    return count;
}

bool lowlat_levels_by_seats(lowlat_levels_t *levels, unsigned rank, unsigned ranks,
                            const lowlat_seat_t *seats)
{
    unsigned even[LOWLAT_DOMAINS];
    unsigned caches = 0;
    plan_t plan;
    bool made = plan_make(&plan, ranks);

    for (unsigned i = 0; made && i < ranks; ++i) {
        plan.place[i].seat = seats[i];
    }
    if (made) {
        qsort(plan.place, ranks, sizeof plan.place[0], compare);
        cut_by_domain(&plan, LOWLAT_DOMAINS, plan.finer);
        caches = members_in(plan.finer, 0, ranks);
        for (unsigned left = even_domains(&plan, even); left > 0; --left) {
            cut_by_domain(&plan, even[left - 1], plan.finer);
            refine(&plan);
        }
    }
    made = finish(&plan, made, rank, levels);
    levels->caches = caches < ranks ? caches : 1;
    return made;
}

bool lowlat_levels_by_numbers(lowlat_levels_t *levels, unsigned rank, unsigned ranks,
                              const unsigned *members, unsigned count)
{
    plan_t plan;
    const bool made = plan_make(&plan, ranks);

    for (unsigned i = count; made && i-- > 1 && plan.cuts < LOWLAT_MAX_LEVELS;) {
        cut_singly(&plan, plan.finer);
        cut_evenly(&plan, plan.cut[plan.cuts - 1], plan.finer, members[i], plan.cut[plan.cuts]);
        plan.cuts += count_members(&plan, plan.cut[plan.cuts - 1], plan.cut[plan.cuts]).most > 1;
    }
    return finish(&plan, made, rank, levels);
}

bool lowlat_levels_by_pairs(lowlat_levels_t *levels, unsigned rank, unsigned ranks)
{
    unsigned members[LOWLAT_MAX_LEVELS];
    unsigned count = 0;

    for (unsigned room = 1; room < ranks && count < LOWLAT_MAX_LEVELS; room *= 2) {
        members[count++] = 2;
    }
    return lowlat_levels_by_numbers(levels, rank, ranks, members, count);
}

unsigned lowlat_levels_parse(const char *text, unsigned members[LOWLAT_MAX_LEVELS])
{
    unsigned count = 0;

    for (;;) {
        char *end = NULL;
        const unsigned long number = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
        if (number < 2 || number > LOWLAT_LEVEL_MEMBERS || LOWLAT_MAX_LEVELS == count ||
            (',' != *end && '\0' != *end)) {
            return 0;
        }
        members[count++] = (unsigned) number;
        if ('\0' == *end) {
            return count;
        }
        text = end + 1;
    }
}
