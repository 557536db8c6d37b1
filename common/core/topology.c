/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "topology.h"

/*
 * Number the nodes in the order of their lowest ranks: index[r] is that of rank r.  0 if some
 * node_of[r] is not such a rank.
 */
static unsigned number_nodes(unsigned *index, const uint32_t *node_of, unsigned ranks)
{
    unsigned nodes = 0;

    for (unsigned rank = 0; rank < ranks; ++rank) {
        const uint32_t first = node_of[rank];
        if (first > rank || node_of[first] != first) {
            return 0;
        }
        index[rank] = first == rank ? nodes++ : index[first];
    }
    return nodes;
}

/* How many ranks each node has, and whether they follow each other. */
static void count_ranks(arc_topology_t *topology, const unsigned *index, unsigned *ranks_of,
                        unsigned ranks)
{
    topology->in_order = true;
    for (unsigned r = 0; r < ranks; ++r) {
        topology->in_order = topology->in_order && (0 == r || index[r] >= index[r - 1]);
        ranks_of[index[r]] += 1;
    }
    topology->owners = ranks;
    for (unsigned node = 0; node < topology->nodes; ++node) {
        const unsigned here = ranks_of[node];
        topology->owners = here < topology->owners ? here : topology->owners;
        topology->largest = here > topology->largest ? here : topology->largest;
    }
}

/* Put the ranks in their order.  ranks_of[node] becomes the end of the node in it. */
static void place_ranks(arc_topology_t *topology, const unsigned *index, unsigned *ranks_of,
                        unsigned ranks, unsigned rank)
{
    unsigned begin = 0;

    for (unsigned node = 0; node < topology->nodes; ++node) {
        const unsigned here = ranks_of[node];
        if (node == topology->node) {
            topology->local_ranks = here;
            topology->members = &topology->order[begin];
        }
        ranks_of[node] = begin;
        begin += here;
    }
    for (unsigned r = 0; r < ranks; ++r) {
        topology->local_rank += r < rank && index[r] == topology->node;
        topology->order[ranks_of[index[r]]++] = r;
    }
    for (unsigned node = 0; node < topology->nodes; ++node) {
        const unsigned peer = (0 == node ? 0 : ranks_of[node - 1]) + topology->local_rank;
        if (peer < ranks_of[node]) {
            topology->peers[node] = topology->order[peer];
        }
    }
}

arc_status_t arc_topology_make(arc_topology_t *topology, const uint32_t *node_of, unsigned ranks,
                               unsigned rank)
{
    unsigned *index = calloc(2 * (size_t) ranks, sizeof *index);

    memset(topology, 0, sizeof *topology);
    topology->order = calloc(ranks, sizeof *topology->order);
    arc_status_t status = NULL == index || NULL == topology->order ? ARC_ERR_NO_MEMORY : ARC_OK;
    if (ARC_OK == status) {
        topology->nodes = number_nodes(index, node_of, ranks);
        topology->peers = calloc(topology->nodes, sizeof *topology->peers);
        status = 0 == topology->nodes      ? ARC_ERR_PROTOCOL
                 : NULL == topology->peers ? ARC_ERR_NO_MEMORY
                                           : ARC_OK;
    }
    if (ARC_OK != status) {
        free(index);
        arc_topology_free(topology);
        return status;
    }
    count_ranks(topology, index, index + ranks, ranks);
    topology->node = index[rank];
    place_ranks(topology, index, index + ranks, ranks, rank);
    free(index);
    return ARC_OK;
}

void arc_topology_free(arc_topology_t *topology)
{
    free(topology->order);
    free(topology->peers);
    memset(topology, 0, sizeof *topology);
}
