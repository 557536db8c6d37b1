/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_component.h"

#include <stdio.h>

#include "mca_params.h"

static const char *name_of(const arc_component_t *component)
{
    return component->super.collm_version.mca_component_name;
}

/*
 * Internal structures change between releases of Open MPI that have the same
 * interface version.  So this must be the very release that we were built for.
 */
static bool same_release(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    int major = 0;
    int minor = 0;
    int release = 0;

    return MPI_SUCCESS == MPI_Get_library_version(text, &length) &&
           3 == sscanf(text, "Open MPI v%d.%d.%d", &major, &minor, &release) &&
           OMPI_MAJOR_VERSION == major && OMPI_MINOR_VERSION == minor &&
           OMPI_RELEASE_VERSION == release;
}

/* A distribution may patch a release: what we look into must have the sizes we were built with. */
static bool same_layout(void)
{
    return sizeof(ompi_communicator_t) == OBJ_CLASS(ompi_communicator_t)->cls_sizeof &&
           sizeof(mca_coll_base_module_t) == OBJ_CLASS(mca_coll_base_module_t)->cls_sizeof &&
           sizeof(ompi_request_t) == OBJ_CLASS(ompi_request_t)->cls_sizeof &&
           sizeof(ompi_proc_t) == OBJ_CLASS(ompi_proc_t)->cls_sizeof &&
           sizeof(ompi_op_t) == OBJ_CLASS(ompi_op_t)->cls_sizeof &&
           sizeof(ompi_datatype_t) == OBJ_CLASS(ompi_datatype_t)->cls_sizeof;
}

int arc_component_register(arc_component_t *component)
{
    if (!same_release() || !same_layout()) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    mca_params_register(component);
    return OPAL_SUCCESS;
}

int arc_component_open(arc_component_t *component)
{
    component->first_process = false;
    memset(&component->total, 0, sizeof component->total);
    if (0 != pthread_mutex_init(&component->lock, NULL)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    return OPAL_SUCCESS;
}

int arc_component_init_query(arc_component_t *component)
{
    /* Open MPI 5 does not know who we are before this. */
    const ompi_proc_t *self = ompi_proc_local();

    component->first_process = NULL != self && 0 == self->super.proc_name.vpid;
    if (component->first_process) {
        mca_params_complain(component);
    }
    return OMPI_SUCCESS;
}

int arc_component_close(arc_component_t *component)
{
    if (*component->report && component->first_process) {
        arc_tally_print(stderr, name_of(component), component->algorithm_names,
                        component->algorithms, &component->total);
    }
    (void) pthread_mutex_destroy(&component->lock);
    return OPAL_SUCCESS;
}

bool arc_component_listed(const char *name)
{
    const char *selection = ompi_coll_base_framework.framework_selection;
    bool listed = false;

    if (NULL == selection || '^' == selection[0]) {
        return false;
    }
    char **names = opal_argv_split(selection, ',');
    for (char **entry = names; NULL != entry && NULL != *entry && !listed; ++entry) {
        listed = 0 == strcmp(*entry, name);
    }
    opal_argv_free(names);
    return listed;
}

/*
 * A communicator that another component (han) made for its own use names the
 * components it wants.
 */
static bool is_somebody_elses(const arc_component_t *component, struct ompi_communicator_t *comm)
{
    char value[OPAL_MAX_INFO_VAL + 1];

    return mca_compat_info_get(comm, "ompi_comm_coll_han_topo_level", value, sizeof value) ||
           (mca_compat_info_get(comm, "ompi_comm_coll_preference", value, sizeof value) &&
            NULL == strstr(value, name_of(component)));
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm);
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm);

mca_coll_base_module_t *arc_component_query(arc_component_t *component,
                                            struct ompi_communicator_t *comm, int *priority)
{
    if (*component->priority < 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 ||
        is_somebody_elses(component, comm)) {
        return NULL;
    }
    arc_module_t *module = (arc_module_t *) opal_obj_new(component->module_class);
    if (NULL == module) {
        return NULL;
    }
    module->component = component;
    module->comm = comm;
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    if (NULL == component->wanted || component->wanted(comm)) {
        module->super.coll_allreduce = component->allreduce;
    }
    *priority = *component->priority;
    return &module->super;
}

/* Keep what is in the slot now: the component below. */
static int save_below(arc_module_t *module)
{
    const mca_coll_base_comm_coll_t *slots = module->comm->c_coll;

    if (NULL == slots->coll_allreduce || NULL == slots->coll_allreduce_module) {
        return OMPI_ERR_NOT_FOUND;
    }
    module->below_allreduce = slots->coll_allreduce;
    module->below_module = slots->coll_allreduce_module;
    OBJ_RETAIN(module->below_module);
    return OMPI_SUCCESS;
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    arc_module_t *module = (arc_module_t *) base;
    (void) comm;

    /* Open MPI copies our slot after this returns; a module that is not wanted yet has none. */
    if (NULL != base->coll_allreduce) {
        int status = save_below(module);
        if (OMPI_SUCCESS != status) {
            return status;
        }
    }
    if (NULL != module->component->enabled) {
        module->component->enabled(module);
    }
    return OMPI_SUCCESS;
}

int arc_module_install(arc_module_t *module)
{
    mca_coll_base_comm_coll_t *slots = module->comm->c_coll;

    int status = save_below(module);
    if (OMPI_SUCCESS != status) {
        return status;
    }
    /* As Open MPI does after enable: the slot holds a reference to its module. */
    OBJ_RELEASE(slots->coll_allreduce_module);
    OBJ_RETAIN(module);
    module->super.coll_allreduce = module->component->allreduce;
    slots->coll_allreduce = module->super.coll_allreduce;
    slots->coll_allreduce_module = &module->super;
    return OMPI_SUCCESS;
}

/* Called once per slot that we still own, and never when a higher component took them all. */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    (void) base;
    (void) comm;
    return OMPI_SUCCESS;
}

static void module_construct(arc_module_t *module)
{
    module->component = NULL;
    module->comm = NULL;
    module->below_allreduce = NULL;
    module->below_module = NULL;
    module->phase = ARC_PHASE_FRESH;
    module->declined = ARC_REASON_OFF;
    module->nested = false;
    memset(&module->tally, 0, sizeof module->tally);
}

static void module_destruct(arc_module_t *module)
{
    if (NULL != module->component) {
        (void) pthread_mutex_lock(&module->component->lock);
        arc_tally_add(&module->component->total, &module->tally);
        (void) pthread_mutex_unlock(&module->component->lock);
    }
    if (NULL != module->below_module) {
        OBJ_RELEASE(module->below_module);
    }
}

OBJ_CLASS_INSTANCE(arc_module_t, mca_coll_base_module_t, module_construct, module_destruct);
