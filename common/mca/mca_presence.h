/*
 * Which processes have the component.  A rank that has not cannot take part in an
 * agreement, nor in a call: the others must know before the first one.
 *
 *   MPI_Init   open          publish "arc coll_lowlat": this process has it, in this version, with
 *                          these parameters (a hash of them)
 *              exchange      Open MPI's, through PMIx
 *   set-up     of a communicator: call the roll (agreement.h); each rank looks its partners up
 *
 * What is published never changes.  A rank with other parameters counts as one that lacks the
 * component, on both sides: so only ranks whose parameters are the same wait for each other, and
 * these count and decide alike.  A positive answer is never wrong.  There may be no answer, from
 * another node; then this process believes in nobody any more: it votes "no" in all roll calls to
 * come, so that what others have sent it in this one is never taken for a message of another.
 *
 * A call that is not blocking may not wait for a roll call.  Where all that the job published is in
 * local memory, the first such call for which it matters looks up all ranks instead, 15 us each;
 * what the process believes does not count then, as the others cannot know it.  Elsewhere such
 * calls go to the component below until a blocking one has called the roll.
 *
 * Cost: an agreement for each communicator, and ceil(log2 P) lookups, or twice as many, until one
 * of them, in which all processes of MPI_COMM_WORLD are, has found that all have it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_PRESENCE_H
#define MCA_PRESENCE_H

#include "mca_module.h"

/* To be called while processes can still publish: before their exchange in MPI_Init; later is too
 * late. */
void arc_presence_publish(const arc_component_t *component);

/* A module of an intra-communicator is new: asks nobody. */
void arc_presence_begin(arc_module_t *module);

/*
 * In a blocking call, all ranks together: if it is not known who has the component, call the roll.
 * If some rank lacks it, all that have it decline the communicator, and the first one that wants it
 * says so, once.  (Where those that lack it are scattered, another one may take itself for the
 * first.)  ARC_PHASE_BROKEN: a rank that has it did not come.
 */
void arc_presence_find(arc_module_t *module);

/* The same before a call that is not blocking.  Does not wait, and so may find out nothing. */
void arc_presence_look(arc_module_t *module);

/* In ARC_PHASE_FRESH: arc_presence_find(), and are the parameters the same?  As
 * arc_module_agree(). */
void arc_presence_agree(arc_module_t *module);

#endif
