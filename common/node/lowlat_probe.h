/*
 * How far apart the cores of two neighbouring ranks are.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PROBE_H
#define LOWLAT_PROBE_H

#include "lowlat.h"

/*
 * Nanoseconds that a cache line takes from our core to that of rank ^ 1: half of
 * a round trip, of the fastest of some batches of them.  To be called by all ranks of a group at
 * about the same time; each rank needs a core.  Never waits long: INT_MAX if the neighbour did not
 * answer, 0 if there is none.
 */
int lowlat_probe_ns(lowlat_group_t *group);

/* The same with fewer trips and less patience: a few microseconds, at most tens of them. */
int lowlat_probe_again_ns(lowlat_group_t *group);

#endif
