/*
 * The processors of this process, as the other ranks of its node should know them.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_CORES_H
#define COLL_LOWLAT_CORES_H

#include "cores.h"

/* Not older than a second: the system is asked at most so often, which takes about 60 us. */
void coll_lowlat_cores_get(arc_cores_t *own);

#endif
