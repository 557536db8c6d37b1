/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_pass.h"

#include "mca_below.h"
#include "mca_log.h"

/* Bytes of all blocks count; a call that the component below gave back to us is counted already. */
static void count_pass(arc_module_t *module, arc_form_t form, arc_slot_t slot, arc_reason_t reason,
                       int count, const struct ompi_datatype_t *type, const struct ompi_op_t *op)
{
    const size_t blocks = ARC_SLOT_allreduce == slot ? 1 : (size_t) ompi_comm_size(module->comm);
    size_t type_bytes = 0;

    if (0 == (module->inside & arc_slot_bit(slot))) {
        (void) ompi_datatype_type_size(type, &type_bytes);
        arc_tally_t *tally = arc_module_tally(module, form, slot);
        if (NULL != tally) {
            arc_tally_count(&tally->passed[reason], blocks * (size_t) count * type_bytes);
        }
    }
    if (*module->component->verbose >= ARC_LOG_CALL) {
        arc_module_log(module, ARC_LOG_CALL, "%s of %d of %s%s%s passed down: %s",
                       arc_slot_call(arc_slot_of_form(slot, form)), count, type->name,
                       NULL != op ? " with " : "", NULL != op ? op->o_name : "",
                       arc_reason_text(reason));
    }
}

void arc_module_count_pass(arc_module_t *module, arc_slot_t slot, arc_reason_t reason, int count,
                           const struct ompi_datatype_t *type, const struct ompi_op_t *op)
{
    count_pass(module, module->form, slot, reason, count, type, op);
}

void arc_module_count_pass_call(arc_module_t *module, arc_reason_t reason, const arc_call_t *call)
{
    count_pass(module, call->form, call->collective, reason, call->count, call->type, call->op);
}

int arc_module_pass(arc_module_t *module, arc_reason_t reason, const void *send, void *receive,
                    int count, struct ompi_datatype_t *type, struct ompi_op_t *op)
{
    arc_module_count_pass(module, ARC_SLOT_allreduce, reason, count, type, op);
    return arc_below_allreduce(send, receive, count, type, op, module->comm, &module->super);
}

int arc_module_pass_reduce_scatter_block(arc_module_t *module, arc_reason_t reason,
                                         const void *send, void *receive, int count,
                                         struct ompi_datatype_t *type, struct ompi_op_t *op)
{
    arc_module_count_pass(module, ARC_SLOT_reduce_scatter_block, reason, count, type, op);
    return arc_below_reduce_scatter_block(send, receive, count, type, op, module->comm,
                                          &module->super);
}

int arc_module_pass_allgather(arc_module_t *module, arc_reason_t reason, const void *send,
                              int send_count, struct ompi_datatype_t *send_type, void *receive,
                              int receive_count, struct ompi_datatype_t *receive_type)
{
    arc_module_count_pass(module, ARC_SLOT_allgather, reason, receive_count, receive_type, NULL);
    return arc_below_allgather(send, send_count, send_type, receive, receive_count, receive_type,
                               module->comm, &module->super);
}
