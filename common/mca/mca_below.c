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

/* What is below in a slot, with what its form has besides the arguments of the collective. */
#define SUM_BELOW(_name, ...)                                                           \
    module->below_##_name(call->send, call->receive, call->count, call->type, call->op, \
                          module->comm, ##__VA_ARGS__, module->below_##_name##_module)
#define GATHER_BELOW(_name, ...)                                                        \
    module->below_##_name(call->send, call->send_count, call->send_type, call->receive, \
                          call->count, call->type, module->comm, ##__VA_ARGS__,         \
                          module->below_##_name##_module)

/* That of the call, in the form that has `_i` before and `_init` behind its collective's name. */
#define BELOW(_i, _init, ...)                                                                   \
    (ARC_SLOT_allgather == call->collective ? GATHER_BELOW(_i##allgather##_init, ##__VA_ARGS__) \
     : ARC_SLOT_reduce_scatter_block == call->collective                                        \
         ? SUM_BELOW(_i##reduce_scatter_block##_init, ##__VA_ARGS__)                            \
         : SUM_BELOW(_i##allreduce##_init, ##__VA_ARGS__))

int arc_below_call(arc_module_t *module, const arc_call_t *call)
{
    const unsigned before = module->inside;

    if (OPAL_UNLIKELY(arc_fiber_inside())) {
        return mca_plain_call(module, call);
    }
    /* That one has called us, and there may be none below it. */
    if (0 != (before & arc_slot_bit(call->collective)) &&
        !mca_slot_descend(module, call->collective)) {
        return OMPI_ERR_NOT_FOUND;
    }
    module->inside |= arc_slot_bit(call->collective);
    const int status = BELOW(, );
    module->inside = before;
    return status;
}

void arc_module_count_pass(arc_module_t *module, arc_reason_t reason, const arc_call_t *call)
{
    const size_t blocks =
        ARC_SLOT_allreduce == call->collective ? 1 : (size_t) ompi_comm_size(module->comm);
    size_t type_bytes = 0;

    /* One that the component below gave back to us is counted already. */
    if (0 == (module->inside & arc_slot_bit(call->collective))) {
        (void) ompi_datatype_type_size(call->type, &type_bytes);
        arc_module_count(module, call, (size_t) ARC_TALLY_PASSED + reason,
                         blocks * (size_t) call->count * type_bytes);
    }
    if (*module->component->verbose >= ARC_LOG_CALL) {
        arc_module_log(module, ARC_LOG_CALL, "%s of %zu of %s%s%s passed down: %s",
                       arc_slot_call(arc_call_slot(call)), (size_t) call->count, call->type->name,
                       NULL != call->op ? " with " : "", NULL != call->op ? call->op->o_name : "",
                       arc_reason_text(reason));
    }
}

int arc_module_pass(arc_module_t *module, arc_reason_t reason, const arc_call_t *call)
{
    arc_module_count_pass(module, reason, call);
    return arc_below_call(module, call);
}

int arc_below_start(arc_module_t *module, const arc_call_t *call, ompi_request_t **request)
{
    return BELOW(i, , request);
}

int arc_below_init(arc_module_t *module, const arc_call_t *call, struct ompi_info_t *info,
                   ompi_request_t **request)
{
    return BELOW(, _init, info, request);
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
