/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "mca_agreement.h"
#include "mca_gather.h"
#include "mca_nodes.h"

/* The node of rank `rank`, `declared` ranks of MPI_COMM_WORLD a node, in their order. */
static uint32_t declared_node(struct ompi_communicator_t *comm, uint32_t rank, unsigned declared)
{
    return (uint32_t) ompi_group_get_proc_name(comm->c_local_group, (int) rank).vpid / declared;
}

/* The lowest rank of this rank's node: a number for the node that all its ranks find. */
static uint32_t node_id(struct ompi_communicator_t *comm, unsigned declared)
{
    const uint32_t self = (uint32_t) ompi_comm_rank(comm);
    uint32_t rank = 0;

    while (rank < self && !(declared > 0 ? declared_node(comm, rank, declared) ==
                                               declared_node(comm, self, declared)
                                         : mca_compat_is_local(comm->c_local_group, (int) rank))) {
        ++rank;
    }
    return rank;
}

/* Every rank's node, in their order; `cards` has room for as many. */
static arc_status_t gather_nodes(arc_module_t *module, unsigned declared, uint32_t *cards,
                                 uint32_t *node_of)
{
    const mca_circle_t all = {.ranks = (unsigned) ompi_comm_size(module->comm),
                              .self = (unsigned) ompi_comm_rank(module->comm)};

    cards[0] = node_id(module->comm, declared);
    arc_status_t status = mca_gather(module, &all, cards, sizeof cards[0]);
    for (unsigned rank = 0; rank < all.ranks; ++rank) {
        node_of[rank] = cards[mca_gather_place(&all, rank)];
    }
    return status;
}

arc_status_t mca_nodes_find(arc_module_t *module, unsigned declared, arc_topology_t *topology)
{
    const unsigned ranks = (unsigned) ompi_comm_size(module->comm);
    void *memory = NULL;

    arc_status_t status = arc_module_malloc(module, 2 * ranks * sizeof(uint32_t), &memory);
    uint32_t *cards = memory;
    if (ARC_OK == status && NULL == cards) {
        status = ARC_ERR_NO_MEMORY;
    }
    if (ARC_OK == status) {
        status = gather_nodes(module, declared, cards, cards + ranks);
    }
    if (ARC_OK == status) {
        status = arc_topology_make(topology, cards + ranks, ranks,
                                   (unsigned) ompi_comm_rank(module->comm));
    }
    arc_module_free(module, cards);
    return status;
}
