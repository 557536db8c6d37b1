/*
 * Calls between the components of one slot: finding the own module in a call, and
 * calling the component below.  Calls are counted, for the report.
 *
 * Open MPI 4.1's han does two things that a component next to it has to expect, where
 * it finds that it cannot serve a communicator (one rank on each node):
 *
 *   - it calls what is in the slot of allreduce with the module of the slot of reduce.  So a
 *     module that comes in a call is taken for ours only if it is of our class.
 *   - it does so although it is itself the component below: the call that we passed down comes
 *     back to us.  So a module notes that a call of the component below is under way, and
 *     if it comes back goes on with the next one below: for good, as han itself means to.
 *
 *     program -> slot: ours -> below: han -> slot: ours -> below, from now on: tuned
 *
 * All ranks get the same calls from the same components, so all decide alike.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_BELOW_H
#define MCA_BELOW_H

#include "mca_module.h"

/* The module of `class` on `comm`, NULL if there is none (yet). */
arc_module_t *arc_module_find(struct ompi_communicator_t *comm, const opal_class_t *class);

/*
 * Our module for `comm`; `base`, which came with the call, may be another component's.  NULL: there
 * is none, and the call is not for us.
 */
static inline arc_module_t *arc_module_own(mca_coll_base_module_t *base, const opal_class_t *class,
                                           struct ompi_communicator_t *comm)
{
    return OPAL_LIKELY(class == ((opal_object_t *) base)->obj_class) ? (arc_module_t *) base
                                                                     : arc_module_find(comm, class);
}

/*
 * The component below makes the blocking call; in a fiber, where nothing may block, mca_plain.h
 * makes it.
 */
int arc_below_call(arc_module_t *module, const arc_call_t *call);

/* The component below starts the nonblocking call, or makes the persistent request. */
int arc_below_start(arc_module_t *module, const arc_call_t *call, ompi_request_t **request);
int arc_below_init(arc_module_t *module, const arc_call_t *call, struct ompi_info_t *info,
                   ompi_request_t **request);

/*
 * Keep the operation and the types of a persistent request, or let go of them: the program may free
 * them while the request is not active, which Open MPI overlooks.
 */
void arc_call_hold(const arc_call_t *call, bool hold);

/* Count, and say if the user wants to know, that a call goes to the component below. */
void arc_module_count_pass(arc_module_t *module, arc_reason_t reason, const arc_call_t *call);

/* Count, and give the call to the component below. */
int arc_module_pass(arc_module_t *module, arc_reason_t reason, const arc_call_t *call);

#endif
