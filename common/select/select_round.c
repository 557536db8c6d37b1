/*
 * What a round of the selector is made of, and when there is time for one.
 *
 * A round has rows, in each of which every candidate that takes part has a turn; those that are far
 * behind only in the first row.  The number of rows doubles with each round, as far as there is
 * room.
 *
 * The calls of a turn depend on how long one takes.  Short ones are noisy, overlap, and cost
 * little; a long one is alone, and tells enough.  The first turn of a candidate finds memory that
 * was never touched and connections that are not there yet; where calls are long it has one call,
 * which counts for a guess only.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "select_round.h"

enum {
    /* So many, and one for each candidate, follow each other as soon as there is time. */
    QUICK_ROUNDS = 3,
    DOUBT_PART = 4, /* then calls grow by a quarter between two, while somebody may be faster */
    MOST_ROWS = 8,
    /* What was never tried may be slower than guessed. */
    UNTRIED = ARC_RATIO_ONE / 5,
    FAR = ARC_RATIO_ONE + ARC_RATIO_ONE / 4,
};

/* What a turn is made of, by the time of a call. */
typedef struct shape {
    uint64_t max_call_ns;
    uint8_t first_warm_calls; /* of a candidate's first turn */
    uint8_t first_calls;
    uint8_t warm_calls;
    uint8_t calls;
} shape_t;

static const shape_t shapes[] = {
    /* clang-format off */
    {0,          0, 4, 0, 4}, /* nothing is known: the present choice's first */
    {100000,     3, 3, 1, 5},
    {1000000,    3, 2, 1, 3},
    {20000000,   1, 0, 1, 2},
    {UINT64_MAX, 1, 0, 0, 1},
    /* clang-format on */
};

static const shape_t *shape_of(const arc_select_t *select)
{
    const shape_t *shape = shapes;

    while (select->call_ns > shape->max_call_ns) {
        ++shape;
    }
    return shape;
}

static bool was_tried(const arc_select_t *select, unsigned candidate)
{
    return candidate == select->chosen || 0 != (select->tried >> candidate & 1);
}

uint32_t arc_select_ratio(const arc_select_t *select, unsigned candidate)
{
    const arc_ratios_t *ratios = &select->ratios[candidate];
    const uint64_t guess = select->config.guess[candidate];

    if (candidate == select->chosen) {
        return ARC_RATIO_ONE;
    }
    return ratios->count > 0
               ? arc_ratios_median(ratios)
               : (uint32_t) (guess * ARC_RATIO_ONE / select->config.guess[select->chosen]);
}

/* The calls of a turn of `candidate`. */
static arc_select_turn_t turn_of(const arc_select_t *select, unsigned candidate)
{
    const shape_t *shape = shape_of(select);
    const bool again = was_tried(select, candidate);

    return (arc_select_turn_t){.candidate = (uint8_t) candidate,
                               .warm_calls = again ? shape->warm_calls : shape->first_warm_calls,
                               .calls = again ? shape->calls : shape->first_calls};
}

/* What a turn of `candidate` should cost more than as many calls of the present choice. */
static uint64_t turn_cost_ns(const arc_select_t *select, unsigned candidate)
{
    const arc_select_turn_t turn = turn_of(select, candidate);
    const uint32_t ratio = arc_select_ratio(select, candidate) +
                           (was_tried(select, candidate) ? 0 : (uint32_t) UNTRIED);
    const uint64_t more = ratio > ARC_RATIO_ONE ? ratio - ARC_RATIO_ONE : 0;

    return select->call_ns * (turn.warm_calls + turn.calls) * more / ARC_RATIO_ONE;
}

/* Was it never tried, and is not expected to be far behind? */
static bool is_due(const arc_select_t *select, unsigned candidate)
{
    return !was_tried(select, candidate) && arc_select_ratio(select, candidate) <= FAR;
}

/*
 * One that is due comes first, since cheap turns of those that are known would use up the time for
 * it in every round; then the one whose turn costs least.
 */
static bool comes_before(const arc_select_t *select, unsigned one, unsigned other)
{
    return is_due(select, one) == is_due(select, other)
               ? turn_cost_ns(select, one) < turn_cost_ns(select, other)
               : is_due(select, one);
}

/* The candidates but the present choice, in the order in which they are invited.  How many. */
static unsigned sort_candidates(const arc_select_t *select, unsigned sorted[ARC_SELECT_CANDIDATES])
{
    unsigned count = 0;

    for (unsigned i = 0; i < select->config.candidates; ++i) {
        if (i == select->chosen) {
            continue;
        }
        unsigned place = count++;
        for (; place > 0 && comes_before(select, i, sorted[place - 1]); --place) {
            sorted[place] = sorted[place - 1];
        }
        sorted[place] = i;
    }
    return count;
}

uint64_t arc_select_share_ns(const arc_select_t *select)
{
    const uint64_t time_ns =
        select->spent_ns + (select->calls - select->spent_calls) * select->call_ns;

    return time_ns / 100 * select->config.explore_percent;
}

/* What exploring may have cost after all calls. */
static uint64_t allowance_ns(const arc_select_t *select)
{
    return ARC_SELECT_FREE_CALLS * select->call_ns + arc_select_share_ns(select);
}

