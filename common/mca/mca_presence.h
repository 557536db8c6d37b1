/*
 * Which processes have the component.  A rank that has not cannot take part in an
 * agreement, nor in a call: the others must know before the first one.
 *
 *   MPI_Init   open          publish "arc coll_lowlat": this process has it, with this
 *                          priority, for these collectives
 *              exchange      Open MPI's, through PMIx
 *   query      of a communicator: look all its processes up
 *
 * What is published never changes, so all processes that have the component find the
 * same.  A job in which all have it is looked up once, whatever communicators it makes.
 *
 * Cost: a lookup in local memory for each process of MPI_COMM_WORLD, once.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_PRESENCE_H
#define MCA_PRESENCE_H

#include "mca_component.h"

/* To be called while processes can still publish: before their exchange in MPI_Init; later is too
 * late. */
void arc_presence_publish(const arc_component_t *component);

/*
 * Do all processes of `comm`, an intra-communicator, have the component, with the same priority and
 * collectives?  Says so once if not, in the first one that has.  Where nobody can know
 * (mca_compat_publications_known()): if parameter installed_everywhere says so.  Asks nobody who
 * might not answer.
 */
bool arc_presence_everywhere(arc_component_t *component, struct ompi_communicator_t *comm);

#endif
