/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_below.h"

#include <ompi/mca/coll/base/coll_base_util.h>

#include "mca_plain.h"
#include "mca_slots.h"

arc_module_t *arc_module_find(struct ompi_communicator_t *comm, const opal_class_t *class)
{
    mca_coll_base_avail_coll_t *item = NULL;

    if (NULL == comm->c_coll || NULL == comm->c_coll->module_list) {
        return NULL;
    }
    OPAL_LIST_FOREACH (item, comm->c_coll->module_list, mca_coll_base_avail_coll_t) {
        if (class == ((opal_object_t *) item->ac_module)->obj_class) {
            return (arc_module_t *) item->ac_module;
        }
    }
    return NULL;
}

/*
 * Before a call of the component below.  *before: for leave_below().  False: that one has called
 * us, and there is none below it.
 */
static bool enter_below(arc_module_t *module, arc_slot_t slot, unsigned *before)
{
    *before = module->inside;
    if (0 != (module->inside & arc_slot_bit(slot)) && !mca_slot_descend(module, slot)) {
        return false;
    }
    module->inside |= arc_slot_bit(slot);
    return true;
}

static int leave_below(arc_module_t *module, unsigned before, int status)
{
    module->inside = before;
    return status;
}

int arc_below_allreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                        struct ompi_op_t *op, struct ompi_communicator_t *comm,
                        mca_coll_base_module_t *base)
{
    arc_module_t *module = (arc_module_t *) base;
    unsigned before = 0;

    if (OPAL_UNLIKELY(arc_fiber_inside())) {
        return mca_plain_allreduce(module, send, receive, count, type, op);
    }
    return !enter_below(module, ARC_SLOT_allreduce, &before)
               ? OMPI_ERR_NOT_FOUND
               : leave_below(module, before,
                             module->below_allreduce(send, receive, count, type, op, comm,
                                                     module->below_allreduce_module));
}

int arc_below_reduce_scatter_block(const void *send, void *receive, int count,
                                   struct ompi_datatype_t *type, struct ompi_op_t *op,
                                   struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    arc_module_t *module = (arc_module_t *) base;
    unsigned before = 0;

    if (OPAL_UNLIKELY(arc_fiber_inside())) {
        return mca_plain_reduce_scatter_block(module, send, receive, count, type, op);
    }
    return !enter_below(module, ARC_SLOT_reduce_scatter_block, &before)
               ? OMPI_ERR_NOT_FOUND
               : leave_below(
                     module, before,
                     module->below_reduce_scatter_block(send, receive, count, type, op, comm,
                                                        module->below_reduce_scatter_block_module));
}

int arc_below_allgather(const void *send, int send_count, struct ompi_datatype_t *send_type,
                        void *receive, int receive_count, struct ompi_datatype_t *receive_type,
                        struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    arc_module_t *module = (arc_module_t *) base;
    unsigned before = 0;

    if (OPAL_UNLIKELY(arc_fiber_inside())) {
        return mca_plain_allgather(module, send, send_count, send_type, receive, receive_count,
                                   receive_type);
    }
    return !enter_below(module, ARC_SLOT_allgather, &before)
               ? OMPI_ERR_NOT_FOUND
               : leave_below(module, before,
                             module->below_allgather(send, send_count, send_type, receive,
                                                     receive_count, receive_type, comm,
                                                     module->below_allgather_module));
}

int arc_own_blocking(arc_module_t *module, const arc_call_t *call)
{
    const arc_component_t *component = module->component;

    switch (call->collective) {
    case ARC_SLOT_reduce_scatter_block:
        return component->reduce_scatter_block(call->send, call->receive, call->count, call->type,
                                               call->op, module->comm, &module->super);
    case ARC_SLOT_allgather:
        return component->allgather(call->send, call->send_count, call->send_type, call->receive,
                                    call->count, call->type, module->comm, &module->super);
    default:
        return component->allreduce(call->send, call->receive, call->count, call->type, call->op,
                                    module->comm, &module->super);
    }
}

int arc_below_start(arc_module_t *module, const arc_call_t *call, ompi_request_t **request)
{
    switch (call->collective) {
    case ARC_SLOT_reduce_scatter_block:
        return module->below_ireduce_scatter_block(call->send, call->receive, call->count,
                                                   call->type, call->op, module->comm, request,
                                                   module->below_ireduce_scatter_block_module);
    case ARC_SLOT_allgather:
        return module->below_iallgather(call->send, call->send_count, call->send_type,
                                        call->receive, call->count, call->type, module->comm,
                                        request, module->below_iallgather_module);
    default:
        return module->below_iallreduce(call->send, call->receive, call->count, call->type,
                                        call->op, module->comm, request,
                                        module->below_iallreduce_module);
    }
}

int arc_below_init(arc_module_t *module, const arc_call_t *call, struct ompi_info_t *info,
                   ompi_request_t **request)
{
    switch (call->collective) {
    case ARC_SLOT_reduce_scatter_block:
        return module->below_reduce_scatter_block_init(
            call->send, call->receive, call->count, call->type, call->op, module->comm, info,
            request, module->below_reduce_scatter_block_init_module);
    case ARC_SLOT_allgather:
        return module->below_allgather_init(call->send, call->send_count, call->send_type,
                                            call->receive, call->count, call->type, module->comm,
                                            info, request, module->below_allgather_init_module);
    default:
        return module->below_allreduce_init(call->send, call->receive, call->count, call->type,
                                            call->op, module->comm, info, request,
                                            module->below_allreduce_init_module);
    }
}

void arc_call_hold(const arc_call_t *call, bool hold)
{
    opal_object_t *held[] = {
        NULL != call->op && !ompi_op_is_intrinsic(call->op) ? (opal_object_t *) call->op : NULL,
        ompi_datatype_is_predefined(call->type) ? NULL : (opal_object_t *) call->type,
        NULL == call->send_type || MPI_IN_PLACE == call->send ||
                ompi_datatype_is_predefined(call->send_type)
            ? NULL
            : (opal_object_t *) call->send_type,
    };

    for (size_t i = 0; i < sizeof held / sizeof held[0]; ++i) {
        if (NULL != held[i] && hold) {
            OBJ_RETAIN(held[i]);
        } else if (NULL != held[i]) {
            OBJ_RELEASE(held[i]);
        }
    }
}
