/*
 * Nonblocking and persistent collectives: requests of Open MPI, the queue of each communicator
 * (queue.h), and who drives them.
 *
 *     MPI_Iallreduce     the queue of the module          run by
 *     MPI_Start     -->  [front] [next] [next] ...   <--  opal_progress(), in whatever call of MPI;
 *                        runs    wait in order            a few polls in the start itself
 *
 * A communicator runs one nonblocking operation at a time, in the order in which they were started,
 * which MPI requires to be the same on all ranks: so the shared memory and the streams of a module
 * serve nonblocking calls as they serve blocking ones, and any number may be started.
 *
 * Persistent requests may be started in another order on each rank, and anywhere among the other
 * calls (MPI 4.0, section 6.13).  So each of them has a module of its own, in no slot, with shared
 * memory, tags and a queue: it is set up when the request is made, where all ranks are together,
 * and ranks meet in it whatever they do elsewhere.  It stays as it is, whatever the communicator
 * learns later, or a program sets there.  Where it cannot be set up, the component below makes the
 * request.
 *
 * The operation at the front is a task of the component if that can begin without waiting
 * (component->direct); otherwise it is the blocking function itself, in a fiber.
 *
 * While operations are pending, ranks know different things: one has seen that a set-up failed,
 * another one is not there yet.  So whether a call is passed down is decided when it is started,
 * and only by what all ranks know alike at that place in the order of calls (component->decide). We
 * serve an admitted call to its end; where the component cannot, mca_plain.h does.  A blocking call
 * first waits for all that is pending, which ends that state.
 *
 * With MPI_THREAD_MULTIPLE one thread at a time runs operations; the others progress everything
 * else, and leave the operations that they start to that thread.
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
