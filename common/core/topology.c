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

/*
 * Put the ranks in their order: place[node], which begins as 0, becomes how many ranks the node
 * has, where its next one goes, and the end of the node.
 */
static void place_ranks(arc_topology_t *topology, const unsigned *index, unsigned *place,
                        unsigned ranks, unsigned rank)
{
    unsigned begin = 0;

    for (unsigned r = 0; r < ranks; ++r) {
        place[index[r]] += 1;
    }
    for (unsigned node = 0; node < topology->nodes; ++node) {
        const unsigned here = place[node];
        topology->owners = here < topology->owners ? here : topology->owners;
        topology->largest = here > topology->largest ? here : topology->largest;
        if (node == topology->node) {
            topology->local_ranks = here;
            topology->members = &topology->order[begin];
        }
        place[node] = begin;
        begin += here;
    }
    for (unsigned r = 0; r < ranks; ++r) {
        const unsigned at = place[index[r]]++;
        topology->local_rank += r < rank && index[r] == topology->node;
        topology->in_order = topology->in_order && at == r;
        topology->order[at] = r;
    }
    for (unsigned node = 0; node < topology->nodes; ++node) {
        const unsigned peer = (0 == node ? 0 : place[node - 1]) + topology->local_rank;
        if (peer < place[node]) {
            topology->peers[node] = topology->order[peer];
        }
    }
}

arc_status_t arc_topology_make(arc_topology_t *topology, const uint32_t *node_of, unsigned ranks,
                               unsigned rank)
{
    unsigned *index = calloc(2 * (size_t) ranks, sizeof *index);
    arc_status_t status = ARC_ERR_NO_MEMORY;

    *topology = (arc_topology_t){.owners = ranks,
                                 .in_order = true,
                                 .order = calloc(2 * (size_t) ranks, sizeof *topology->order)};
    if (NULL != index && NULL != topology->order) {
        topology->nodes = number_nodes(index, node_of, ranks);
        status = 0 == topology->nodes ? ARC_ERR_PROTOCOL : ARC_OK;
    }
    if (ARC_OK == status) {
        topology->node = index[rank];
        topology->peers = topology->order + ranks; /* there are no more nodes than ranks */
        place_ranks(topology, index, index + ranks, ranks, rank);
    } else {
        arc_topology_free(topology);
    }
    free(index);
    return status;
}

void arc_topology_free(arc_topology_t *topology)
{
    free(topology->order);
    memset(topology, 0, sizeof *topology);
}
