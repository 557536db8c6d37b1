/*
 * Calls between the components of one slot: finding the own module in a call, and
 * calling the component below.
 *
 * Open MPI 4.1's han does two things that a component next to it has to expect, where
 * it finds that it cannot serve a communicator (one rank on each node):
 *
 *   - it calls what is in the slot of allreduce with the module of the slot of reduce.  So a
 *     module that comes in a call is taken for ours only if it is of our class.
 *   - it does so although it is itself the component below: the call that we passed down comes
 *     back to us.  So a module knows while it is in a call of the component below, and
 *     goes on with the next one below that: for good, as han itself means to.
 *
 *     program -> slot: ours -> below: han -> slot: ours -> below, from now on: tuned
 *
 * All ranks get the same calls from the same components, so all go on alike.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_BELOW_H
#define MCA_BELOW_H

#include "mca_module.h"

/* The module of `class` on `comm`, NULL if there is none (yet). */
arc_module_t *arc_module_find(struct ompi_communicator_t *comm, const opal_class_t *class);

/*
 * Ours in a call for `comm` that brought `base`, whosever that is.  NULL: there is none, and the
 * call is not for us.
 */
static inline arc_module_t *arc_module_own(mca_coll_base_module_t *base, const opal_class_t *class,
                                           struct ompi_communicator_t *comm)
{
    return OPAL_LIKELY(class == ((opal_object_t *) base)->obj_class) ? (arc_module_t *) base
                                                                     : arc_module_find(comm, class);
}

/*
 * The blocking call by the component below; in a fiber, where nothing may block, by mca_plain.h.
 */
int arc_below_call(arc_module_t *module, const arc_call_t *call);

/* The nonblocking call, or the persistent request, of the component below. */
int arc_below_start(arc_module_t *module, const arc_call_t *call, ompi_request_t **request);
int arc_below_init(arc_module_t *module, const arc_call_t *call, struct ompi_info_t *info,
                   ompi_request_t **request);

/*
 * Keep the operation and the types of a persistent request, or let go of them: the program may free
 * them while it is not active, which Open MPI overlooks.
 */
void arc_call_hold(const arc_call_t *call, bool hold);

#endif
