/*
 * Nonblocking and persistent collectives of coll_quant (mca_request.h): each is the blocking call,
 * in a fiber.
 *
 * Whether a call is admitted follows from its type, operation and length, from the settings, and,
 * where the last call was a blocking one, from what the module has learned by then.  Nonblocking
 * calls are not timed, so they teach nothing: where blocking calls have taught nothing either,
 * ranks on several nodes quantize and those on one node do not.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "coll_quant.h"
#include "mca_below.h"
#include "mca_half.h"
#include "mca_request.h"

static const exchange_collective_t collective_of[ARC_COLLECTIVES] = {
    [ARC_SLOT_allreduce] = EXCHANGE_ALLREDUCE,
    [ARC_SLOT_reduce_scatter_block] = EXCHANGE_REDUCE_SCATTER,
    [ARC_SLOT_allgather] = EXCHANGE_ALLGATHER,
};

/* What a call says, in the terms of the component. */
typedef struct terms {
    exchange_collective_t collective;
    bool is_half;                   /* a sum of 16-bit floats, which nobody below can add */
    const quant_element_t *element; /* NULL: these numbers stay exact */
    size_t bytes;                   /* of all blocks, as `element` */
    size_t sent_bytes;              /* ... as the program has them */
} terms_t;

static terms_t terms_of(const quant_module_t *module, const arc_call_t *call)
{
    const exchange_collective_t collective = collective_of[call->collective];
    struct ompi_datatype_t *type =
        EXCHANGE_ALLGATHER == collective ? mca_bridge_all_of(call->type) : call->type;
    const bool is_uint16 =
        ARC_TYPE_UINT16 != module->settled.uint16 && &ompi_mpi_uint16_t.dt == type;
    const size_t blocks =
        EXCHANGE_ALLREDUCE == collective ? 1 : (size_t) ompi_comm_size(module->base.comm);
    size_t type_bytes = 0;
    size_t number_bytes = 0;

    (void) ompi_datatype_type_size(call->type, &type_bytes);
    const size_t sent_bytes = blocks * (size_t) call->count * type_bytes;
    if (NULL == type || 0 == sent_bytes) {
        return (terms_t){.collective = collective, .sent_bytes = sent_bytes};
    }
    const quant_element_t *element = is_uint16 ? coll_quant_element_of_halves(module, collective)
                                               : coll_quant_element(module, type);
    (void) ompi_datatype_type_size(type, &number_bytes);
    return (terms_t){
        .collective = collective,
        .is_half = is_uint16 && NULL != call->op && OMPI_OP_SUM == call->op->op_type,
        .element = element,
        .bytes = NULL == element ? 0 : sent_bytes / number_bytes * element->bytes,
        .sent_bytes = sent_bytes,
    };
}

/*
 * Settings that ranks may have alone, by the info key, are compared in the first blocking call.
 * Before that some ranks may not be in the slots of nonblocking calls at all, so nobody serves
 * them.
 */
void coll_quant_settled(arc_module_t *base)
{
    quant_module_t *module = (quant_module_t *) base;

    module->settled.same =
        ARC_PHASE_FRESH != base->phase || (base->params_known && !module->key_was_set);
    module->settled.uint16 = module->uint16;
    memcpy(module->settled.gain, module->gain, sizeof module->gain);
}

/* Is it known, or to be expected, that the component below is faster? */
static arc_reason_t reason_of_gain(const quant_module_t *module, const terms_t *terms)
{
    const quant_gain_t *gain =
        &module->settled.gain[coll_quant_tried(terms->collective, terms->element)];
    const unsigned class = arc_select_class(terms->bytes);

    if (quant_gain_is_decided(gain, class)) {
        return quant_gain_at(gain, class) ? ARC_REASON_NONE : ARC_REASON_SLOWER;
    }
    return 0 != module->settings.explore_percent && mca_compat_on_one_node(module->base.comm)
               ? ARC_REASON_LEARNING
               : ARC_REASON_NONE;
}

