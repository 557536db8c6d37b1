/*
 * MPI_Allreduce of coll_lowlat: admit the call or pass it down; run it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>

#include "coll_lowlat.h"

/*
 * The first calls of a communicator: agree on the configuration at the very
 * first one, set up at the first that is eligible.  All ranks make the same
 * calls, so all are here together.  Returns ARC_REASONS when ready.
 */
static __attribute__((noinline, cold)) arc_reason_t prepare(lowlat_module_t *module,
                                                            arc_reason_t verdict)
{
    arc_module_t *base = &module->base;

    if (base->nested) {
        return ARC_REASON_NESTED;
    }
    if (ARC_PHASE_FRESH == base->phase) {
        arc_module_agree(base, arc_param_hash(lowlat_params, lowlat_params_count,
                                              &mca_coll_lowlat_component.config));
    }
    if (ARC_PHASE_AGREED == base->phase && ARC_REASONS == verdict) {
        coll_lowlat_setup(module);
    }
    if (ARC_PHASE_DECLINED == base->phase) {
        return base->declined;
    }
    return verdict;
}

/* "; waiting for rank 3, 5" */
static void describe_missing(const lowlat_task_t *task, char *text, size_t text_bytes)
{
    size_t used = (size_t) snprintf(text, text_bytes, "; waiting for rank");
    const char *separator = " ";

    for (unsigned rank = 0; rank < task->group->ranks && used < text_bytes; ++rank) {
        if (task->task.ops->waits_for(&task->task, rank)) {
            used += (size_t) snprintf(text + used, text_bytes - used, "%s%u", separator, rank);
            separator = ", ";
        }
    }
}

static __attribute__((noinline, cold)) int fail(lowlat_module_t *module, lowlat_task_t *task,
                                                arc_status_t status)
{
    enum { TEXT_BYTES = 256 };
    char missing[TEXT_BYTES] = "";

    if (ARC_ERR_TIMEOUT == status) {
        describe_missing(task, missing, sizeof missing);
    }
    return arc_module_break(&module->base, status, missing);
}

int coll_lowlat_allreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                          struct ompi_op_t *op, struct ompi_communicator_t *comm,
                          mca_coll_base_module_t *base)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    arc_reduction_t reduction;
    lowlat_task_t task;
    unsigned algorithm = LOWLAT_ALGORITHMS;
    arc_reason_t verdict = ARC_REASON_EMPTY;
    (void) comm;

    if (OPAL_LIKELY(count > 0)) {
        verdict = mca_bridge_reduction(module->kernels, op, type, &reduction);
    }
    if (OPAL_LIKELY(ARC_REASONS == verdict)) {
        task.span_bytes = arc_reducer_span_bytes(&reduction.reducer, (size_t) count);
        algorithm = lowlat_map_lookup(&module->map, task.span_bytes);
        if (LOWLAT_ALGORITHMS == algorithm) {
            verdict = ARC_REASON_TOO_LARGE;
        }
    }
    if (OPAL_UNLIKELY(ARC_PHASE_READY != module->base.phase)) {
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
        verdict = prepare(module, verdict);
    }
    if (OPAL_UNLIKELY(ARC_REASONS != verdict)) {
        return arc_module_pass(&module->base, verdict, send, receive, count, type, op);
    }

    arc_tally_count(&module->base.tally.served[algorithm], task.span_bytes);
    task.group = &module->group;
    task.reducer = &reduction.reducer;
    task.in = MPI_IN_PLACE == send ? receive : send;
    task.out = receive;
    task.count = (size_t) count;
    lowlat_algorithms[algorithm].start(&task);
    arc_status_t status = arc_wait_run(&module->wait, &task.task);
    if (OPAL_UNLIKELY(ARC_OK != status)) {
        return fail(module, &task, status);
    }
    return MPI_SUCCESS;
}
