/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "select.h"
#include "sizes.h"

enum {
    /* The values: how long the last agreement took; then two times of each turn. */
    VALUE_AGREE = 0,
    VALUE_TIMES,
    TIME_ALL = 0,
    TIME_COUNTED,
    TIMES,
    /* Turns after which a selector that settles does so, whatever they told. */
    ENOUGH_TURNS = 64,
    /* The program's time between calls counts up to this part of the sum: as much as a call. */
    BETWEEN_PART = 2,
    /* A steady turn that is slower by less than this may be noise. */
    LEAST_STEADY = 3 * ARC_RATIO_ONE / 2,
};
_Static_assert((int) VALUE_TIMES + (int) TIMES * (int) ARC_SELECT_TURNS == (int) ARC_SELECT_VALUES,
               "all values");

void arc_select_init(arc_select_t *select, const arc_select_config_t *config)
{
    assert(config->candidates > 0 && config->candidates <= ARC_SELECT_CANDIDATES &&
           config->first < config->candidates);
    memset(select, 0, sizeof *select);
    select->config = *config;
    select->chosen = config->first;
    for (unsigned i = 0; i < ARC_SELECT_CANDIDATES; ++i) {
        uint32_t *guess = &select->config.guess[i];
        *guess = *guess < ARC_RATIO_ONE ? ARC_RATIO_ONE : *guess;
        select->steady[i] = ARC_RATIO_ONE;
    }
    select->left = config->start_calls;
    if (0 == config->explore_percent || config->candidates < 2) {
        arc_select_fix(select, config->first);
    }
    select->calls = select->left;
}

void arc_select_fix(arc_select_t *select, unsigned candidate)
{
    assert(candidate < select->config.candidates);
    select->chosen = candidate;
    select->left = UINT64_MAX;
    select->decided = true;
    select->turns = 0;
}

void arc_select_learn(arc_select_t *select, const arc_select_t *neighbour)
{
    /* The fastest there is what guesses are ratios to. */
    uint32_t fastest = ARC_RATIO_ONE;

    for (unsigned i = 0; i < neighbour->config.candidates; ++i) {
        const uint32_t median = arc_ratios_median(&neighbour->ratios[i]);
        fastest = 0 != median && median < fastest ? median : fastest;
    }
    for (unsigned i = 0; i < select->config.candidates && i < neighbour->config.candidates; ++i) {
        const bool is_known =
            neighbour->call_ns > 0 && (i == neighbour->chosen || neighbour->turns_of[i] > 0);
        if (is_known && 0 == select->turns_of[i] && ARC_SELECT_NEVER != select->config.guess[i]) {
            select->config.guess[i] =
                (uint32_t) ((uint64_t) arc_select_ratio(neighbour, i) * ARC_RATIO_ONE / fastest);
        }
    }
}

unsigned arc_select_pick_timed(arc_select_t *select)
{
    if (0 == select->turns) {
        arc_select_compose_round(select);
    }
    assert(select->turn < select->turns);
    return select->list[select->turn].candidate;
}

/*
 * In the longest of several calls a rank may have lost its core, so it counts for at most one and a
 * half times the mean of the others.  It has to count: the calls of some algorithms differ.
 */
static uint64_t counted_ns(uint64_t sum_ns, uint64_t longest_ns, unsigned calls)
{
    enum { SEVERAL = 3 };

    if (calls < SEVERAL) {
        return sum_ns;
    }
    const uint64_t others_ns = sum_ns - longest_ns;
    const uint64_t other_ns = others_ns / (calls - 1);

    return others_ns + arc_min(longest_ns, other_ns + other_ns / 2);
}

/* Where calls of a candidate leave the program fewer cores, it needs longer between them. */
static uint64_t between_ns(const arc_select_t *select, uint64_t begin_ns)
{
    const uint64_t call_ns = select->call_ns * ARC_RATIO_ONE / select->steady[select->chosen];
    const bool follows = select->call > 0 && begin_ns > select->end_ns;

    return follows ? arc_min(begin_ns - select->end_ns, call_ns / BETWEEN_PART) : 0;
}

bool arc_select_note(arc_select_t *select, uint64_t begin_ns, uint64_t end_ns, uint64_t took_ns)
{
    arc_select_turn_t *turn = &select->list[select->turn];
    const uint64_t call_ns = (took_ns > 0 ? took_ns : 1) + between_ns(select, begin_ns);

    assert(select->turn < select->turns);
    select->end_ns = end_ns;
    turn->all_ns += call_ns;
    if (select->call >= turn->warm_calls) {
        turn->counted_ns += call_ns;
        select->longest_ns = call_ns > select->longest_ns ? call_ns : select->longest_ns;
    }
    select->call += 1;
    if (select->call == (unsigned) turn->warm_calls + turn->calls) {
        turn->counted_ns = counted_ns(turn->counted_ns, select->longest_ns, turn->calls);
        select->longest_ns = 0;
        select->call = 0;
        select->turn += 1;
    }
    return select->turn == select->turns;
}

