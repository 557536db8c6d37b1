/*
 * Nonblocking and persistent collectives: requests of Open MPI, the queue of each communicator
 * (queue.h), and who drives them.
 *
 *     MPI_Iallreduce     the queue of the module          run by
 *     MPI_Start     -->  [front] [next] [next] ...   <--  opal_progress(), in whatever call of MPI;
 *                        runs    wait in order            a few polls in the start itself
 *
 * The operation at the front is a task of the component if that can begin without waiting
 * (component->direct); otherwise it is the blocking function itself, in a fiber.  Persistent
 * requests may be started in another order on each rank (MPI 4.0, section 6.13), so each of them
 * has a module of its own, in no slot.  docs/architecture.md, "Nonblocking and persistent calls",
 * has what is decided when, and what threads do.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_REQUEST_H
#define MCA_REQUEST_H

#include "mca_module.h"

#include <ompi/mca/coll/base/coll_base_util.h>

/* When the component is opened and closed; local, once for each component. */
void arc_requests_open(void);
void arc_requests_close(void);

/*
 * Start the call, or have the component below start it if it is not admitted.  *request is what MPI
 * returns: MPI_SUCCESS, or an error, and then nothing was started.  module NULL: there is none.
 */
int arc_request_start(arc_module_t *module, arc_call_t *call, ompi_request_t **request);

/* A persistent request for the collective, inactive.  Collective and blocking, as MPI allows. */
int arc_request_init(arc_module_t *module, const arc_call_t *call, struct ompi_info_t *info,
                     ompi_request_t **request);

/* The part of arc_module_settle() for when something may be pending. */
void arc_module_settle_pending(arc_module_t *module);

/*
 * At the begin of every blocking call: wait until nothing is pending.  From then on all ranks know
 * the same.  In a fiber it does nothing: the fiber is the pending operation.
 */
static inline void arc_module_settle(arc_module_t *module)
{
    if (OPAL_UNLIKELY(module->unsettled)) {
        arc_module_settle_pending(module);
    }
}

#endif
