/*
 * What a round of the selector is made of, and when there is time for one.
 *
 * A round has rows, in each of which every candidate that takes part has a turn; those that are far
 * behind only in the first row.  The number of rows doubles with each round, as far as there is
 * room.  The first round has a turn of the present choice only: its time says how long turns are.
 * One in which others have turns begins with the steady turn (select.h), and in each row the
 * present choice is last, so that its turn is never behind another one of its own.
 *
 * Short calls are noisy, overlap, and cost little; a long one is alone, and tells enough.  The
 * first calls of a candidate find memory that was never touched and connections that are not there
 * yet.  Later turns have to outlast what a network holds back for the turns before and after:
 * behind a candidate that sends less, a link lets the first calls through faster than it goes on.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "select_round.h"

enum {
    QUICK_ROUNDS = 3, /* so many, and one for each candidate, begin as soon as there is time */
    GROWTH_PART = 4,  /* then calls grow by a quarter between two */
    STUCK_PART = 16,  /* or by less, while the present choice may be stuck */
    MOST_ROWS = 8,
    SLOWER_PART = 2,                  /* those that are slower have half of the time that is left */
    FAR = 5 * ARC_RATIO_ONE / 4,      /* one turn a round tells enough */
    HOPELESS = 5 * ARC_RATIO_ONE / 2, /* tried when nothing else is left to find out */
    NOBODY = ARC_SELECT_CANDIDATES,
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
    {100000,     3, 3, 2, 8},
    {1000000,    3, 2, 2, 8},
    {20000000,   1, 1, 1, 2},
    {UINT64_MAX, 0, 1, 0, 1},
    /* clang-format on */
};

