/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "coll_lowlat.h"
#include "coll_lowlat_cores.h"

/* mpirun tells Open MPI to yield when there are more processes than slots on the node.  The
 * setting can be read only by changing it for a moment. */
static bool open_mpi_yields(void)
{
    const bool yields = opal_progress_set_yield_when_idle(false);

    (void) opal_progress_set_yield_when_idle(yields);
    return yields;
}

void coll_lowlat_cores_get(arc_cores_t *own)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;
    const unsigned processes = 1 + (unsigned) opal_process_info.num_local_peers;
    const int64_t now_ns = arc_now_ns();

    (void) pthread_mutex_lock(&component->base.lock);
    if (0 == component->cores_ns || now_ns - component->cores_ns > ARC_NS_PER_SECOND) {
        arc_cores_get(&component->cores, processes, "");
        component->cores.crowded |= open_mpi_yields();
        component->cores_ns = now_ns;
    }
    *own = component->cores;
    (void) pthread_mutex_unlock(&component->base.lock);
}
