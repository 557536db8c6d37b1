/*
 * Allreduce over several nodes: reduce-scatter in the node, exchange between the
 * nodes, allgather in the node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_HIERARCHICAL_H
#define LOWLAT_HIERARCHICAL_H

#include "lowlat.h"

void lowlat_doubling_start(lowlat_task_t *task);
void lowlat_halving_start(lowlat_task_t *task);

/* How the nodes' sums of a chunk travel between them: what the phases in the node need of it. */
typedef struct lowlat_between {
    /* Can a further chunk begin? */
    bool (*has_room)(const lowlat_task_t *task);

    /* The node's sum of our part of the chunk is in its slot; chunks begin in order. */
    void (*begin)(lowlat_task_t *task, size_t chunk);

    /* Do what can be done.  ARC_OK: nothing is under way. */
    arc_status_t (*drive)(lowlat_task_t *task) ARC_MUST_CHECK;

    /* So many chunks, the first ones, have the sums of all nodes in their slots. */
    size_t (*completed)(const lowlat_task_t *task);
} lowlat_between_t;

/* The progress of an algorithm that has begun with lowlat_parts_begin(). */
arc_status_t lowlat_hierarchical_progress(lowlat_task_t *task,
                                          const lowlat_between_t *between) ARC_MUST_CHECK;

#endif
