/*
 * Which processes have the component.  A rank that has not cannot take part in an
 * agreement, nor in a call: the others must know before the first one.
 *
 *   MPI_Init   open          publish "arc coll_lowlat": this process has it, in this version, with
 *                          these parameters (a hash of them)
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

#include "mca_module.h"

/* To be called while processes can still publish: before their exchange in MPI_Init; later is too
 * late. */
void arc_presence_publish(const arc_component_t *component);

/* Do all processes have the component, with the same parameters? */
typedef enum arc_presence {
    ARC_PRESENCE_LACKING, /* not all, or nobody knows */
    ARC_PRESENCE_OTHER,   /* all have it, with other parameters */
    ARC_PRESENCE_SAID,    /* all have it, says the user; parameters may differ */
    ARC_PRESENCE_KNOWN    /* yes */
} arc_presence_t;

/*
 * About the processes of `comm`, an intra-communicator; the same on all that have the component.
 * Where not all have it the first one that has says so once.  Where nobody can know
 * (mca_compat_publications_known()) it is as parameter arc_installed_everywhere says, and without
 * that rank 0 says once what to set.  Asks nobody who might not answer.
 */
arc_presence_t arc_presence_find(arc_component_t *component, struct ompi_communicator_t *comm);

#endif
