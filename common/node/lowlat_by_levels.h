/*
 * Allreduce by levels (lowlat_levels.h): from the innermost level outwards every member of a group
 * gives its sum to the others, so that all know the group's; on the first levels each member sums a
 * share of the vector only, and they give each other the results on the way back.
 *
 *   whole    nothing is shared out     sum over the levels of (m-1) reads of n bytes
 *   shared   all levels share out, or as many as are needed until a share fits into a packet
 *
 *            outwards   level 0   n, in shares of n/m0       level 1   n/m0, in shares of n/m0/m1
 * ... back                                            level 1   n/m0       level 0   n
 *
 *   cost     with L levels L alpha (whole), 2 L alpha (shared); a line crosses the border of the
 *            outermost groups once in each direction for each share
 *
 * By pairs these are the half-butterfly (recursive doubling) and the butterfly (recursive halving
 * and doubling); with one level they would be the flat one-shot and two-shot.
 *
 * THE ORDER OF THE SUM.  A group's sum is that of its members, from the left in the order of their
 * places, each of them summed likewise.  All ranks add the same numbers in the same order, whatever
 * the length, and whether it is shared out: they return the same bits.
 *
 * CHUNKS.  A vector longer than half an arena goes in chunks, which take the halves in turns.  The
 * argument of the two buffer sets (lowlat.h) holds for them, too: a chunk's sum depends on what
 * every rank does in it, so a rank that has completed chunk c+1 knows that all have left chunk c.
 *
 * Outwards a rank stages, on a level that shares out, the shares of the others, at their places in
 * the vector; back, the results that it has.  Both may use the same place: the others have read
 * what was staged there before they give the result, which a rank waits for before it stages it for
 * the next level inwards.  A member that owns no share, because its group is larger than others or
 * the vector shorter than a line for each, waits for the results.
 *
 * STAGED counts the steps of all chunks, outwards and back.  Levels that share nothing out use a
 * packet each where sum and levels fit, else a slot of the arena each.
 *
 * Source: "Latency-optimal allreduce and cuda graph optimization" (the butterflies); R. Thakur, R.
 * Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", section
 * 4.5; for groups see lowlat_levels.h.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_BY_LEVELS_H
#define LOWLAT_BY_LEVELS_H

#include "lowlat.h"

/*
 * A message of any length, by levels with at least one member more than our own: `whole`, where the
 * arenas have room for that, or shared.
 */
void lowlat_by_levels_start(lowlat_task_t *task, const lowlat_levels_t *levels, bool whole);

/* One-shot, two-shot, and a node between others: do they go by the levels of the node? */
static inline bool lowlat_goes_by_levels(const lowlat_task_t *task)
{
    return 0 != task->group->levels.count && !task->flat;
}

#endif
