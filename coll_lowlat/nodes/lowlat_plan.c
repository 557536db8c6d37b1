/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "lowlat_plan.h"
#include "lowlat_select.h"

enum {
    BELOW = 0,  /* the candidate */
    LONGER = 4, /* times the longest that was tried: for all that are longer */
};

unsigned lowlat_plan_candidates(lowlat_candidate_t candidates[LOWLAT_PLAN_CANDIDATES],
                                unsigned owners)
{
    unsigned count = 0;

    candidates[count++] = (lowlat_candidate_t){LOWLAT_PASS_DOWN, false};
    for (unsigned leaders = 0; leaders < (owners > 1 ? 2 : 1); ++leaders) {
        for (unsigned algorithm = LOWLAT_NODES_FIRST; algorithm < LOWLAT_ALGORITHMS; ++algorithm) {
            if (lowlat_algorithms[algorithm].reproducible) {
                candidates[count++] = (lowlat_candidate_t){algorithm, leaders};
            }
        }
    }
    return count;
}
_Static_assert(1 + 2 * ((int) LOWLAT_ALGORITHM_RING - (int) LOWLAT_NODES_FIRST) <=
                   LOWLAT_PLAN_CANDIDATES,
               "room for all candidates");

/* The fastest of ours at a length, with or without leaders; BELOW if none was tried. */
static unsigned find_fastest(const lowlat_trials_t *trials, unsigned length, bool leaders)
{
    const double *seconds = trials->seconds[length];
    unsigned best = BELOW;

    for (unsigned i = BELOW + 1; i < trials->candidates; ++i) {
        if (leaders == trials->candidate[i].leaders && seconds[i] > 0 &&
            (BELOW == best || seconds[i] < seconds[best])) {
            best = i;
        }
    }
    return best;
}

/* The least time of all at a length. */
static double least_seconds_of(const lowlat_trials_t *trials, unsigned length)
{
    const double *seconds = trials->seconds[length];
    double least_seconds = seconds[BELOW];

    for (unsigned i = BELOW + 1; i < trials->candidates; ++i) {
        least_seconds = seconds[i] > 0 && seconds[i] < least_seconds ? seconds[i] : least_seconds;
    }
    return least_seconds;
}

bool lowlat_plan_wants(const lowlat_trials_t *trials, unsigned i)
{
    enum { TWICE = 2, LONG_BYTES = 64 << 10 };
    static const double close = 1.15; /* times the time of the fastest */
    const bool has_fewest_steps = LOWLAT_ALGORITHM_DOUBLING == trials->candidate[i].algorithm;
    const unsigned last = trials->lengths - 1;

    if (BELOW == i || 0 == trials->lengths) {
        return BELOW == i || has_fewest_steps;
    }
    const bool is_first_of_kind = i == find_fastest(trials, last, trials->candidate[i].leaders);
    for (unsigned length = 0; length < trials->lengths; ++length) {
        const bool is_short = trials->bytes[length] < LONG_BYTES;
        const double limit = is_short || is_first_of_kind ? TWICE : close;
        if (trials->seconds[length][i] > limit * least_seconds_of(trials, length)) {
            return false;
        }
    }
    return has_fewest_steps || least_seconds_of(trials, last) > TWICE * least_seconds_of(trials, 0);
}

/*
 * How many of the lengths, from the shortest on, leaders are for: so many that the sum of what
 * they gain is greatest.  So one trial that went wrong decides nothing.
 */
static unsigned count_for_leaders(const lowlat_trials_t *trials)
{
    unsigned best_count = 0;
    double gain = 0;
    double best_gain = 0;

    for (unsigned length = 0; length < trials->lengths; ++length) {
        const unsigned leader = find_fastest(trials, length, true);
        const unsigned all = find_fastest(trials, length, false);
        const double *seconds = trials->seconds[length];
        /* What is not tried any more was far behind. */
        gain += BELOW == all      ? (BELOW != leader)
                : BELOW == leader ? -1
                                  : (seconds[all] - seconds[leader]) / seconds[all];
        if (gain > best_gain) {
            best_gain = gain;
            best_count = length + 1;
        }
    }
    return best_count;
}

