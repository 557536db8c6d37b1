/*
 * One-shot allreduce through mapped memory: every rank reads every other
 * rank's whole vector and sums all of them itself, in rank order.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_ONESHOT_H
#define LOWLAT_ONESHOT_H

#include "lowlat.h"

void lowlat_oneshot_start(lowlat_task_t *task);

#endif
