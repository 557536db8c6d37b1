/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lowlat_topology.h"

/* Number the nodes in the order of their lowest ranks: index[r] is that of rank r. */
static unsigned number_nodes(unsigned *index, const uint32_t *node_of, unsigned ranks)
{
    unsigned nodes = 0;

    for (unsigned rank = 0; rank < ranks; ++rank) {
        unsigned first = 0;
        while (node_of[first] != node_of[rank]) {
            ++first;
        }
        index[rank] = first == rank ? nodes++ : index[first];
    }
    return nodes;
}

/* What a walk over the ranks finds; `seen` counts those of each node. */
static void fill(lowlat_topology_t *topology, const unsigned *index, unsigned *seen, unsigned ranks,
                 unsigned rank)
{
    topology->node = index[rank];
    topology->in_order = true;
    for (unsigned r = 0; r < ranks; ++r) {
        const unsigned node = index[r];
        topology->in_order = topology->in_order && (0 == r || node >= index[r - 1]);
        if (node == topology->node) {
            if (r == rank) {
                topology->local_rank = topology->local_ranks;
            }
            topology->members[topology->local_ranks++] = r;
        }
        seen[node] += 1;
    }
    topology->owners = ranks;
    for (unsigned node = 0; node < topology->nodes; ++node) {
        topology->owners = seen[node] < topology->owners ? seen[node] : topology->owners;
        topology->largest = seen[node] > topology->largest ? seen[node] : topology->largest;
        seen[node] = 0;
    }
    for (unsigned r = 0; r < ranks; ++r) {
        if (seen[index[r]]++ == topology->local_rank) {
            topology->peers[index[r]] = r;
        }
    }
}

arc_status_t lowlat_topology_make(lowlat_topology_t *topology, const uint32_t *node_of,
                                  unsigned ranks, unsigned rank)
{
    unsigned *index = calloc(2 * (size_t) ranks, sizeof *index);

    memset(topology, 0, sizeof *topology);
    topology->members = calloc(ranks, sizeof *topology->members);
    topology->peers = calloc(ranks, sizeof *topology->peers);
    if (NULL == index || NULL == topology->members || NULL == topology->peers) {
        free(index);
        lowlat_topology_free(topology);
        return ARC_ERR_NO_MEMORY;
    }
    topology->nodes = number_nodes(index, node_of, ranks);
    fill(topology, index, index + ranks, ranks, rank);
    free(index);
    return ARC_OK;
}

void lowlat_topology_free(lowlat_topology_t *topology)
{
    free(topology->members);
    free(topology->peers);
    memset(topology, 0, sizeof *topology);
}
