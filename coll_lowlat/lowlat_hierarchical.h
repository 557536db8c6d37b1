/*
 * Allreduce over several nodes: reduce-scatter in the node, exchange between the
 * nodes, allgather in the node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_HIERARCHICAL_H
#define LOWLAT_HIERARCHICAL_H

#include "lowlat.h"

size_t lowlat_doubling_max_bytes(const lowlat_group_t *group);
void lowlat_doubling_start(lowlat_task_t *task);

size_t lowlat_halving_max_bytes(const lowlat_group_t *group);
void lowlat_halving_start(lowlat_task_t *task);

size_t lowlat_ring_max_bytes(const lowlat_group_t *group);
void lowlat_ring_start(lowlat_task_t *task);

/* Which node does `task` wait for a message from?  The number of nodes if for none. */
unsigned lowlat_hierarchical_awaits(const lowlat_task_t *task);

/* Give up what is under way between the nodes, after an error or a time limit. */
void lowlat_hierarchical_abort(lowlat_task_t *task);

#endif
