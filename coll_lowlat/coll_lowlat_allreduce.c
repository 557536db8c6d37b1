/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>

#include "coll_lowlat_allreduce.h"
#include "coll_lowlat_choice.h"
#include "coll_lowlat_net.h"
#include "coll_lowlat_settled.h"
#include "lowlat_order.h"

/* So many bytes of 16-bit floats for each node go as floats; longer ones straight to owners. */
enum { DIRECT_NODE_BYTES = 2 << 10 };

__attribute__((noinline, cold)) int coll_lowlat_fail(lowlat_module_t *module, arc_form_t form,
                                                     lowlat_task_t *task, arc_status_t status)
{
    enum { TEXT_BYTES = 64 };
    char broken[TEXT_BYTES];
    const arc_slot_t slot = arc_slot_of_form(ARC_SLOT_allreduce, form);
    const unsigned lost = lowlat_net_lost(module);

    if (lost == (unsigned) ompi_comm_size(module->base.comm)) {
        return arc_module_fail(&module->base, slot, &task->task, status);
    }
    if (ARC_ERR_TIMEOUT == status) {
        arc_task_abort(&task->task);
    }
    (void) snprintf(broken, sizeof broken, "; the connection to rank %u is broken", lost);
    return arc_module_break(&module->base, slot, status, broken);
}

/* Elements with gaps: the operation itself runs on packed vectors, in place. */
static __attribute__((noinline)) int run_packed(lowlat_module_t *module, const arc_call_t *call,
                                                unsigned algorithm, lowlat_task_t *task,
                                                arc_reduction_t *reduction)
{
    void *receive = task->out;

    /*
     * The other ranks do not know what this one lacks: without it they wait until their time
     * limit, if any.  On one node it can come without reducing, everybody does that for itself.
     */
    arc_status_t status = mca_bridge_pack(reduction, task->in, task->count);
    if (ARC_OK == status && NULL == reduction->typed[0] && NULL != module->group.net) {
        mca_bridge_discard(reduction);
        status = ARC_ERR_NO_MEMORY;
    }
    if (ARC_OK != status) {
        return arc_module_break(&module->base, arc_call_slot(call), status, "");
    }
    task->in = reduction->vector;
    task->out = reduction->vector;
    int result = coll_lowlat_run_task(module, call, algorithm, task);
    if (MPI_SUCCESS == result) {
        return mca_bridge_unpack(reduction, receive, task->count);
    }
    if (ARC_PHASE_BROKEN != module->base.phase) { /* or messages may still use the vector */
        mca_bridge_discard(reduction);
    }
    return result;
}

__attribute__((noinline)) int coll_lowlat_pass_down(lowlat_module_t *module, arc_reason_t reason,
                                                    const arc_call_t *call)
{
    arc_module_t *base = &module->base;

    if (mca_half_is(module->bridge.uint16, call->op, call->type)) {
        arc_module_count_pass(base, reason, call);
        return mca_half_call(base, module->bridge.uint16, call, arc_below_call);
    }
    return arc_module_pass(base, reason, call);
}

/* Predefined operations and types have addresses of their own for ever. */
static void note_slower(lowlat_module_t *module, arc_select_t *select, const arc_call_t *call)
{
    const mca_bridge_t *bridge = &module->bridge;
    const bool tells =
        call->op == bridge->last_op && call->type == bridge->last_type && NULL == module->opening;

    module->slower.select = tells ? select : NULL;
    module->slower.chosen = select->chosen;
    module->slower.count = call->count;
    module->slower.op = call->op;
    module->slower.type = call->type;
}

/* One of ours: its algorithm. */
static unsigned use_candidate(lowlat_module_t *module, lowlat_candidate_t candidate,
                              lowlat_task_t *task)
{
    if (module->choice->has_both) {
        lowlat_net_use(module, candidate.puts);
    }
    task->leader_bytes = candidate.leaders ? SIZE_MAX : 0;
    return candidate.algorithm;
}

static int run_candidate(lowlat_module_t *module, unsigned number, const arc_call_t *call,
                         lowlat_task_t *task, int error)
{
    const lowlat_candidate_t candidate = module->choice->list.candidate[number];

    if (LOWLAT_PASS_DOWN == candidate.algorithm) {
        return coll_lowlat_pass_down(module, ARC_REASON_SLOWER, call);
    }
    if (OPAL_UNLIKELY(task->span_bytes > module->enough_bytes)) {
        /* Once, so that the next length finds it; no floats are computed. */
        const size_t most_need_bytes = LOWLAT_NODES_CHUNK_BYTES;
        coll_lowlat_grow(module,
                         task->span_bytes > most_need_bytes ? task->span_bytes : most_need_bytes);
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
    }
    const unsigned algorithm = use_candidate(module, candidate, task);
    const int result = coll_lowlat_run_task(module, call, algorithm, task);
    return OPAL_LIKELY(MPI_SUCCESS == result) ? error : result;
}

/* A call that is timed; after the last one of a round the ranks agree on the times. */
static __attribute__((noinline, cold)) int run_timed(lowlat_module_t *module, arc_select_t *select,
                                                     unsigned number, const arc_call_t *call,
                                                     lowlat_task_t *task, int error)
{
    const uint64_t begin_ns = (uint64_t) arc_now_ns();
    const int result = run_candidate(module, number, call, task, error);
    const uint64_t end_ns = (uint64_t) arc_now_ns();

    if (ARC_PHASE_READY != module->base.phase) {
        return result;
    }
    if (arc_select_note(select, begin_ns, end_ns,
                        arc_select_time_ns(task->span_bytes, end_ns - begin_ns))) {
        coll_lowlat_choice_agree(module, call->form, arc_select_class(task->span_bytes));
    }
    return ARC_PHASE_BROKEN == module->base.phase ? arc_module_broken_error() : result;
}

