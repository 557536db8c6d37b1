/*
 * Exact collectives of messages alone, for a call that is under way in a fiber and turns out not to
 * be ours to serve: the set-up found no memory, a verified sum was too far off.  The component
 * below would block, or start its messages at another place in the order of calls than other ranks
 * do.
 *
 *   allreduce               up a binomial tree, in the order of the ranks, and down again
 *   reduce_scatter_block    that, and each takes its block
 *   allgather               all blocks to the first rank, and down the tree
 *
 * Any type and operation.  MPI_SUCCESS, or an MPI error once the module is broken.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_PLAIN_H
#define MCA_PLAIN_H

#include "mca_module.h"

int mca_plain_call(arc_module_t *module, const arc_call_t *call);

#endif
