/*
 * A parameter table as Open MPI variables.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_PARAMS_H
#define MCA_PARAMS_H

#include "mca_module.h"

/*
 * Register every parameter of the component, with its default, and read what
 * the user set.  A value that cannot be used is replaced by the default and
 * remembered for mca_params_complain().
 */
void mca_params_register(arc_component_t *component);

/*
 * Is a warning due before any parameter is registered?  In one process of the job, as far as the
 * environment tells, and unless parameter verbose is 0 there.
 */
bool mca_params_may_warn(const arc_component_t *component);

/*
 * One message for each value that was refused, and for each parameter that the environment sets and
 * nobody has; for the one process that talks.
 */
void mca_params_complain(const arc_component_t *component);

/*
 * Of the parameters in `config` that must be the same on all ranks, and of our version.  `config`:
 * the component's, or what an info key has made of it.
 */
uint64_t arc_component_hash(const arc_component_t *component, const void *config);

/* Did the user set the parameter `name`? */
bool arc_component_param_set(const arc_component_t *component, const char *name);

#endif
