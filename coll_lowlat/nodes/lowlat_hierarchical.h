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

#endif