unsigned arc_select_offer(const arc_select_t *select, uint64_t values[ARC_SELECT_VALUES])
{
    values[VALUE_AGREE] = select->took_ns;
    for (unsigned i = 0; i < select->turns; ++i) {
        uint64_t *times = &values[VALUE_TIMES + TIMES * i];
        times[TIME_ALL] = select->list[i].all_ns;
        times[TIME_COUNTED] = select->list[i].counted_ns;
    }
    return VALUE_TIMES + TIMES * select->turns;
}

/* The one in the middle. */
static uint64_t median_of(const uint64_t *values, unsigned count)
{
    uint64_t sorted[ARC_SELECT_TURNS];

    assert(count > 0 && count <= ARC_SELECT_TURNS);
    for (unsigned i = 0; i < count; ++i) {
        unsigned place = i;
        for (; place > 0 && sorted[place - 1] > values[i]; --place) {
            sorted[place] = sorted[place - 1];
        }
        sorted[place] = values[i];
    }
    return sorted[count / 2];
}

/* The account: the time of all calls, and what the round cost. */
static void settle_account(arc_select_t *select, const uint64_t *values)
{
    uint64_t round_calls = 0;

    for (unsigned i = 0; i < select->turns; ++i) {
        const arc_select_turn_t *turn = &select->list[i];
        const uint64_t calls = (uint64_t) turn->warm_calls + turn->calls;
        const uint64_t time_ns = values[VALUE_TIMES + TIMES * i + TIME_ALL];
        const uint64_t due_ns = calls * select->call_ns;

        round_calls += calls;
        select->cost_ns +=
            select->chosen != turn->candidate && time_ns > due_ns ? time_ns - due_ns : 0;
    }
    select->cost_ns += values[VALUE_AGREE];
    select->calls += round_calls;
    select->spent_ns += (select->calls - select->spent_calls) * select->call_ns;
    select->spent_calls = select->calls;
}

/* The time of a call in a turn. */
static uint64_t turn_ns(const arc_select_t *select, const uint64_t *values, unsigned turn)
{
    const uint64_t time_ns =
        values[VALUE_TIMES + TIMES * turn + TIME_COUNTED] / select->list[turn].calls;
    return time_ns > 0 ? time_ns : 1;
}

/* What that time would be behind many calls of the same candidate. */
static uint64_t steady_ns(const arc_select_t *select, const uint64_t *values, unsigned turn)
{
    return turn_ns(select, values, turn) * select->steady[select->list[turn].candidate] /
           ARC_RATIO_ONE;
}

/* The steady turn of this round took so many times the choice's other turns. */
static void set_steady(arc_select_t *select, uint64_t ratio)
{
    const uint32_t now = (uint32_t) arc_min(ratio, UINT16_MAX);
    const uint32_t least = (uint32_t) arc_min(now, arc_min(select->went_on[0], select->went_on[1]));
    const uint32_t steady = least < LEAST_STEADY ? ARC_RATIO_ONE : least;
    const uint32_t base = steady * ARC_RATIO_ONE / select->steady[select->chosen];
    uint32_t *guess = &select->config.guess[select->chosen];

    for (unsigned i = 0; i < select->config.candidates; ++i) {
        arc_ratios_rebase(&select->ratios[i], base);
    }
    *guess = (uint32_t) (((uint64_t) *guess * base + ARC_RATIO_ONE - 1) / ARC_RATIO_ONE);
    select->steady[select->chosen] = steady;
    select->may_be_stuck = now >= LEAST_STEADY && ARC_RATIO_ONE == steady;
    select->went_on[1] = select->went_on[0];
    select->went_on[0] = now;
}

/* Fills in the times of the present choice; returns how many rows there are. */
static unsigned take_rows(arc_select_t *select, const uint64_t *values,
                          uint64_t row_ns[ARC_SELECT_TURNS])
{
    uint64_t went_on_ns = 0;
    unsigned rows = 0;

    for (unsigned i = 0; i < select->turns; ++i) {
        const arc_select_turn_t *turn = &select->list[i];
        if (ARC_SELECT_STEADY == turn->row) {
            went_on_ns = turn_ns(select, values, i);
        } else if (select->chosen == turn->candidate) {
            assert(turn->row == rows);
            row_ns[rows++] = turn_ns(select, values, i);
        }
    }
    if (0 == went_on_ns) {
        return rows; /* all alone: behind its own calls */
    }
    set_steady(select, went_on_ns * ARC_RATIO_ONE / median_of(row_ns, rows));
    for (unsigned row = 0; row < rows; ++row) {
        row_ns[row] = row_ns[row] * select->steady[select->chosen] / ARC_RATIO_ONE;
    }
    return rows;
}