/* As the program calls it, whatever the state of the module. */
static arc_reason_t reason_of_call(const quant_module_t *module, const arc_call_t *call,
                                   const terms_t *terms)
{
    arc_reason_t verdict = ARC_REASON_NONE;

    if (module->active && !module->settled.same && !terms->is_half) {
        return ARC_REASON_YOUNG; /* sums of 16-bit floats are served by whoever is in the slot */
    }
    if (call->count <= 0) {
        verdict = ARC_REASON_EMPTY;
    } else if (NULL == call->op) {
        verdict = MPI_IN_PLACE == call->send ? ARC_REASON_IN_PLACE : ARC_REASON_NONE;
    } else if (!terms->is_half) {
        verdict = mca_bridge_is_sum(call->op, call->type);
    }
    return coll_quant_reason_of_call(module, terms->collective, terms->element, terms->bytes,
                                     verdict);
}

/* ... and whether it pays. */
static arc_reason_t reason_to_pass(const quant_module_t *module, const arc_call_t *call,
                                   const terms_t *terms)
{
    const arc_reason_t reason = reason_of_call(module, call, terms);

    return ARC_REASON_NONE == reason ? reason_of_gain(module, terms) : reason;
}

uint64_t coll_quant_number(arc_module_t *base, const arc_call_t *call)
{
    quant_module_t *module = (quant_module_t *) base;
    const terms_t terms = terms_of(module, call);

    return ARC_REASON_NONE == reason_of_call(module, call, &terms)
               ? coll_quant_next_number(module, terms.collective)
               : 0;
}

arc_reason_t coll_quant_admit(arc_module_t *base, const arc_call_t *call)
{
    quant_module_t *module = (quant_module_t *) base;

    const terms_t terms = terms_of(module, call);
    arc_reason_t reason = reason_to_pass(module, call, &terms);
    if (terms.is_half) {
        return ARC_REASON_NONE; /* at least exact, and as what they are */
    }
    if (base->unsettled) {
        return reason;
    }
    /* Nothing is pending: all ranks know the module alike.  A call that is not young sets it up. */
    const bool is_set_up_by_it =
        ARC_PHASE_FRESH == base->phase && !arc_module_is_young(base, terms.sent_bytes);
    return ARC_REASON_NONE == reason && !is_set_up_by_it ? coll_quant_reason_of_module(module)
                                                         : reason;
}

arc_reason_t coll_quant_prepare_init(arc_module_t *base, const arc_call_t *call)
{
    quant_module_t *module = (quant_module_t *) base;

    coll_quant_settled(base);
    if (module->settled.same) {
        base->calls_to_go = 0; /* who makes a persistent request will use it */
        coll_quant_agree_if_due(module, 0);
        coll_quant_settled(base);
    }
    const terms_t terms = terms_of(module, call);
    arc_reason_t reason = reason_to_pass(module, call, &terms);
    if (module->settled.same && ARC_PHASE_BROKEN != base->phase && ARC_PHASE_READY != base->phase) {
        if (ARC_REASON_NONE == reason) {
            reason = coll_quant_reason_of_module(module);
        }
        reason = coll_quant_set_up_if_needed(module, reason);
    }
    if (terms.is_half) {
        return ARC_REASON_NONE;
    }
    if (ARC_REASON_NONE == reason && ARC_PHASE_READY == base->phase) {
        const quant_operation_t operation = {.element = terms.element,
                                             .count = terms.bytes / terms.element->bytes,
                                             .collective = terms.collective};
        (void) coll_quant_fold_look(module, &operation); /* who called us looks at the phase */
    }
    return ARC_REASON_NONE == reason ? coll_quant_reason_of_module(module) : reason;
}

void coll_quant_retag(arc_module_t *base)
{
    ((quant_module_t *) base)->stream.tag = base->tags;
}

/* ---- what Open MPI calls ---- */

static int start(mca_coll_base_module_t *base, struct ompi_communicator_t *comm, arc_call_t *call,
                 ompi_request_t **request)
{
    arc_module_t *module = arc_module_own(base, OBJ_CLASS(quant_module_t), comm);

    return NULL == module ? OMPI_ERR_NOT_FOUND : arc_request_start(module, call, request);
}

