/*
 * The state of a selector, and its rounds: select.c counts calls and decides, select_round.c says
 * what a round is made of and when there is time for one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SELECT_ROUND_H
#define ARC_SELECT_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "select_ratios.h"

enum {
    ARC_SELECT_CANDIDATES = 13, /* at most */
    ARC_SELECT_BELOW = 0,       /* the candidate that is the component below */
    ARC_SELECT_TURNS = 41,      /* of a round, at most */
    ARC_SELECT_STEADY = 255, /* the row of the turn that goes on with what ran before the round */
    ARC_SELECT_VALUES = 1 + 2 * ARC_SELECT_TURNS,
    /* Calls that exploring may cost beyond its share of the time. */
    ARC_SELECT_FREE_CALLS = 4,
};

/* What all ranks are told alike. */
typedef struct arc_select_config {
    unsigned candidates;
    unsigned first;           /* the choice before anything is known */
    unsigned explore_percent; /* of the time; 0: the choice stays as it is */
    unsigned margin_percent;  /* by which another one must be faster */
    unsigned start_calls;     /* before the first is timed */
    bool settles;             /* once something is decided nothing is tried any more */
    /*
     * The time of each, in thousandths of that of the fastest: a guess.  ARC_SELECT_NEVER: one that
     * is not to be tried; of the others there are two or more.
     */
    uint32_t guess[ARC_SELECT_CANDIDATES];
} arc_select_config_t;

#define ARC_SELECT_NEVER UINT32_MAX

typedef struct arc_select_turn {
    uint8_t candidate;
    uint8_t row; /* compared with the turn of the present choice in the same row */
    uint8_t warm_calls;
    uint8_t calls;
    /* On this rank: the time of all calls, and of those that count, as far as they count. */
    uint64_t all_ns;
    uint64_t counted_ns;
} arc_select_turn_t;

typedef struct arc_select {
    uint64_t left;   /* calls until the next round begins */
    unsigned chosen; /* who runs them */
    bool decided;    /* for good */

    arc_select_config_t config;
    uint64_t call_ns;     /* of the present choice, as agreed; 0: not known yet */
    uint64_t calls;       /* all until the next round: those before `left` was set, and `left` */
    uint64_t spent_calls; /* of these, whose time is in spent_ns */
    uint64_t spent_ns;
    uint64_t cost_ns; /* of exploring, agreements included */
    unsigned rounds;
    unsigned turns_of[ARC_SELECT_CANDIDATES];   /* that each has had */
    arc_ratios_t ratios[ARC_SELECT_CANDIDATES]; /* to the present choice; its own: none */
    /* How many times its turns' a candidate's call takes behind many of its own: 1 if not stuck. */
    uint32_t steady[ARC_SELECT_CANDIDATES];
    uint32_t went_on[2]; /* the same of the present choice, in the last two steady turns */
    bool may_be_stuck;   /* the last one says that it is, and `steady` does not yet */

    /* The round under way. */
    unsigned turns; /* 0: none is */
    unsigned turn;
    unsigned call; /* of the turn */
    arc_select_turn_t list[ARC_SELECT_TURNS];
    uint64_t end_ns;     /* of its last call, on this rank */
    uint64_t longest_ns; /* of its timed calls, on this rank */
    uint64_t took_ns;    /* the last agreement, on this rank */
} arc_select_t;

/* The ratio of a candidate to the present choice, measured or guessed. */
uint32_t arc_select_ratio(const arc_select_t *select, unsigned candidate);

/* May the candidate be faster than the present choice, by the margin, after what is known? */
bool arc_select_is_in_doubt(const arc_select_t *select, unsigned candidate);

/* The share for exploring of the time of all calls. */
uint64_t arc_select_share_ns(const arc_select_t *select);

/* Fill the list of turns; the round under way is this one. */
void arc_select_compose_round(arc_select_t *select);

/* Set `left`, to the call before the next round. */
void arc_select_wait_for_round(arc_select_t *select);

#endif
