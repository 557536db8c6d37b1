/*
 * What is done on a node around an exchange with other nodes: each owner sums its part of the node,
 * waits as long as an exchange of it is said to take, and hands it out.  What comes out is the sum
 * of the node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_BETWEEN_H
#define MODEL_BETWEEN_H

#include "lowlat.h"

/* What an exchange of one chunk takes; for all jobs, 0 at first. */
extern double model_between_ns;

/* As algorithms between nodes do.  No longer than task->leader_bytes: by one owner. */
void model_between_start(lowlat_task_t *task);

/* As coll_quant's hierarchical does of vectors of one chunk, whose sums have bounds. */
void model_between_quant_start(lowlat_task_t *task);

#endif