static int init(mca_coll_base_module_t *base, struct ompi_communicator_t *comm,
                const arc_call_t *call, struct ompi_info_t *info, ompi_request_t **request)
{
    arc_module_t *module = arc_module_own(base, OBJ_CLASS(quant_module_t), comm);

    return NULL == module ? OMPI_ERR_NOT_FOUND : arc_request_init(module, call, info, request);
}

static arc_call_t sum_call(arc_slot_t collective, arc_form_t form, const void *send, void *receive,
                           int count, struct ompi_datatype_t *type, struct ompi_op_t *op)
{
    return (arc_call_t){.collective = collective,
                        .form = form,
                        .send = send,
                        .receive = receive,
                        .count = count,
                        .type = type,
                        .op = op};
}

int coll_quant_iallreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                          struct ompi_op_t *op, struct ompi_communicator_t *comm,
                          ompi_request_t **request, mca_coll_base_module_t *base)
{
    arc_call_t call =
        sum_call(ARC_SLOT_allreduce, ARC_FORM_NONBLOCKING, send, receive, count, type, op);
    return start(base, comm, &call, request);
}

int coll_quant_allreduce_init(const void *send, void *receive, int count,
                              struct ompi_datatype_t *type, struct ompi_op_t *op,
                              struct ompi_communicator_t *comm, struct ompi_info_t *info,
                              ompi_request_t **request, mca_coll_base_module_t *base)
{
    const arc_call_t call =
        sum_call(ARC_SLOT_allreduce, ARC_FORM_PERSISTENT, send, receive, count, type, op);
    return init(base, comm, &call, info, request);
}

int coll_quant_ireduce_scatter_block(const void *send, void *receive, int count,
                                     struct ompi_datatype_t *type, struct ompi_op_t *op,
                                     struct ompi_communicator_t *comm, ompi_request_t **request,
                                     mca_coll_base_module_t *base)
{
    arc_call_t call = sum_call(ARC_SLOT_reduce_scatter_block, ARC_FORM_NONBLOCKING, send, receive,
                               count, type, op);
    return start(base, comm, &call, request);
}

int coll_quant_reduce_scatter_block_init(const void *send, void *receive, int count,
                                         struct ompi_datatype_t *type, struct ompi_op_t *op,
                                         struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                         ompi_request_t **request, mca_coll_base_module_t *base)
{
    const arc_call_t call = sum_call(ARC_SLOT_reduce_scatter_block, ARC_FORM_PERSISTENT, send,
                                     receive, count, type, op);
    return init(base, comm, &call, info, request);
}

static arc_call_t gather_call(arc_form_t form, const void *send, int send_count,
                              struct ompi_datatype_t *send_type, void *receive, int receive_count,
                              struct ompi_datatype_t *receive_type)
{
    return (arc_call_t){.collective = ARC_SLOT_allgather,
                        .form = form,
                        .send = send,
                        .receive = receive,
                        .count = receive_count,
                        .type = receive_type,
                        .send_count = send_count,
                        .send_type = send_type};
}

int coll_quant_iallgather(const void *send, int send_count, struct ompi_datatype_t *send_type,
                          void *receive, int receive_count, struct ompi_datatype_t *receive_type,
                          struct ompi_communicator_t *comm, ompi_request_t **request,
                          mca_coll_base_module_t *base)
{
    arc_call_t call = gather_call(ARC_FORM_NONBLOCKING, send, send_count, send_type, receive,
                                  receive_count, receive_type);
    return start(base, comm, &call, request);
}

int coll_quant_allgather_init(const void *send, int send_count, struct ompi_datatype_t *send_type,
                              void *receive, int receive_count,
                              struct ompi_datatype_t *receive_type,
                              struct ompi_communicator_t *comm, struct ompi_info_t *info,
                              ompi_request_t **request, mca_coll_base_module_t *base)
{
    const arc_call_t call = gather_call(ARC_FORM_PERSISTENT, send, send_count, send_type, receive,
                                        receive_count, receive_type);
    return init(base, comm, &call, info, request);
}
