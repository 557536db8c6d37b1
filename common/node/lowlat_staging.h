/*
 * How a rank makes its data readable: which way of staging for which length, and whether that
 * choice still holds.
 *
 *   ordinary      stores; each fetches its line from the core that read it last
 *   prefetching   the same, and each call fetches the lines of the next call ahead
 *   streaming     past the caches (copy.h)
 *
 * docs/algorithms.md, "coll_lowlat: staging", has why the ranks try the ways when a communicator is
 * set up, in one-shot calls of a few lengths among the nearest (level 0, where there are levels),
 * and why neighbours measure from time to time how far apart they are:
 *
 *   after call k      look: time a cache line; tell in our segment whether it has changed
 *   after call k+1    read what all have told.  It is complete: a rank that has completed k+1
 *                     has seen, directly or through others, something of every rank's k+1
 *                     (lowlat.h).  No rank writes there before it has completed k+2.  So all
 *                     ranks read the same.
 *   has it changed?   All try again.  Each tells how it stages now, all make a call of one
 *                     number, and each reads what the others have told.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_STAGING_H
#define LOWLAT_STAGING_H

#include "lowlat.h"

typedef enum lowlat_way {
    LOWLAT_WAY_ORDINARY,
    LOWLAT_WAY_PREFETCHING,
    LOWLAT_WAY_STREAMING,
    LOWLAT_WAYS
} lowlat_way_t;

/* The values of the parameter `staging`: auto, or 1 + a way. */
enum { LOWLAT_STAGING_AUTO = 0 };

/* Bytes of the messages that are tried, ascending. */
enum { LOWLAT_STAGING_LENGTHS = 4 };
extern const size_t lowlat_staging_bytes[LOWLAT_STAGING_LENGTHS];

typedef struct lowlat_staging_times {
    int64_t ns[LOWLAT_STAGING_LENGTHS][LOWLAT_WAYS];
} lowlat_staging_times_t;

/* Set the group's bounds to one way for all lengths that are staged. */
void lowlat_staging_force(lowlat_group_t *group, lowlat_way_t way);

/*
 * Set the bounds by the times.  Ways other than ordinary stores must be clearly faster than these:
 * streaming is used from a length on if it is so there and at all longer lengths that were tried;
 * prefetching up to twice the longest length at which it is so.
 */
void lowlat_staging_choose(lowlat_group_t *group, const lowlat_staging_times_t *times);

/* The way in which the bounds stage messages that are longer than all that were tried. */
lowlat_way_t lowlat_staging_way(const lowlat_group_t *group);

/* What was chosen, as text. */
void lowlat_staging_describe(const lowlat_group_t *group, char *text, size_t text_bytes);

/* Run a task to its end; ARC_OK or an error that ends the communicator. */
typedef arc_status_t (*lowlat_run_fn_t)(void *context, lowlat_task_t *task);

/* Try all ways, choose, and agree; every rank of the group, between two operations. */
arc_status_t lowlat_staging_try(lowlat_group_t *group, lowlat_run_fn_t run,
                                void *context) ARC_MUST_CHECK;

/*
 * The last step of a trial, or all of it where every rank remembers an earlier one: this rank
 * stages long messages in that way.  Sets group->way to the way of more than half of the ranks, the
 * same on all; to ordinary if there is none.  Not to be called twice without an operation in
 * between: a rank may still read what the others told.
 */
arc_status_t lowlat_staging_agree(lowlat_group_t *group, lowlat_way_t way, lowlat_run_fn_t run,
                                  void *context) ARC_MUST_CHECK;

/* After call k: how far apart are we?  Tell the others if it has changed, twice in a row. */
void lowlat_staging_look(lowlat_group_t *group);

/* The second half of a look: act on the time that was measured; INT_MAX: none was. */
void lowlat_staging_note(lowlat_group_t *group, int now_ns);

/* After call k+1: has any rank told of a change? */
bool lowlat_staging_changed(const lowlat_group_t *group);

#endif
