/*
 * Which of several candidates runs a program's calls: learned from these calls.
 *
 * A *candidate* is a way to make a call: the component below (number 0), or an algorithm of ours.
 * Every candidate's result is right, so that to try one costs only time.  A *class*, the calls of
 * one collective and about one length on a communicator, has a selector.
 *
 *     calls   | one candidate, untimed ........ | round | untimed ................ | round | ...
 *     round   | turn | turn | turn | ...  agree |
 *     turn    | calls that warm up | timed calls |     of one candidate, back to back
 *
 * In a *round* some calls of the program are timed, and candidates take turns.  At its end the
 * ranks agree on all times in one vector: on the minimum of each over the ranks.  So all have the
 * same numbers, and what follows from them - which candidate runs, when the next round begins, who
 * takes part in it - is the same on all ranks without another message.
 *
 * How it decides: docs/algorithms.md, "Which when".  The time of a candidate is that of its turn,
 * the least over the ranks; times of a round are compared as ratios to those of the present choice
 * next to them (select_ratios.h), and another one is taken if the median of its ratios is below 1
 * by the margin and by one and a half times its own uncertainty.  Who takes part, and when there is
 * time for a round: select_round.c.
 *
 * Some calls become slow only behind many of their own kind, as exchanges over TCP whose two
 * directions fall into taking turns.  So a round in which others take part begins with a turn of
 * the present choice that goes on with the calls before: the steady turn.  If in three such rounds
 * that took at least one and a half times as long as the choice's other turns, the choice is stuck:
 * its times count so many times, the least of the three, until one round says otherwise.  One that
 * was left because it was stuck is known as such from then on.
 *
 * Use, the same on all ranks, around each call:
 *
 *     candidate = arc_select_pick(select, &timed);
 *     begin;  make the call;  end
 *     if (timed && arc_select_note(select, begin, end, end - begin)) {
 *         count = arc_select_offer(select, values);
 *         the minimum over the ranks of each of the values
 *         arc_select_take(select, values, time of that);
 *     }
 *
 * Pure, and made of integers, so that the program's floating-point environment has no part in it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SELECT_H
#define ARC_SELECT_H

#include "select_round.h"

void arc_select_init(arc_select_t *select, const arc_select_config_t *config);

/* From now on this one runs all calls, and nothing is tried. */
void arc_select_fix(arc_select_t *select, unsigned candidate);

/* The part of arc_select_pick() for calls in a round. */
unsigned arc_select_pick_timed(arc_select_t *select);

/* Who runs the next call.  *timed: arc_select_note() is to follow the call. */
static inline unsigned arc_select_pick(arc_select_t *select, bool *timed)
{
    *timed = 0 == select->left;
    if (*timed) {
        return arc_select_pick_timed(select);
    }
    select->left -= 1;
    return select->chosen;
}

/* Is the next call one of `candidate`, untimed?  If so, it is picked. */
static inline bool arc_select_pick_again(arc_select_t *select, unsigned candidate)
{
    const bool again = 0 != select->left && candidate == select->chosen;

    select->left -= again;
    return again;
}

/* Guess the ratios of candidates that were not tried here from a neighbouring class. */
void arc_select_learn(arc_select_t *select, const arc_select_t *neighbour);

/*
 * When the timed call began and ended on this rank, and how much of that time counts.  True: now
 * the ranks must agree.
 */
bool arc_select_note(arc_select_t *select, uint64_t begin_ns, uint64_t end_ns, uint64_t took_ns);

/* Fill in the values to agree on by their minimum; returns how many, the same on all ranks. */
unsigned arc_select_offer(const arc_select_t *select, uint64_t values[ARC_SELECT_VALUES]);

/*
 * The agreed values, the same on all ranks, and how long the agreement took on this one.  True: the
 * choice has changed, or has become final.
 */
bool arc_select_take(arc_select_t *select, const uint64_t values[ARC_SELECT_VALUES],
                     uint64_t took_ns);

/* The time of a call of a candidate, as far as known, or 0. */
uint64_t arc_select_call_ns(const arc_select_t *select, unsigned candidate);

/* The calls so far, when no round is under way. */
static inline uint64_t arc_select_calls(const arc_select_t *select)
{
    return UINT64_MAX == select->left ? select->calls : select->calls - select->left;
}

/* ---- classes of lengths ---- */

enum {
    ARC_SELECT_CLASSES = 25, /* the last one: 2^24 bytes and all that is longer */
};

/* The class of a message of at least one byte: class k has those from 3/4 2^k to 3/2 2^k bytes. */
unsigned arc_select_class(size_t bytes);

static inline size_t arc_select_class_bytes(unsigned class)
{
    return (size_t) 1 << class;
}

/* The longest message of a class. */
static inline size_t arc_select_class_most(unsigned class)
{
    return class + 1 < ARC_SELECT_CLASSES ? ((size_t) 3 << class) / 2 - (class > 0) : SIZE_MAX;
}

/* What to note of a message: the last class has all longer ones, too, as if of its own length. */
uint64_t arc_select_time_ns(size_t bytes, uint64_t took_ns);

#endif
