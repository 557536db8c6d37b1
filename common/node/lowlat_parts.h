/*
 * Reduce-scatter and allgather within a group, in chunks: what two-shot and the
 * hierarchical algorithm have in common.
 *
 * The vector is cut into chunks, the chunk into parts of whole cache lines, one for
 * each of the first `owners` ranks.  The arena is a ring of slots of a chunk each;
 * chunk k is in slot k mod `slots`, so that what moves stays in the caches:
 *
 *   stage k    copy the parts of the *others* into our slot         STAGED   k+1
 *   reduce k   own part of all ranks -> our slot
 *   publish k  what is in our slot is the result: -> `out`          REDUCED  k+1
 *   gather k   copy every other owner's part from its slot -> `out` GATHERED k+1
 *
 * Where nothing happens between reduce and publish, both are one:
 *
 *   complete k own part of all ranks -> `out`, from there -> our slot  REDUCED k+1
 *
 * That copies as much, but the owner does not read its slot after others have begun to read it: the
 * lines would have to come back from their cores.
 *
 * Waits: reduce k for STAGED > k of all peers, gather k for REDUCED > k of all peers, stage k for
 * GATHERED >= k-S+1 of all peers: they have then read all of chunk k-S from our slot, and had set
 * REDUCED before that.  S is `slots`.
 *
 * In place: a rank overwrites a part of a chunk in `out` only after it has
 * staged it (parts of others) or read it (its own).
 *
 * Ranks whose part is empty set and await the flags all the same (lowlat.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PARTS_H
#define LOWLAT_PARTS_H

#include "lowlat.h"

/*
 * Begin: cut into chunks of at most `chunk_bytes`, and these into `owners` parts, all of which
 * begin at multiples of `row_elems` elements: of lowlat_line_elems(), as a rule.
 */
void lowlat_parts_begin(lowlat_task_t *task, const arc_task_ops_t *ops, size_t chunk_bytes,
                        unsigned owners, size_t row_elems);

/* The part of the vector's `chunk` that belongs to `rank`; empty for ranks >= owners. */
lowlat_range_t lowlat_part(const lowlat_task_t *task, size_t chunk, unsigned rank);

/* Where an element of a chunk is in the arena of `rank`. */
unsigned char *lowlat_part_at(const lowlat_task_t *task, unsigned rank, size_t chunk, size_t elem);

/* Each of these acts on its next chunk.  False: what it waits for has not come. */
bool lowlat_parts_stage(lowlat_task_t *task);
bool lowlat_parts_reduce(lowlat_task_t *task);
bool lowlat_parts_gather(lowlat_task_t *task);

/* Reduce and publish at once. */
bool lowlat_parts_complete(lowlat_task_t *task);

/* Never waits: `chunk` is the next one, and our part of it is complete. */
void lowlat_parts_publish(lowlat_task_t *task, size_t chunk);

/* waits_for of these tasks: is `rank` behind in what the next actions wait for? */
bool lowlat_parts_waits_for(const arc_task_t *base, unsigned rank);

#endif
