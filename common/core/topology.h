/*
 * Which ranks of a communicator are on which node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TOPOLOGY_H
#define ARC_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

/* A communicator as one of its ranks sees it.  Zero-initialised: not known yet. */
typedef struct arc_topology {
    unsigned nodes;
    unsigned node;        /* ours; nodes are numbered in the order of their lowest ranks */
    unsigned local_ranks; /* on our node */
    unsigned local_rank;
    unsigned largest;  /* the greatest number of ranks that a node has */
    unsigned owners;   /* the least number of ranks that a node has */
    bool in_order;     /* the ranks of every node follow each other without a gap */
    unsigned *order;   /* [ranks] node by node, those of a node ascending */
    unsigned *members; /* [local_ranks] of our node, in `order` */
    unsigned *peers;   /* [nodes] rank `local_rank` of every node, if it has so many */
} arc_topology_t;

/*
 * From the node of every rank: node_of[r] is the lowest rank on the node of rank r.  Cost:
 * O(ranks). ARC_ERR_PROTOCOL: some number is not such a rank; ARC_ERR_NO_MEMORY.  Nothing is
 * allocated then.
 */
arc_status_t arc_topology_make(arc_topology_t *topology, const uint32_t *node_of, unsigned ranks,
                               unsigned rank) ARC_MUST_CHECK;
void arc_topology_free(arc_topology_t *topology);

#endif
