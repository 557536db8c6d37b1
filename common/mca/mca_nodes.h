/*
 * Which ranks of a communicator are on which node, as Open MPI tells.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_NODES_H
#define MCA_NODES_H

#include "mca_module.h"
#include "topology.h"

/*
 * All ranks of the module's communicator take part, through the components below.  `declared`, the
 * same on all: 0, or what counts as a node instead, so many ranks of MPI_COMM_WORLD in their
 * order.  An error may be that of one rank alone; nothing is allocated then.
 */
arc_status_t mca_nodes_find(arc_module_t *module, unsigned declared,
                            arc_topology_t *topology) ARC_MUST_CHECK;

#endif
