/*
 * MPI_Iallreduce and MPI_Allreduce_init of coll_lowlat (mca_request.h).
 *
 * On one node, once the communicator is set up, an operation is the same task in shared memory that
 * a blocking call runs.  All else is that blocking call, in a fiber.
 *
 * Whether a call is admitted follows from its type, operation and length, and from what the module
 * was when the last blocking call ended, which is the same on all ranks: `settled`.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_lowlat_choice.h"
#include "mca_half.h"
#include "mca_request.h"

/* What the call is to the component; *bytes is set if that is ARC_REASON_NONE. */
static arc_reason_t reduction_of(lowlat_module_t *module, const arc_call_t *call,
                                 arc_reduction_t *reduction, size_t *bytes)
{
    if (call->count <= 0) {
        return ARC_REASON_EMPTY;
    }
    const arc_reason_t reason =
        mca_bridge_reduction(&module->bridge, call->op, call->type, reduction);
    if (ARC_REASON_NONE != reason) {
        return reason;
    }
    if (reduction->reducer.stride_bytes > LOWLAT_MAX_ELEMENT_BYTES) {
        return ARC_REASON_TOO_LARGE;
    }
    *bytes = arc_reducer_span_bytes(&reduction->reducer, (size_t) call->count);
    return ARC_REASON_NONE;
}

/* Is the component below chosen for this length, between nodes? */
static bool is_slower(const lowlat_module_t *module, size_t bytes)
{
    const lowlat_choice_t *choice = module->choice;

    return NULL != choice &&
           LOWLAT_PASS_DOWN ==
               choice->list.candidate[choice->select[arc_select_class(bytes)].chosen].algorithm;
}

/*
 * Ranks that may have other parameters find out when a call agrees, and not from what each of them
 * makes of its arguments: until then every call is admitted.
 */
void coll_lowlat_settled(arc_module_t *base)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    module->settled.unknown = ARC_PHASE_FRESH == base->phase && !base->params_known;
    module->settled.ready = ARC_PHASE_READY == module->base.phase;
    module->settled.map = module->map;
    module->settled.uint16 = module->bridge.uint16;
}

arc_reason_t coll_lowlat_admit(arc_module_t *base, arc_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    arc_reduction_t reduction;
    size_t bytes = 0;

    if (!base->unsettled && ARC_PHASE_DECLINED == base->phase) {
        return base->declined;
    }
    if (call->count > 0 &&
        (module->settled.unknown || mca_half_is(module->settled.uint16, call->op, call->type))) {
        return ARC_REASON_NONE; /* the component below would add 16-bit floats as integers */
    }
    arc_reason_t reason = reduction_of(module, call, &reduction, &bytes);
    if (ARC_REASON_NONE == reason) {
        const bool fits = reduction.packed
                              ? bytes <= module->group.block_bytes
                              : LOWLAT_PASS_DOWN != lowlat_map_lookup(&module->settled.map, bytes);
        reason = fits ? ARC_REASON_NONE : ARC_REASON_TOO_LARGE;
    }
    if (!base->unsettled && coll_lowlat_is_young(module, reason, bytes)) {
        return ARC_REASON_NONE == reason ? ARC_REASON_YOUNG : reason;
    }
    if (ARC_REASON_NONE == reason && module->settled.ready && is_slower(module, bytes)) {
        reason = ARC_REASON_SLOWER;
    }
    return reason;
}

arc_reason_t coll_lowlat_prepare_init(arc_module_t *base, const arc_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    arc_reduction_t reduction;
    size_t bytes = 0;

    unsigned algorithm = LOWLAT_PASS_DOWN;
    arc_reason_t reason = reduction_of(module, call, &reduction, &bytes);
    if (ARC_REASON_NONE == reason) {
        algorithm = coll_lowlat_choose(module, &reduction, bytes);
        reason = LOWLAT_PASS_DOWN == algorithm ? ARC_REASON_TOO_LARGE : ARC_REASON_NONE;
    }
    if (ARC_PHASE_READY != base->phase ||
        (ARC_REASON_NONE == reason && bytes > module->enough_bytes[algorithm])) {
        reason = coll_lowlat_prepare(module, reason, &reduction, bytes, &algorithm);
    }
    if (ARC_PHASE_DECLINED == base->phase) {
        return base->declined;
    }
    if (ARC_REASON_EMPTY != reason && mca_half_is(module->bridge.uint16, call->op, call->type)) {
        return ARC_REASON_NONE;
    }
    return ARC_REASON_NONE == reason && is_slower(module, bytes) ? ARC_REASON_SLOWER : reason;
}

arc_task_t *coll_lowlat_direct(arc_module_t *base, const arc_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    lowlat_task_t *task = &module->pending;

    if (ARC_PHASE_READY != base->phase || NULL != module->group.net ||
        ARC_REASON_NONE != reduction_of(module, call, &module->reduction, &task->span_bytes)) {
        return NULL;
    }
    const unsigned algorithm = coll_lowlat_choose(module, &module->reduction, task->span_bytes);
    if (module->reduction.packed || algorithm >= LOWLAT_ALGORITHMS ||
        task->span_bytes > module->enough_bytes[algorithm] ||
        module->until_look < coll_lowlat_look_calls(task->span_bytes)) {
        return NULL;
    }
    task->group = &module->group;
    task->reducer = &module->reduction.reducer;
    task->in = MPI_IN_PLACE == call->send ? call->receive : call->send;
    task->out = call->receive;
    task->count = (size_t) call->count;
    task->leader_bytes = module->net.leader_bytes;
    task->widened = NULL;
    lowlat_algorithms[algorithm].start(task);
    arc_module_count_served(base, call, algorithm, task->span_bytes);
    return &task->task;
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
