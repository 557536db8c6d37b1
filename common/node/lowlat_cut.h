/*
 * Who has which part of a vector while it is summed on a node: it is cut into chunks, these into
 * parts, and the parts are shared out among the owners of the innermost group, the share of each
 * among those of the group around it, and so on.
 *
 *   2 groups of 3, 6 parts    level 0: 0 1 | 2 3 | 4 5    level 1, with the counterpart: 0 | 1, ..
 *
 * A flat call (task->levels is NULL) has one level, of which all ranks are members.
 *
 * Pure, and the same on all ranks of the node but for what is ours.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_CUT_H
#define LOWLAT_CUT_H

#include "lowlat.h"

/* Our group on a level (lowlat_levels.h). */
typedef struct lowlat_circle {
    unsigned members;
    unsigned own;
    unsigned owners;
    const uint16_t *rank; /* that speaks for a member; NULL: ranks are members */
} lowlat_circle_t;

unsigned lowlat_levels_of(const lowlat_task_t *task);
lowlat_circle_t lowlat_circle_on(const lowlat_task_t *task, unsigned level);

static inline unsigned lowlat_speaker(const lowlat_circle_t *circle, unsigned member)
{
    return NULL == circle->rank ? member : circle->rank[member];
}

/*
 * Choose whether the task goes by the levels of the node, and by packets, and say how many ranks
 * own a part then, of `most` that may: all but those that own nothing on some level.
 */
unsigned lowlat_cut_owners(lowlat_task_t *task, unsigned most);

/*
 * Cut the vector into pieces of at most `max_bytes`, in whole rows: a multiple of `multiple`, and
 * of equal length, as near as rows allow.  With 1 a vector that fits is one piece, which functions
 * that want whole vectors count on.
 */
void lowlat_cut_pieces(lowlat_task_t *task, size_t max_bytes, size_t row_elems, size_t multiple);

/* The elements of a piece. */
lowlat_range_t lowlat_chunk_elems(const lowlat_task_t *task, size_t chunk);

/* ---- of a task that has begun (lowlat_parts_begin()) ---- */

/* The parts of a member, of those that its group has; behind the last owner: none. */
lowlat_range_t lowlat_share_of(const lowlat_task_t *task, unsigned level, unsigned member);

/* The elements of a chunk's parts; the last parts of a chunk may be empty. */
lowlat_range_t lowlat_elems_of(const lowlat_task_t *task, size_t chunk, lowlat_range_t parts);

/* How many members, from the first on, have elements of a chunk.  0: our group has none. */
size_t lowlat_sharers_of(const lowlat_task_t *task, size_t chunk, unsigned level);

/* Does our rank own a part of the chunks?  Which one it has of a chunk; that may be empty. */
bool lowlat_owns_part(const lowlat_task_t *task);
lowlat_range_t lowlat_own_part(const lowlat_task_t *task, size_t chunk);

/* What a rank's sums of a chunk on a level may be off, where somebody asks. */
float *lowlat_error_at(const lowlat_task_t *task, unsigned rank, size_t chunk, unsigned level);

/* Where an element of a chunk is in arenas, in bytes, and in that of `rank`. */
size_t lowlat_part_offset(const lowlat_task_t *task, size_t chunk, size_t elem);
unsigned char *lowlat_part_at(const lowlat_task_t *task, unsigned rank, size_t chunk, size_t elem);

#endif
