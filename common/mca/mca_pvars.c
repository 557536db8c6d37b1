/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_pvars.h"

#include <stdio.h>

#include "mca_below.h"

/* Of this component. */
static struct {
    const opal_class_t *class;
    const arc_module_t *none;
} modules;

static int read_comm(const mca_base_pvar_t *variable, void *value, void *communicator)
{
    const arc_pvar_t *pvar = variable->ctx;
    const arc_module_t *module = arc_module_find(communicator, modules.class);

    memcpy(value, (const char *) (NULL == module ? modules.none : module) + pvar->offset,
           pvar->bytes);
    return OPAL_SUCCESS;
}

/* Of a new handle: how many values it has. */
static int notify_comm(mca_base_pvar_t *variable, mca_base_pvar_event_t event, void *communicator,
                       int *count)
{
    (void) variable;
    (void) communicator;
    if (MCA_BASE_PVAR_HANDLE_BIND == event) {
        *count = 1;
    }
    return OPAL_SUCCESS;
}

void arc_pvars_register(const arc_component_t *component, const arc_pvar_t *pvars, size_t count,
                        const arc_module_t *none, const mca_base_var_enum_value_t *names)
{
    enum { FLAGS = MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, TEXT_BYTES = 96 };
    char text[TEXT_BYTES];
    mca_base_var_enum_t *values = NULL;

    modules.class = component->module_class;
    modules.none = none;
    (void) snprintf(text, sizeof text, "coll_%s_calls", arc_component_name(component));
    if (OPAL_SUCCESS != mca_base_var_enum_create(text, names, &values)) {
        values = NULL; /* there is no memory */
    }
    for (const arc_pvar_t *pvar = pvars; pvar < pvars + count; ++pvar) {
        (void) mca_base_component_pvar_register(
            &component->super.collm_version, pvar->name, pvar->help, OPAL_INFO_LVL_4, pvar->class,
            pvar->type, MCA_BASE_PVAR_CLASS_STATE == pvar->class ? values : NULL,
            MCA_BASE_VAR_BIND_MPI_COMM, (mca_base_pvar_flag_t) FLAGS, read_comm, NULL, notify_comm,
            (void *) (uintptr_t) pvar);
    }
    if (NULL != values) {
        OBJ_RELEASE(values); /* the variable has it */
    }
}
