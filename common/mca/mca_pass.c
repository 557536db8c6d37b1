/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_pass.h"

#include "mca_below.h"
#include "mca_log.h"

void arc_module_count_pass(arc_module_t *module, arc_reason_t reason, const arc_call_t *call)
{
    const size_t blocks =
        ARC_SLOT_allreduce == call->collective ? 1 : (size_t) ompi_comm_size(module->comm);
    size_t type_bytes = 0;

    /* One that the component below gave back to us is counted already. */
    if (0 == (module->inside & arc_slot_bit(call->collective))) {
        (void) ompi_datatype_type_size(call->type, &type_bytes);
        arc_tally_t *tally = arc_module_tally(module, call->form, call->collective);
        if (NULL != tally) {
            arc_tally_count(&tally->passed[reason], blocks * (size_t) call->count * type_bytes);
        }
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
