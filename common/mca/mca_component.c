/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_component.h"

#include <stdio.h>

#include <ompi/mca/coll/base/coll_base_util.h>

#include "mca_params.h"
#include "mca_presence.h"

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
    component->in_whole_world = false;
    component->absence_told = false;
    memset(&component->total, 0, sizeof component->total);
    if (0 != pthread_mutex_init(&component->lock, NULL)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    if (*component->priority >= 0) {
        arc_presence_publish(component);
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

/* Is `name` one of the comma-separated names in `list`, and no exclusion before it? */
static bool list_names(const char *list, const char *name)
{
    bool named = false;

    char **names = opal_argv_split(list, ',');
    for (char **entry = names; NULL != entry && NULL != *entry && '^' != **entry; ++entry) {
        named = named || 0 == strcmp(*entry, name);
    }
    opal_argv_free(names);
    return named;
}

bool arc_component_listed(const arc_component_t *component)
{
    const char *selection = ompi_coll_base_framework.framework_selection;
    return NULL != selection && list_names(selection, name_of(component));
}

bool arc_component_param_set(const arc_component_t *component, const char *name)
{
    for (size_t i = 0; i < component->params_count; ++i) {
        if (0 == strcmp(component->params[i].name, name)) {
            return component->param_set[i];
        }
    }
    return false;
}

/*
 * A communicator that another component (han) made for its own use, or for which
 * the program names the components it prefers, and not us.  (A list that only
 * excludes begins with '^'; what it excludes is not even asked.)
 */
static bool is_somebody_elses(const arc_component_t *component, struct ompi_communicator_t *comm)
{
    char value[OPAL_MAX_INFO_VAL + 1];

    return mca_compat_info_get(comm, "ompi_comm_coll_han_topo_level", value, sizeof value) ||
           (mca_compat_info_get(comm, "ompi_comm_coll_preference", value, sizeof value) &&
            '^' != value[0] && !list_names(value, name_of(component)));
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm);
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm);

mca_coll_base_module_t *arc_component_query(arc_component_t *component,
                                            struct ompi_communicator_t *comm, int *priority)
{
    if (*component->priority < 0 || mca_compat_fault_tolerant() || OMPI_COMM_IS_INTER(comm) ||
        ompi_comm_size(comm) < 2 || is_somebody_elses(component, comm) ||
        !arc_presence_everywhere(component, comm)) {
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
    module->super.coll_allreduce = component->allreduce;
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
    if (NULL != module->below_module) {
        OBJ_RELEASE(module->below_module);
    }
    module->below_allreduce = slots->coll_allreduce;
    module->below_module = slots->coll_allreduce_module;
    OBJ_RETAIN(module->below_module);
    module->installed = true;
    return OMPI_SUCCESS;
}

/* Put a function and its module into the slot, which holds a reference to the module. */
static void fill_slot(mca_coll_base_comm_coll_t *slots,
                      mca_coll_base_module_allreduce_fn_t function, mca_coll_base_module_t *module)
{
    mca_coll_base_module_t *before = slots->coll_allreduce_module;

    OBJ_RETAIN(module);
    slots->coll_allreduce = function;
    slots->coll_allreduce_module = module;
    OBJ_RELEASE(before);
}

/* Open MPI fills the slot itself, after this returns. */
static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    arc_module_t *module = (arc_module_t *) base;
    (void) comm;

    int status = save_below(module);
    if (OMPI_SUCCESS == status) {
        module->component->enabled(module);
    }
    return status;
}

int arc_module_install(arc_module_t *module)
{
    if (module->installed) {
        return OMPI_SUCCESS;
    }
    int status = save_below(module);
    if (OMPI_SUCCESS == status) {
        fill_slot(module->comm->c_coll, module->super.coll_allreduce, &module->super);
    }
    return status;
}

/*
 * Does a module of higher priority serve allreduce?  What the slot holds at the
 * moment does not tell: han puts the functions it saved back for a while, without
 * references.  The list has all modules in ascending order of priority.
 */
static bool has_one_above(const arc_module_t *module)
{
    mca_coll_base_avail_coll_t *item = NULL;
    bool above = false;
    bool found = false;

    OPAL_LIST_FOREACH (item, module->comm->c_coll->module_list, mca_coll_base_avail_coll_t) {
        above = above || (found && NULL != item->ac_module->coll_allreduce);
        found = found || item->ac_module == &module->super;
    }
    return above;
}

void arc_module_uninstall(arc_module_t *module)
{
    mca_coll_base_comm_coll_t *slots = module->comm->c_coll;

    if (slots->coll_allreduce_module == &module->super && !has_one_above(module)) {
        fill_slot(slots, module->below_allreduce, module->below_module);
        module->installed = false;
    }
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
    module->installed = false;
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
