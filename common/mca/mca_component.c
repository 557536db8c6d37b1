/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_module.h"

#include <stdio.h>
#include <stdlib.h>

#include <ompi/mca/coll/base/coll_base_util.h>

#include "mca_agreement.h"
#include "mca_params.h"
#include "mca_presence.h"
#include "mca_report.h"
#include "mca_request.h"
#include "mca_seat.h"
#include "mca_slots.h"

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

    /* The program's own MPI_Get_library_version, as a tool's, may say more, or count calls. */
    return MPI_SUCCESS == PMPI_Get_library_version(text, &length) &&
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
    const bool release = same_release();

    if (!release || !same_layout()) {
        if (mca_params_may_warn(component)) {
            opal_output(
                0,
                "coll_%s: not used: it was built for another %s than this one; build it again "
                "with this Open MPI (it was built with %d.%d.%d)",
                arc_component_name(component),
                release ? "build of Open MPI" : "release of Open MPI", OMPI_MAJOR_VERSION,
                OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
        }
        return OPAL_ERR_NOT_AVAILABLE;
    }
    mca_params_register(component);
    /* Open MPI has one place for the text, which it gives to the component that registers last. */
    free(component->report_file);
    component->report_file = strdup(*component->file);
    return OPAL_SUCCESS;
}

int arc_component_open(arc_component_t *component)
{
    component->first_process = false;
    component->in_whole_world = false;
    component->asks_in_vain = false;
    component->absence_told = false;
    (void) pthread_mutex_init(&component->lock, NULL);
    arc_requests_open();
    if (*component->priority >= 0) {
        arc_presence_publish(component);
    }
    return OPAL_SUCCESS;
}

int arc_component_init_query(arc_component_t *component)
{
    /* Open MPI 5 does not know who we are before this. */
    const ompi_proc_t *self = ompi_proc_local();

    component->rank = NULL == self ? UINT32_MAX : self->super.proc_name.vpid;
    component->first_process = 0 == component->rank;
    arc_report_open(component);
    if (mca_compat_threads()) {
        mca_seat_prepare();
    }
    if (component->first_process) {
        mca_params_complain(component);
    }
    return OMPI_SUCCESS;
}

int arc_component_close(arc_component_t *component)
{
    arc_report_close(component);
    arc_requests_close();
    arc_agreements_close();
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
    return NULL != selection && list_names(selection, arc_component_name(component));
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
            '^' != value[0] && !list_names(value, arc_component_name(component)));
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm);
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm);

mca_coll_base_module_t *arc_component_query(arc_component_t *component,
                                            struct ompi_communicator_t *comm, int *priority)
{
    if (*component->priority < 0 || mca_compat_fault_tolerant() || OMPI_COMM_IS_INTER(comm) ||
        ompi_comm_size(comm) < 2 || is_somebody_elses(component, comm)) {
        return NULL;
    }
    arc_module_t *module = arc_module_new(component, comm);
    if (NULL == module) {
        return NULL;
    }
    *priority = *component->priority;
    arc_presence_begin(module);
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    module->super.coll_allreduce = component->entries->allreduce;
    return &module->super;
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    arc_module_t *module = (arc_module_t *) base;

    if (!mca_slot_enter(module, ARC_SLOT_allreduce)) {
        return OMPI_ERR_NOT_FOUND;
    }
    /* It tells of another communicator, if the program gives all of that one's info to this one. */
    mca_compat_info_forget(comm, module->component->choice_key);
    module->component->enabled(module);
    for (arc_slot_t slot = 0; slot < ARC_SLOTS; ++slot) {
        if (0 != (module->wanted & ~module->entered & arc_slot_bit(slot))) {
            (void) mca_slot_enter(module, slot);
        }
    }
    return OMPI_SUCCESS;
}

/*
 * Open MPI 6 calls it once, of the highest module first.  Open MPI 4 and 5 do so once per slot that
 * we still own, and never when a higher component took them all.
 */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    (void) comm;
    mca_slots_disabled((arc_module_t *) base);
    return OMPI_SUCCESS;
}