/* Who takes part, and with how many rows. */
typedef struct party {
    unsigned rows[ARC_SELECT_CANDIDATES]; /* 0: doesn't */
    unsigned most_rows;
} party_t;

/*
 * The turns that a candidate should have in a round of so many rows.  One that is known from few
 * turns has few more; one that is far behind has one, unless its last one told something else.
 */
static unsigned wish_of(const arc_select_t *select, unsigned candidate, unsigned rows)
{
    const arc_ratios_t *ratios = &select->ratios[candidate];
    const unsigned more = ratios->count + 1;

    if (0 == ratios->count ||
        (arc_ratios_median(ratios) > FAR && arc_ratios_last(ratios) > ARC_RATIO_ONE)) {
        return 1;
    }
    return more < rows ? more : rows;
}

/* Those whom there is time for, at this call. */
static party_t invite(const arc_select_t *select)
{
    unsigned sorted[ARC_SELECT_CANDIDATES];
    party_t party = {.most_rows = 1};

    const unsigned doublings =
        select->rounds > ARC_SELECT_FIRST_ROUND ? select->rounds - ARC_SELECT_FIRST_ROUND : 0;
    const unsigned rows = doublings < 3 ? 1U << doublings : (unsigned) MOST_ROWS;
    const uint64_t allowed_ns = allowance_ns(select);
    uint64_t cost_ns = select->cost_ns + select->agree_ns;
    bool has_new = false; /* one at a time: it may cost far more than expected */

    const unsigned count =
        0 == select->rounds ? 0 : sort_candidates(select, sorted); /* the first is of one */
    for (unsigned i = 0; i < count; ++i) {
        const unsigned candidate = sorted[i];
        const uint64_t turn_ns = turn_cost_ns(select, candidate);
        unsigned turns = wish_of(select, candidate, rows);

        turns = cost_ns + turns * turn_ns <= allowed_ns ? turns : 1;
        if (cost_ns + turns * turn_ns <= allowed_ns && (was_tried(select, candidate) || !has_new)) {
            has_new = has_new || !was_tried(select, candidate);
            cost_ns += turns * turn_ns;
            party.rows[candidate] = turns;
            party.most_rows = turns > party.most_rows ? turns : party.most_rows;
        }
    }
    party.rows[select->chosen] = party.most_rows;
    return party;
}

/* Is there room for the whole row? */
static bool row_fits(const arc_select_t *select, const party_t *party, unsigned row)
{
    unsigned turns = select->turns;

    for (unsigned i = 0; i < select->config.candidates; ++i) {
        turns += row < party->rows[i];
    }
    return turns <= ARC_SELECT_TURNS;
}

void arc_select_compose_round(arc_select_t *select)
{
    const party_t party = invite(select);
    const unsigned candidates = select->config.candidates;

    select->turns = 0;
    for (unsigned row = 0; row < party.most_rows && row_fits(select, &party, row); ++row) {
        /* Each row begins with another one: to be first is to come behind other calls. */
        for (unsigned i = 0; i < candidates; ++i) {
            const unsigned candidate = (i + row) % candidates;
            arc_select_turn_t turn = turn_of(select, candidate);

            if (row < party.rows[candidate]) {
                turn.row = (uint8_t) row;
                select->list[select->turns++] = turn;
            }
        }
    }
    select->turn = 0;
    select->call = 0;
    select->longest_ns = 0;
}

/* May somebody still turn out to be faster by the margin? */
static bool is_in_doubt(const arc_select_t *select)
{
    const uint32_t limit =
        (uint32_t) ARC_RATIO_ONE - select->config.margin_percent * (uint32_t) ARC_RATIO_ONE / 100;

    for (unsigned i = 0; i < select->config.candidates; ++i) {
        const arc_ratios_t *ratios = &select->ratios[i];
        if (i != select->chosen &&
            (!arc_ratios_are_above(ratios, limit) || arc_ratios_last(ratios) < limit)) {
            return true;
        }
    }
    return false;
}

void arc_select_wait_for_round(arc_select_t *select)
{
    const uint64_t percent_ns = select->call_ns * select->config.explore_percent;
    unsigned sorted[ARC_SELECT_CANDIDATES];

    if (select->decided || select->config.candidates < 2 || 0 == percent_ns) {
        select->left = UINT64_MAX;
        return;
    }
    (void) sort_candidates(select, sorted);
    /* Until there is time for the one that comes first. */
    const uint64_t need_ns = select->cost_ns + select->agree_ns + turn_cost_ns(select, sorted[0]);
    const uint64_t allowed_ns = allowance_ns(select);
    const uint64_t budget_calls =
        need_ns <= allowed_ns ? 0 : (need_ns - allowed_ns) * 100 / percent_ns + 1;
    const uint64_t quiet_calls = select->rounds < QUICK_ROUNDS + select->config.candidates ? 0
                                 : is_in_doubt(select) ? select->calls / DOUBT_PART
                                                       : select->calls;

    select->left = budget_calls > quiet_calls ? budget_calls : quiet_calls;
}
