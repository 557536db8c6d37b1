/*
 * Measures the rates that the cost model needs, in a second or less.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_CALIBRATE_H
#define ARC_WORKLOADS_MATMUL_CALIBRATE_H

#include "cost.h"
#include "matrix.h"

/* All ranks measure at the same time, as they will multiply; the slowest counts, so that all ranks
 * get the same numbers and choose alike.  Collective. */
void calibrate(world_t *world, machine_t *machine);

#endif
