/*
 * Two-shot allreduce through mapped memory: every rank sums one part of the
 * vector over all ranks, then every rank collects the sums.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_TWOSHOT_H
#define LOWLAT_TWOSHOT_H

#include "lowlat.h"

void lowlat_twoshot_start(lowlat_task_t *task);

#endif
