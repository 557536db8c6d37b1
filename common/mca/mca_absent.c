/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_absent.h"

#include "mca_entry.h"
#include "mca_log.h"
#include "mca_pass.h"
#include "mca_slots.h"

static int count_allreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                           struct ompi_op_t *op, struct ompi_communicator_t *comm,
                           mca_coll_base_module_t *base)
{
    arc_module_t *module = arc_module_own(base, OBJ_CLASS(arc_module_t), comm);
    const arc_call_t call = ARC_CALL_OF_SUM(allreduce, ARC_FORM_BLOCKING);

    return NULL == module ? OMPI_ERR_NOT_FOUND : arc_module_pass(module, module->declined, &call);
}

static int count_iallreduce(const void *send, void *receive, int count,
                            struct ompi_datatype_t *type, struct ompi_op_t *op,
                            struct ompi_communicator_t *comm, ompi_request_t **request,
                            mca_coll_base_module_t *base)
{
    arc_module_t *module = arc_module_own(base, OBJ_CLASS(arc_module_t), comm);
    const arc_call_t call = ARC_CALL_OF_SUM(allreduce, ARC_FORM_NONBLOCKING);

    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    arc_module_count_pass(module, module->declined, &call);
    return arc_below_start(module, &call, request);
}

static int enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    arc_module_t *module = (arc_module_t *) base;
    (void) comm;

    if (!mca_slot_enter(module, ARC_SLOT_allreduce)) {
        return OMPI_ERR_NOT_FOUND;
    }
    base->coll_allreduce = count_allreduce;
    if (mca_slot_enter(module, ARC_SLOT_iallreduce)) {
        base->coll_iallreduce = count_iallreduce;
    }
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *arc_absent_module(arc_component_t *component,
                                          struct ompi_communicator_t *comm, arc_reason_t reason)
{
    arc_module_t *module = *component->verbose >= ARC_LOG_REPORT && component->first_process
                               ? (arc_module_t *) OBJ_NEW(arc_module_t)
                               : NULL;

    if (NULL == module) {
        return NULL;
    }
    module->component = component;
    module->comm = comm;
    module->declined = reason;
    module->super.coll_module_enable = enable;
    module->super.coll_allreduce = count_allreduce;
    return &module->super;
}