static void add_ratios(arc_select_t *select, const uint64_t *values)
{
    uint64_t row_ns[ARC_SELECT_TURNS];
    const unsigned rows = take_rows(select, values, row_ns);

    for (unsigned i = 0; i < select->turns; ++i) {
        const arc_select_turn_t *turn = &select->list[i];

        select->turns_of[turn->candidate] += 1;
        if (select->chosen != turn->candidate) {
            arc_ratios_add(&select->ratios[turn->candidate], steady_ns(select, values, i),
                           row_ns[turn->row]);
        }
    }
    select->call_ns = median_of(row_ns, rows);
}

/* The fastest that is faster than the present choice, by the margin and without doubt; or that. */
static unsigned find_better(const arc_select_t *select)
{
    const uint32_t limit =
        (uint32_t) ARC_RATIO_ONE - select->config.margin_percent * (uint32_t) ARC_RATIO_ONE / 100;
    unsigned best = select->chosen;
    uint32_t best_ratio = ARC_RATIO_ONE;

    for (unsigned i = 0; i < select->config.candidates; ++i) {
        const uint32_t ratio = arc_ratios_median(&select->ratios[i]);
        if (arc_ratios_are_below_one(&select->ratios[i]) && ratio < limit && ratio < best_ratio) {
            best = i;
            best_ratio = ratio;
        }
    }
    return best;
}

static void switch_to(arc_select_t *select, unsigned better)
{
    const uint64_t ratio = arc_select_ratio(select, better);
    const uint64_t guess = select->config.guess[select->chosen] * ratio / ARC_RATIO_ONE;

    for (unsigned i = 0; i < select->config.candidates; ++i) {
        arc_ratios_rebase(&select->ratios[i], (uint32_t) ratio);
    }
    /* The former choice has no ratios: it is known as a guess. */
    select->ratios[better].count = 0;
    select->config.guess[better] = guess > 0 ? (uint32_t) guess : 1;
    select->call_ns = (select->call_ns * ratio + ARC_RATIO_ONE - 1) / ARC_RATIO_ONE;
    select->chosen = better;
    select->may_be_stuck = false;
    select->went_on[0] = select->went_on[1] = select->steady[better];
    /* What is gained from now on pays for what was overdrawn: others can still be tried. */
    select->cost_ns = arc_min(select->cost_ns, arc_select_share_ns(select));
}

/* Is there nobody left who may still turn out to be faster? */
static bool is_settled(const arc_select_t *select)
{
    for (unsigned i = 0; i < select->config.candidates; ++i) {
        if (i != select->chosen && select->turns_of[i] < ENOUGH_TURNS &&
            ARC_SELECT_NEVER != select->config.guess[i] &&
            (select->may_be_stuck || arc_select_is_in_doubt(select, i))) {
            return false;
        }
    }
    return true;
}

static bool decide(arc_select_t *select)
{
    const unsigned better = find_better(select);
    const bool changes = better != select->chosen;

    if (changes) {
        switch_to(select, better);
    }
    select->decided =
        select->config.settles && (changes || (select->rounds > 1 && is_settled(select)));
    return changes || select->decided;
}

bool arc_select_take(arc_select_t *select, const uint64_t values[ARC_SELECT_VALUES],
                     uint64_t took_ns)
{
    assert(select->turn == select->turns && select->turns > 0);
    add_ratios(select, values);
    settle_account(select, values);
    select->turns = 0;
    select->rounds += 1;
    select->took_ns = took_ns;
    const bool news = decide(select);
    arc_select_wait_for_round(select);
    select->calls += UINT64_MAX == select->left ? 0 : select->left;
    return news;
}

uint64_t arc_select_call_ns(const arc_select_t *select, unsigned candidate)
{
    const bool is_known = candidate == select->chosen || select->turns_of[candidate] > 0;

    return is_known ? (select->call_ns * arc_select_ratio(select, candidate) +
                       (uint64_t) ARC_RATIO_ONE / 2) /
                          ARC_RATIO_ONE
                    : 0;
}

unsigned arc_select_class(size_t bytes)
{
    enum { LAST = ARC_SELECT_CLASSES - 1 };
    unsigned class = 0;

    while (class < LAST && bytes >= (size_t) 1 << class << 1) {
        ++class;
    }
    /* From 3/2 2^k on 2^(k+1) is the nearer one. */
    const size_t rest = bytes - arc_select_class_bytes(class);
    return class < LAST && rest >= (arc_select_class_bytes(class) + 1) / 2 ? class + 1 : class;
}

uint64_t arc_select_time_ns(size_t bytes, uint64_t took_ns)
{
    const size_t last_bytes = arc_select_class_bytes(ARC_SELECT_CLASSES - 1);

    return bytes > last_bytes ? took_ns * last_bytes / bytes : took_ns;
}
