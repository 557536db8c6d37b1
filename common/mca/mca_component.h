/*
 * What both components do alike when they are opened and closed, and asked whether they serve a
 * communicator.
 *
 * A component is a descriptor (arc_component_t) plus callbacks of one line
 * each, because Open MPI's callbacks do not say which component they are for.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_COMPONENT_H
#define MCA_COMPONENT_H

#include "mca_module.h"

/* The bodies of the component's callbacks. */
int arc_component_register(arc_component_t *component);
int arc_component_open(arc_component_t *component);
int arc_component_close(arc_component_t *component);
int arc_component_init_query(arc_component_t *component);
mca_coll_base_module_t *arc_component_query(arc_component_t *component,
                                            struct ompi_communicator_t *comm, int *priority);

/* Is the component in the list that the user gave with --mca coll?  False for an exclude list. */
bool arc_component_listed(const arc_component_t *component);

#endif
