/*
 * Reduce-scatter and allgather within a group, in chunks: what two-shot and the
 * algorithms over several nodes have in common.
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
 * Waits: reduce k for STAGED > k of all peers, gather k for REDUCED > k of those that have a part,
 * stage k for GATHERED >= k-S+1 of all peers: they have then read all of chunk k-S from our slot,
 * and had set REDUCED before that.  S is `slots`.
 *
 * In place: a rank overwrites a part of a chunk in `out` only after it has
 * staged it (parts of others) or read it (its own).
 *
 * A rank whose part of a chunk is empty reduces nothing of it, and waits for the results alone.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PARTS_H
#define LOWLAT_PARTS_H

#include "lowlat_cut.h"

/*
 * Begin: cut into chunks of at most `chunk_bytes`, and these into `owners` parts, all of which
 * begin at multiples of `row_elems` elements: of lowlat_line_elems(), as a rule.  Goes by
 * task->levels, or flat if these are NULL, and by packets if task->by_packets allows it.
 */
void lowlat_parts_begin(lowlat_task_t *task, const arc_task_ops_t *ops, size_t chunk_bytes,
                        unsigned owners, size_t row_elems);

/* waits_for of these tasks: is `rank` behind in what the next actions wait for? */
bool lowlat_parts_waits_for(const arc_task_t *base, unsigned rank);

/* ---- over several nodes ---- */

/*
 * Allreduce over N nodes of G ranks, in three phases that are pipelined by chunk.  Reduce-scatter
 * and allgather are the first and the last; the second is an exchange between nodes
 * (lowlat_between_t):
 *
 *   stage k, reduce k      the node's sum of its part, in the slot of each owner
 *   exchange k             owner i of every node with owner i of the others
 *   publish k, gather k    the result
 *
 *   cost   2 alpha_i + 2 (G-1)/G n beta_i + the exchange of n/G
 *
 * BY LEVELS (lowlat_levels.h).  The parts of a chunk are shared out among the owners of the
 * innermost group, the parts of each among those of the group around it, and so on; an owner has
 * one part in the end, or none.
 *
 *   outwards   stage k       as above, for the own group
 *              reduce k      on each level the own share of all members -> our slot, SUMMED
 *   back       publish k     as above
 *              gather k      on each level the other owners' shares -> our slot, SPREAD, -> `out`
 *
 * On the innermost level a rank gathers to `out` at once.  SUMMED and SPREAD count the steps
 * between the first and the last one of all chunks: a chunk has one for each further level.  A rank
 * whose share is empty goes no further out, and comes back on that level.  So on a level the ranks
 * that have read in our slot are the members of our group there, who say so when they have gathered
 * the chunk.  In a slot the sum of our share takes the place where nobody but us has read, and what
 * comes back the place of what the same rank had read before it made the result.
 *
 * A flat node is one level of which all ranks are members.
 *
 * BY PACKETS.  Where one part is all, and fits into a packet (of a flat node: into its first line),
 * a rank gives by its packet of the level: outwards if another one owns the part, and back if it
 * does itself.  So it writes each packet once, and readers wait for the line that has the data.
 *
 * HOW FAR SUMS ARE OFF, where the group has a sum_error: on each level the owner of a share looks
 * at what it adds, and a bound of its sums goes outwards with them, behind the same flag.  So there
 * is one for all elements of a share; of the last level it is our part's (lowlat_own_error()).
 *
 * A rank does whatever can be done, in no fixed order.  Why no rank waits for ever: take the least
 * chunk c that some rank has not gathered.  All have gathered all chunks before c, so c can be
 * staged everywhere (its slot is free), then reduced (the exchange has room, or waits for an
 * earlier one), and then all partners have started the exchange of c.
 *
 * The theorem of the two buffer sets (lowlat.h) holds across nodes: a rank completes only after the
 * owners of its node have got messages that depend on all ranks of the other nodes.
 *
 * All ranks have the same bits: an owner's sum is copied within the node, and the exchange gives
 * the same sum to all owners of a part.
 *
 * Source: S. Singhania et al., "Understanding and Improving Communication Performance
 * in Multi-node LLM Inference", section 4, algorithm 1 (its NVRAR has the same phases).
 */

/* The exchange of the nodes' sums of a chunk: what the phases in the node need of it. */
typedef struct lowlat_between {
    size_t room; /* for so many chunks at a time; 0: for all that have a slot */

    /* The node's sum of our part of the chunk is in its slot; chunks begin in order. */
    void (*begin)(lowlat_task_t *task, size_t chunk);

    /* Do what can be done.  ARC_OK: nothing is under way. */
    arc_status_t (*drive)(arc_task_t *task) ARC_MUST_CHECK;

    /* The number of chunks, from the first on, whose slots have the sums of all nodes. */
    size_t (*completed)(const lowlat_task_t *task);
} lowlat_between_t;

/* The progress of an algorithm that has begun with lowlat_parts_begin(). */
arc_status_t lowlat_phases_progress(lowlat_task_t *task,
                                    const lowlat_between_t *between) ARC_MUST_CHECK;

#endif
