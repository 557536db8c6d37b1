/*
 * Which algorithm between nodes for which length, from trials of all of them.
 *
 * A *candidate* is one of the algorithms for several nodes, with one owner in each node (a
 * leader) or with all of them, or the component below.  A trial is what a call of a
 * candidate took for one of a few lengths.  For a length in between the next longer trial
 * counts; behind the longest one time is taken to be a straight line through the last two.
 *
 * Why times are measured and not computed: docs/algorithms.md, "Which when".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PLAN_H
#define LOWLAT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LOWLAT_PLAN_LENGTHS = 16,   /* of trials; one less can be tried */
    LOWLAT_PLAN_CANDIDATES = 8, /* at most */
    LOWLAT_PLAN_RULES = 8,
};

typedef struct lowlat_candidate {
    unsigned algorithm; /* or LOWLAT_PASS_DOWN */
    bool leaders;
} lowlat_candidate_t;

/* The candidates on nodes of which the smallest has `owners` ranks; the first one is "below". */
unsigned lowlat_plan_candidates(lowlat_candidate_t candidates[LOWLAT_PLAN_CANDIDATES],
                                unsigned owners);

typedef struct lowlat_trials {
    bool made; /* even if there was no time for a single length */
    unsigned candidates;
    lowlat_candidate_t candidate[LOWLAT_PLAN_CANDIDATES];
    unsigned lengths;
    size_t bytes[LOWLAT_PLAN_LENGTHS];                           /* ascending */
    double seconds[LOWLAT_PLAN_LENGTHS][LOWLAT_PLAN_CANDIDATES]; /* 0: not tried */
} lowlat_trials_t;

/*
 * Is candidate i worth a trial at the next length?  The component below always.  Of ours those
 * that are not recursive doubling, which has the fewest steps, only once bytes count: when
 * the fastest takes twice as long as for the shortest message.  None that took more than twice
 * as long as the fastest one did when it was tried, or, from 64 KiB on, 15 % longer if it is not
 * the fastest with, or without, leaders at the last length.
 */
bool lowlat_plan_wants(const lowlat_trials_t *trials, unsigned i);

/* Messages up to max_bytes, as far as no rule before takes them. */
typedef struct lowlat_rule {
    size_t max_bytes;
    unsigned algorithm; /* or LOWLAT_PASS_DOWN */
} lowlat_rule_t;

typedef struct lowlat_plan {
    unsigned rules;
    lowlat_rule_t rule[LOWLAT_PLAN_RULES];
    size_t leader_bytes; /* up to here leaders */
} lowlat_plan_t;

/*
 * The rules for all lengths.  An algorithm is taken where it was faster than the component
 * below by `margin_percent` of its time.  Lengths behind the last trial are passed down, unless
 * bytes were all that counted there and twice the margin is gained.  At least one length was tried.
 */
void lowlat_plan_make(lowlat_plan_t *plan, const lowlat_trials_t *trials, double margin_percent);

#endif
