/*
 * Performance variables of MPI_T: fields of a component's modules, each bound to a communicator.
 * Open MPI asks for a value:
 *
 *   MPI_T_pvar_read -> read_comm(variable, its communicator) -> the module there -> a field of it
 *
 * A communicator on which there is no module has what a given module has, mostly zeros.  Counters
 * tell what has come since the handle was allocated, as MPI has it; Open MPI subtracts what was
 * there before.
 *
 * Nothing of this runs in a call.  A thread that reads while another one is in a call on the
 * communicator may see what was before that call, or after it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_PVARS_H
#define MCA_PVARS_H

#include <opal/mca/base/mca_base_pvar.h>

#include "mca_module.h"

/* A variable, coll_<component>_<name>: a field of a module. */
typedef struct arc_pvar {
    const char *name;
    const char *help;
    size_t offset;
    size_t bytes;
    int class;
    mca_base_var_type_t type;
} arc_pvar_t;

/*
 * What a list of variables is made of.  ARC_PVAR_FIELD(field): offset and size of a field, of the
 * component's module.
 *
 *     ARC_PVAR_CALLS(name, field, help)         a counter, unsigned long long
 *     ARC_PVAR_NUMBER(name, field, help)        a double
 *     ARC_PVAR_STATE(name, field, help)         an int, whose values have names
 */
#define ARC_PVAR_CALLS(_name, _field, _help)                                     \
    {"comm_" #_name, _help, ARC_PVAR_FIELD(_field), MCA_BASE_PVAR_CLASS_COUNTER, \
     MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
#define ARC_PVAR_NUMBER(_name, _field, _help)                                    \
    {"comm_" #_name, _help, ARC_PVAR_FIELD(_field), MCA_BASE_PVAR_CLASS_GENERIC, \
     MCA_BASE_VAR_TYPE_DOUBLE},
/* Without help: where there is that and names of values as well, ompi_info 4.1 crashes. */
#define ARC_PVAR_STATE(_name, _field, _help)                                  \
    {"comm_" #_name, NULL, ARC_PVAR_FIELD(_field), MCA_BASE_PVAR_CLASS_STATE, \
     MCA_BASE_VAR_TYPE_INT},

/*
 * Make them readable.  `none` has the values of a communicator without a module; `names` those of
 * the values of states, up to one without a name.
 */
void arc_pvars_register(const arc_component_t *component, const arc_pvar_t *pvars, size_t count,
                        const arc_module_t *none, const mca_base_var_enum_value_t *names);

#endif
