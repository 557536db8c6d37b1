/*
 * What a module does in a call: pass it down, agree with the other ranks,
 * break, and talk about it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mca_below.h"
#include "mca_component.h"

/* "coll_lowlat: communicator 3 of 4 ranks: ..." */
static void print(const arc_module_t *module, const char *format, va_list arguments)
{
    enum { TEXT_BYTES = 512 };
    char text[TEXT_BYTES];

    vsnprintf(text, sizeof text, format, arguments);
    opal_output(0, "coll_%s: %scommunicator %u of %d ranks: %s",
                arc_component_name(module->component),
                NULL != module->of ? "a persistent request on " : "",
                mca_compat_comm_id(module->comm), ompi_comm_size(module->comm), text);
}

void arc_module_log(const arc_module_t *module, int level, const char *format, ...)
{
    const int least = module->quiet ? ARC_LOG_CALL : level;
    va_list arguments;

    if (*module->component->verbose >= least && 0 == ompi_comm_rank(module->comm)) {
        va_start(arguments, format);
        print(module, format, arguments);
        va_end(arguments);
    }
}

void arc_module_show(const arc_module_t *module, const char *text)
{
    if (!module->quiet) {
        mca_compat_info_show(module->comm, module->component->choice_key, text);
    }
}

void arc_module_warn(const arc_module_t *module, const char *format, ...)
{
    va_list arguments;

    if (*module->component->verbose >= ARC_LOG_WARN) {
        va_start(arguments, format);
        print(module, format, arguments);
        va_end(arguments);
    }
}

/* Under the component's lock: closing it takes what is counted by then. */
static void enter_counting(arc_module_t *module)
{
    arc_component_t *component = module->component;

    module->counting_next = component->counting;
    module->counting_link = &component->counting;
    if (NULL != component->counting) {
        component->counting->counting_link = &module->counting_next;
    }
    component->counting = module;
}

bool arc_module_begin_tally(arc_module_t *module, arc_form_t form)
{
    if (NULL != module->of) {
        module->tally[form] = arc_module_tally(module->of, form, ARC_SLOT_allreduce);
        return NULL != module->tally[form];
    }
    arc_tally_t *tally = calloc(ARC_COLLECTIVES, sizeof *tally);
    if (NULL == tally) {
        return false;
    }
    /* A thread may start a call while another one runs the one before. */
    (void) pthread_mutex_lock(&module->component->lock);
    if (NULL != module->tally[form]) {
        free(tally);
    } else {
        __atomic_store_n(&module->tally[form], tally, __ATOMIC_RELEASE);
    }
    if (NULL == module->counting_link) {
        enter_counting(module);
    }
    (void) pthread_mutex_unlock(&module->component->lock);
    return true;
}

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

void arc_module_agree(arc_module_t *module, uint64_t hash)
{
    /* min(hash) and min(~hash) = ~max(hash): equal to ours on all ranks only if all are equal. */
    uint64_t values[] = {hash, ~hash};

    module->phase = ARC_PHASE_DECLINED;
    module->declined = ARC_REASON_NO_SETUP;
    if (ARC_OK != arc_module_min(module, values, 2)) {
        return;
    }
    if (values[0] != ~values[1]) {
        module->declined = ARC_REASON_CONFIG_DIFFERS;
        arc_module_log(module, ARC_LOG_WARN,
                       "not used: the coll_%s parameters are not the same on all ranks; set them "
                       "once, on the mpirun command line",
                       arc_component_name(module->component));
        return;
    }
    module->phase = ARC_PHASE_AGREED;
}

void arc_module_agree_on_params(arc_module_t *module)
{
    if (module->params_known) {
        module->phase = ARC_PHASE_AGREED;
    } else {
        arc_module_agree(module, arc_component_hash(module->component, module->component->config));
    }
}

int arc_module_break(arc_module_t *module, arc_status_t status, const char *details)
{
    return arc_module_break_call(module, ARC_SLOT_allreduce, status, details);
}

int arc_module_break_call(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                          const char *details)
{
    if (ARC_PHASE_BROKEN == module->phase) {
        return arc_module_broken_error(); /* which has been said */
    }
    module->phase = ARC_PHASE_BROKEN;
    arc_module_warn(
        module, "rank %d: %s failed: %s%s. It cannot be used on this communicator any more",
        ompi_comm_rank(module->comm), arc_slot_call(arc_slot_of_form(slot, module->form)),
        arc_status_text(status), details);
    return arc_module_broken_error();
}

int arc_module_broken_error(void)
{
    return MPI_ERR_OTHER;
}
