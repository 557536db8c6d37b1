/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

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

arc_status_t mca_nodes_find(arc_module_t *module, unsigned declared, arc_topology_t *topology)
{
    struct ompi_communicator_t *comm = module->comm;
    const unsigned ranks = (unsigned) ompi_comm_size(comm);
    uint32_t own = node_id(comm, declared);
    uint32_t *node_of = calloc(ranks, sizeof *node_of);
    uint64_t ok = NULL != node_of;

    arc_status_t status = arc_module_min(module, &ok, 1);
    if (ARC_OK == status && ok) {
        module->nested = true;
        if (OMPI_SUCCESS != comm->c_coll->coll_allgather(&own, (int) sizeof own, &ompi_mpi_byte.dt,
                                                         node_of, (int) sizeof own,
                                                         &ompi_mpi_byte.dt, comm,
                                                         comm->c_coll->coll_allgather_module)) {
            status = ARC_ERR_TRANSPORT;
        }
        module->nested = false;
    }
    if (ARC_OK == status) {
        status = ok ? arc_topology_make(topology, node_of, ranks, (unsigned) ompi_comm_rank(comm))
                    : ARC_ERR_NO_MEMORY;
    }
    free(node_of);
    return status;
}
