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
 * What counts.  The time of a candidate is that of its turn: calls back to back overlap, and wait
 * for ranks that come late, as they do in the program.  The longest of several calls counts for at
 * most one and a half times the mean of the others.  The least time over the ranks has least of
 * such waiting in it.  Timing single calls would mislead: the last rank to arrive may leave before
 * the others.  The program's time between two calls of a turn counts, too, up to that of a call:
 * where ranks share cores, some candidates leave the program less of these.  Times of a round are
 * compared as ratios to the times of the present choice next to them (select_ratios.h).
 *
 * A turn is short, and some calls become slow only behind many of their own kind, as exchanges over
 * TCP whose two directions fall into taking turns.  So a round in which others take part begins
 * with a turn of the present choice that goes on with the calls before: the steady turn.  If in
 * three such rounds that took at least one and a half times as long as the choice's other turns,
 * the choice is stuck: its times count so many times, the least of the three, until one round says
 * otherwise.  One that was left because it was stuck is known as such from then on.
 *
 * What it costs.  A candidate takes part only if what it is expected to cost more than the present
 * choice, together with all that exploring has cost, fits into `explore_percent` of the time spent
 * in the class so far plus four calls.  When the choice changes, costs above that share are
 * forgiven.  After a few rounds the next one begins when the number of calls has grown by a
 * quarter, or by a sixteenth while the choice may be stuck: O(log(calls)) agreements.
 *
 * Who takes part (select_round.c).  First one candidate that was never tried, the one that should
 * cost least.  Then all that may be faster than the present choice, by what is known of them.  When
 * all were tried, those that are slower are looked at again for half of the time that is left.
 *
 * What decides.  Another candidate is taken if the median of its ratios is below 1 by the margin,
 * and by one and a half times its own uncertainty.
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

/* The first length that belongs to the next class. */
static inline size_t arc_select_class_end(unsigned class)
{
    return ((size_t) 3 << class) / 2 + (0 == class);
}

#endif