unsigned coll_lowlat_take_learned(lowlat_module_t *module, const arc_call_t *call,
                                  lowlat_task_t *task)
{
    arc_select_t *select =
        coll_lowlat_choice_select(module, ARC_FORM_NONBLOCKING, arc_select_class(task->span_bytes));
    const bool learns = ARC_FORM_NONBLOCKING == call->form;

    if (learns && !arc_select_pick_again(select, select->chosen)) {
        return LOWLAT_PASS_DOWN;
    }
    return use_candidate(module, module->choice->list.candidate[select->chosen], task);
}

/* Between nodes: by the candidate that is chosen, or is to be tried. */
static __attribute__((noinline)) int run_learned(lowlat_module_t *module, const arc_call_t *call,
                                                 lowlat_task_t *task, int error)
{
    const unsigned class = arc_select_class(task->span_bytes);
    const arc_form_t form =
        ARC_FORM_BLOCKING == call->form ? ARC_FORM_BLOCKING : ARC_FORM_NONBLOCKING;
    bool timed = false;

    if (OPAL_UNLIKELY(NULL != module->opening) && ARC_FORM_BLOCKING == form &&
        0 == ++module->opening_calls % LOWLAT_OPENING_CALLS) {
        if (lowlat_net_opened(module)) {
            coll_lowlat_choice_add_puts(module);
        }
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
    }
    arc_select_t *select = coll_lowlat_choice_select(module, form, class);
    if (OPAL_UNLIKELY(ARC_FORM_PERSISTENT == call->form)) {
        return run_candidate(module, select->chosen, call, task, error);
    }
    const unsigned number = arc_select_pick(select, &timed);

    if (OPAL_UNLIKELY(timed)) {
        return run_timed(module, select, number, call, task, error);
    }
    if (LOWLAT_PASS_DOWN == module->choice->list.candidate[number].algorithm) {
        note_slower(module, select, call);
    }
    return run_candidate(module, number, call, task, error);
}

/*
 * Would exchanges between nodes round partial sums of 16-bit floats, and nobody wants that?  Two
 * nodes of a rank each have no partial sums.
 */
static __attribute__((noinline)) bool exchanges_round(const lowlat_module_t *module,
                                                      const struct ompi_op_t *op,
                                                      const struct ompi_datatype_t *type)
{
    const lowlat_net_t *net = module->group.net;

    return NULL != net && !(net->single && 2 == net->nodes) &&
           !mca_coll_lowlat_component.config.nodes_16bit &&
           ARC_TYPE_UINT16 != mca_half_of(module->bridge.uint16, op, type);
}

/*
 * Such a call, rounded once.  Where no node has two ranks, direct does so with 16-bit floats on the
 * wire: for longer messages, which fewer bytes are worth more messages.  Otherwise all travels as
 * floats.
 */
static __attribute__((noinline)) int run_widened(lowlat_module_t *module, unsigned algorithm,
                                                 const arc_call_t *call, lowlat_task_t *task)
{
    const lowlat_net_t *net = module->group.net;
    const arc_type_t half = mca_half_of(module->bridge.uint16, call->op, call->type);
    const bool is_direct =
        LOWLAT_ALGORITHM_DIRECT == algorithm ||
        (LOWLAT_LEARNED == algorithm && task->span_bytes / net->nodes > DIRECT_NODE_BYTES);

    if (is_direct && net->single && net->nodes <= LOWLAT_PUT_NODES &&
        OMPI_OP_SUM == call->op->op_type) {
        const lowlat_widened_t widened = {
            arc_half_select(half, arc_cpu_isa(ARC_ISA_BEST)),
            arc_reduce_kernel(module->bridge.kernels, ARC_OP_SUM, ARC_TYPE_FLOAT)};
        task->widened = &widened;
        return coll_lowlat_run_task(module, call, LOWLAT_ALGORITHM_DIRECT, task);
    }
    return mca_half_call(&module->base, half, call, module->base.component->serve);
}

int coll_lowlat_run_special(lowlat_module_t *module, const arc_call_t *call, unsigned algorithm,
                            lowlat_task_t *task, arc_reduction_t *reduction)
{
    if (reduction->reducer.rounds_once && exchanges_round(module, call->op, call->type)) {
        return run_widened(module, algorithm, call, task);
    }
    if (reduction->packed) {
        return run_packed(module, call, algorithm, task, reduction);
    }
    if (LOWLAT_LEARNED == algorithm) {
        return run_learned(module, call, task, reduction->error);
    }
    const int result = coll_lowlat_run_task(module, call, algorithm, task);
    return MPI_SUCCESS == result ? reduction->error : result;
}

int coll_lowlat_directed(arc_module_t *base, arc_status_t status)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    if (OPAL_UNLIKELY(ARC_OK != status)) {
        const arc_form_t form = NULL == base->of ? ARC_FORM_NONBLOCKING : ARC_FORM_PERSISTENT;
        return coll_lowlat_fail(module, form, &module->pending, status);
    }
    module->until_look -= coll_lowlat_look_calls(module->pending.span_bytes);
    return module->reduction.error;
}