static void add_rule(lowlat_plan_t *plan, unsigned algorithm, size_t max_bytes)
{
    lowlat_rule_t *last = plan->rules > 0 ? &plan->rule[plan->rules - 1] : NULL;

    if (NULL == last || (last->algorithm != algorithm && plan->rules < LOWLAT_PLAN_RULES)) {
        plan->rule[plan->rules++] = (lowlat_rule_t){max_bytes, algorithm};
        return;
    }
    if (last->algorithm != algorithm) {
        last->algorithm = LOWLAT_PASS_DOWN; /* no room for the difference */
    }
    last->max_bytes = max_bytes;
}

/* What `candidate` should take for a length behind the last trial. */
static double seconds_beyond(const lowlat_trials_t *trials, unsigned candidate, size_t bytes)
{
    const unsigned last = trials->lengths - 1;
    const double first = trials->seconds[last][candidate];
    const double before = last > 0 ? trials->seconds[last - 1][candidate] : first;
    const double step_bytes =
        (double) (trials->bytes[last] - (last > 0 ? trials->bytes[last - 1] : 0));
    const double slope = first > before ? (first - before) / step_bytes : 0;

    return first + slope * (double) (bytes - trials->bytes[last]);
}

/*
 * Was candidate i tried with the two longest messages, and are these long enough to tell how it
 * will go on: with ten times the time of the shortest?
 */
static bool only_bytes_count(const lowlat_trials_t *trials, unsigned i)
{
    enum { MANY = 10 };
    const unsigned last = trials->lengths - 1;

    return trials->lengths > 1 && trials->seconds[last][i] > 0 &&
           trials->seconds[last - 1][i] > 0 &&
           least_seconds_of(trials, last) > MANY * least_seconds_of(trials, 0);
}

/* `trials` and one length more, which stands for all that are longer. */
static lowlat_trials_t with_long_messages(const lowlat_trials_t *trials)
{
    lowlat_trials_t more = *trials;

    assert(trials->lengths > 0 && trials->lengths < LOWLAT_PLAN_LENGTHS &&
           trials->candidates <= LOWLAT_PLAN_CANDIDATES);
    more.bytes[more.lengths] = LONGER * trials->bytes[trials->lengths - 1];
    for (unsigned i = 0; i < trials->candidates; ++i) {
        more.seconds[more.lengths][i] = 0;
        if (BELOW == i || only_bytes_count(trials, i)) {
            more.seconds[more.lengths][i] = seconds_beyond(trials, i, more.bytes[more.lengths]);
        }
    }
    more.lengths += 1;
    return more;
}

void lowlat_plan_make(lowlat_plan_t *plan, const lowlat_trials_t *trials, double margin_percent)
{
    const lowlat_trials_t all = with_long_messages(trials);
    const unsigned for_leaders = count_for_leaders(&all);

    plan->rules = 0;
    plan->leader_bytes = for_leaders == all.lengths ? SIZE_MAX
                         : 0 == for_leaders         ? 1
                                                    : all.bytes[for_leaders - 1];
    for (unsigned length = 0; length < all.lengths; ++length) {
        const bool leaders = all.bytes[length] <= plan->leader_bytes;
        const unsigned best = find_fastest(&all, length, leaders);
        /* A guess must promise more. */
        const double margin = length < trials->lengths ? margin_percent : 2 * margin_percent;
        const double limit = all.seconds[length][BELOW] * (1 - margin / 100);
        const bool take = BELOW != best && all.seconds[length][best] <= limit;

        add_rule(plan, take ? all.candidate[best].algorithm : LOWLAT_PASS_DOWN, all.bytes[length]);
    }
    plan->rule[plan->rules - 1].max_bytes = SIZE_MAX;
}