static bool was_tried(const arc_select_t *select, unsigned candidate)
{
    return candidate == select->chosen || select->turns_of[candidate] > 0;
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

bool arc_select_is_in_doubt(const arc_select_t *select, unsigned candidate)
{
    const arc_ratios_t *ratios = &select->ratios[candidate];
    const uint32_t limit =
        (uint32_t) ARC_RATIO_ONE - select->config.margin_percent * (uint32_t) ARC_RATIO_ONE / 100;

    return candidate != select->chosen && !arc_ratios_are_above(ratios, limit);
}

static arc_select_turn_t turn_of(const arc_select_t *select, unsigned candidate)
{
    const shape_t *shape = shapes;
    const bool again = was_tried(select, candidate);

    while (select->call_ns > shape->max_call_ns) {
        ++shape;
    }
    return (arc_select_turn_t){.candidate = (uint8_t) candidate,
                               .warm_calls = again ? shape->warm_calls : shape->first_warm_calls,
                               .calls = again ? shape->calls : shape->first_calls};
}

/* What a turn of `candidate` should cost more than as many calls of the present choice. */
static uint64_t turn_cost_ns(const arc_select_t *select, unsigned candidate)
{
    const arc_select_turn_t turn = turn_of(select, candidate);
    const uint32_t ratio = arc_select_ratio(select, candidate);
    const uint64_t more = ratio > ARC_RATIO_ONE ? ratio - ARC_RATIO_ONE : 0;

    return select->call_ns * (turn.warm_calls + turn.calls) * more / ARC_RATIO_ONE;
}

uint64_t arc_select_share_ns(const arc_select_t *select)
{
    const uint64_t time_ns =
        select->spent_ns + (select->calls - select->spent_calls) * select->call_ns;

    return time_ns / 100 * select->config.explore_percent;
}

/* What the candidates' turns of a round that begins now may cost; negative: there is no time. */
static int64_t time_left_ns(const arc_select_t *select)
{
    return (int64_t) (ARC_SELECT_FREE_CALLS * select->call_ns + arc_select_share_ns(select)) -
           (int64_t) select->cost_ns;
}

/* What is known of a candidate that is not chosen. */
typedef enum standing {
    UNTRIED, /* and not expected to be far slower */
    DOUBTFUL,
    SLOWER, /* or expected to be far slower */
    OUT,
} standing_t;

static standing_t standing_of(const arc_select_t *select, unsigned candidate)
{
    if (ARC_SELECT_NEVER == select->config.guess[candidate]) {
        return OUT;
    }
    if (!was_tried(select, candidate)) {
        return arc_select_ratio(select, candidate) <= HOPELESS ? UNTRIED : SLOWER;
    }
    const bool may_gain = select->may_be_stuck && arc_select_ratio(select, candidate) <= FAR;
    return may_gain || arc_select_is_in_doubt(select, candidate) ? DOUBTFUL : SLOWER;
}

/* Of a standing the one with the fewest turns, and of these the cheapest; or NOBODY. */
static unsigned find_next(const arc_select_t *select, standing_t standing)
{
    unsigned best = NOBODY;

    for (unsigned i = 0; i < select->config.candidates; ++i) {
        const bool is_better = NOBODY == best || select->turns_of[i] < select->turns_of[best] ||
                               (select->turns_of[i] == select->turns_of[best] &&
                                turn_cost_ns(select, i) < turn_cost_ns(select, best));

        if (i != select->chosen && standing == standing_of(select, i) && is_better) {
            best = i;
        }
    }
    return best;
}

/* Turns of one that may be faster, of so many rows: few if it has had few. */
static unsigned wish_of(const arc_select_t *select, unsigned candidate, unsigned rows)
{
    const unsigned more = select->ratios[candidate].count + 1;

    return arc_select_ratio(select, candidate) > FAR ? 1 : more < rows ? more : rows;
}

/* The turns of each in the round that begins now; 0: it takes no part. */
typedef struct party {
    unsigned rows[ARC_SELECT_CANDIDATES];
    int64_t left_ns;
} party_t;

/* As many turns as there is time for: `wish`, or one, or none. */
static void invite(const arc_select_t *select, party_t *party, unsigned candidate, unsigned wish)
{
    const int64_t turn_ns = (int64_t) turn_cost_ns(select, candidate);
    const unsigned turns = wish * turn_ns <= party->left_ns ? wish : 1;

    if (turns * turn_ns <= party->left_ns) {
        party->left_ns -= turns * turn_ns;
        party->rows[candidate] = turns;
    }
}

/* All of a standing, beginning with another one each time: there may be no time for the last. */
static void invite_all(const arc_select_t *select, party_t *party, standing_t standing,
                       unsigned rows)
{
    const unsigned candidates = select->config.candidates;

    for (unsigned i = 0; i < candidates; ++i) {
        const unsigned candidate = (i + select->rounds) % candidates;

        if (candidate != select->chosen && standing == standing_of(select, candidate)) {
            invite(select, party, candidate, wish_of(select, candidate, rows));
        }
    }
}

static party_t find_party(const arc_select_t *select)
{
    const unsigned doublings = select->rounds > 0 ? select->rounds - 1 : 0;
    const unsigned rows = doublings < 3 ? 1U << doublings : (unsigned) MOST_ROWS;
    const unsigned untried = find_next(select, UNTRIED);
    party_t party = {.left_ns = time_left_ns(select)};

    if (0 == select->rounds) {
        return party;
    }
    if (NOBODY != untried) {
        invite(select, &party, untried, 1);
    }
    invite_all(select, &party, DOUBTFUL, rows);
    if (NOBODY == untried) {
        party.left_ns /= SLOWER_PART;
        invite_all(select, &party, SLOWER, 1);
    }
    return party;
}

static void add_turn(arc_select_t *select, unsigned candidate, unsigned row)
{
    arc_select_turn_t *turn = &select->list[select->turns++];

    *turn = turn_of(select, candidate);
    turn->row = (uint8_t) row;
}

void arc_select_compose_round(arc_select_t *select)
{
    const unsigned candidates = select->config.candidates;
    party_t party = find_party(select);
    unsigned members = 1;
    unsigned rows = 1;

    for (unsigned i = 0; i < candidates; ++i) {
        members += party.rows[i] > 0;
        rows = party.rows[i] > rows ? party.rows[i] : rows;
    }
    rows = rows * members < ARC_SELECT_TURNS ? rows : (ARC_SELECT_TURNS - 1) / members;
    party.rows[select->chosen] = rows;
    select->turns = 0;
    if (members > 1) {
        add_turn(select, select->chosen, ARC_SELECT_STEADY);
    }
    for (unsigned row = 0; row < rows; ++row) {
        /* Each row begins with another guest: to be first is to come behind other calls. */
        for (unsigned i = 1; i < candidates; ++i) {
            const unsigned step = 1 + (i + row) % (candidates - 1);
            const unsigned guest = (select->chosen + step) % candidates;

            if (row < party.rows[guest]) {
                add_turn(select, guest, row);
            }
        }
        add_turn(select, select->chosen, row);
    }
    select->turn = 0;
    select->call = 0;
    select->longest_ns = 0;
}

/* What must be left when the next round begins, so that somebody takes part in it. */
static uint64_t least_left_ns(const arc_select_t *select)
{
    const unsigned untried = find_next(select, UNTRIED);
    const unsigned doubtful = find_next(select, DOUBTFUL);

    if (NOBODY == untried && NOBODY == doubtful) {
        return SLOWER_PART * turn_cost_ns(select, find_next(select, SLOWER));
    }
    const uint64_t untried_ns = NOBODY == untried ? UINT64_MAX : turn_cost_ns(select, untried);
    const uint64_t doubtful_ns = NOBODY == doubtful ? UINT64_MAX : turn_cost_ns(select, doubtful);

    return untried_ns < doubtful_ns ? untried_ns : doubtful_ns;
}

void arc_select_wait_for_round(arc_select_t *select)
{
    const uint64_t percent_ns = select->call_ns * select->config.explore_percent;

    if (select->decided || select->config.candidates < 2 || 0 == percent_ns) {
        select->left = UINT64_MAX;
        return;
    }
    const int64_t lack_ns = (int64_t) least_left_ns(select) - time_left_ns(select);
    const uint64_t budget_calls = lack_ns > 0 ? (uint64_t) lack_ns * 100 / percent_ns + 1 : 0;
    const uint64_t part = select->may_be_stuck ? STUCK_PART : GROWTH_PART;
    const uint64_t quiet_calls =
        select->rounds < QUICK_ROUNDS + select->config.candidates ? 0 : select->calls / part;

    select->left = budget_calls > quiet_calls ? budget_calls : quiet_calls;
}
