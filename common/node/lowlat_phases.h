/*
 * Allreduce over N nodes of G ranks, in three phases that are pipelined by chunk.  lowlat_parts.h
 * has the first and the last; the second is an exchange between nodes (lowlat_between_t):
 *
 *   stage k, reduce k      the node's sum of its part, in the slot of each owner
 *   exchange k             owner i of every node with owner i of the others
 *   publish k, gather k    the result
 *
 *   cost   2 alpha_i + 2 (G-1)/G n beta_i + the exchange of n/G
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
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PHASES_H
#define LOWLAT_PHASES_H

#include "lowlat.h"

/* The exchange of the nodes' sums of a chunk: what the phases in the node need of it. */
typedef struct lowlat_between {
    /* Can a further chunk begin? */
    bool (*has_room)(const lowlat_task_t *task);

    /* The node's sum of our part of the chunk is in its slot; chunks begin in order. */
    void (*begin)(lowlat_task_t *task, size_t chunk);

    /* Do what can be done.  ARC_OK: nothing is under way. */
    arc_status_t (*drive)(lowlat_task_t *task) ARC_MUST_CHECK;

    /* The number of chunks, from the first on, whose slots have the sums of all nodes. */
    size_t (*completed)(const lowlat_task_t *task);
} lowlat_between_t;

/* The progress of an algorithm that has begun with lowlat_parts_begin(). */
arc_status_t lowlat_phases_progress(lowlat_task_t *task,
                                    const lowlat_between_t *between) ARC_MUST_CHECK;

#endif
