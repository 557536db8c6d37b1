/*
 * Communicators that a component does not serve because some rank may lack it.  Nothing is known of
 * the other ranks there, so all that a module does is count, for the report: it stands in the slots
 * of MPI_Allreduce and MPI_Iallreduce of the process that prints it, and gives every call to the
 * component below.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_ABSENT_H
#define MCA_ABSENT_H

#include "mca_module.h"

/* NULL: nobody will read what it counts, or there is no memory. */
mca_coll_base_module_t *arc_absent_module(arc_component_t *component,
                                          struct ompi_communicator_t *comm, arc_reason_t reason);

#endif
