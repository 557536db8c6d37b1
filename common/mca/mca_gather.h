/*
 * Every rank of a node gets a few bytes from each of them, over Open MPI's point-to-point layer.
 *
 *   step k = 1, 2, 4, ...   send the first k places to the k-th rank before us, and receive the
 *                           next k from the k-th rank behind us
 *
 *   cost   log2 P messages one after the other, P - 1 cards in all
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_GATHER_H
#define MCA_GATHER_H

#include "mca_component.h"
#include "topology.h"

/* The place of rank `member` of our node: ours is 0, the others follow. */
static inline unsigned mca_gather_place(const arc_topology_t *topology, unsigned member)
{
    return (member + topology->local_ranks - topology->local_rank) % topology->local_ranks;
}

/*
 * `cards` has a place of `card_bytes` for each rank of our node, and our card in the first.  All of
 * them take part; others are not waited for.  ARC_ERR_TIMEOUT: nothing came for `timeout_ns`,
 * unless that is 0; *missing is the rank of the communicator that is waited for.  An error may be
 * that of one rank alone; what is there then is not complete, and messages may still use `cards`,
 * which must stay until the end of the process.
 */
arc_status_t mca_gather(arc_module_t *module, const arc_topology_t *topology, void *cards,
                        size_t card_bytes, int64_t timeout_ns, unsigned *missing) ARC_MUST_CHECK;

#endif
