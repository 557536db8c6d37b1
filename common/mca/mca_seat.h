/*
 * Where a process runs, in the machine that Open MPI knows.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_SEAT_H
#define MCA_SEAT_H

#include <ompi_config.h>

#include <opal/mca/hwloc/base/base.h>

#include "cores.h"
#include "lowlat_levels.h"

/*
 * The socket, the NUMA domain and the last-level cache that have all processors of `cpuset`,
 * counted from 1 as hwloc counts them; 0: none has all of them, or the machine does not tell.
 */
lowlat_seat_t mca_seat_of(hwloc_topology_t topology, hwloc_const_cpuset_t cpuset);

/* Of a process that may run on these processors of this node; all 0 if that is not known. */
lowlat_seat_t mca_seat_of_cores(const arc_cores_t *cores);

/* Before there are several threads: Open MPI loads its topology without a lock. */
void mca_seat_prepare(void);

#endif
