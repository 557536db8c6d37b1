/*
 * One operation, run: by the program's calls, and by those that are verified.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>

#include "coll_quant_call.h"
#include "quant_pipeline.h"

static __attribute__((noinline, cold)) int fail(quant_module_t *module, const quant_call_t *call,
                                                arc_status_t status)
{
    enum { TEXT_BYTES = 128 };
    char missing[TEXT_BYTES] = "";
    size_t used = 0;

    if (ARC_ERR_TIMEOUT == status) {
        used = (size_t) snprintf(missing, sizeof missing, "; waiting for its neighbour, rank");
        for (unsigned rank = 0; rank < module->stream.base.ranks && used < sizeof missing; ++rank) {
            if (module->task->ops->waits_for(module->task, rank)) {
                used += (size_t) snprintf(missing + used, sizeof missing - used, " %u", rank);
            }
        }
        arc_task_abort(module->task);
    }
    return arc_module_break(&module->base, arc_call_slot(call->said), status, missing);
}

static int run_task(quant_module_t *module, quant_call_t *call)
{
    const quant_operation_t *operation = &call->operation;
    bool folds = false;
    const int checked = coll_quant_fold_check(module, operation, &folds);

    if (MPI_SUCCESS != checked || folds) {
        return MPI_SUCCESS != checked ? checked : coll_quant_fold_run(module, call);
    }
    quant_pipeline_start(module->task, operation);
    const arc_status_t status = arc_wait_run(&module->wait, module->task);
    if (ARC_OK != status) {
        return fail(module, call, status);
    }
    call->bound = quant_pipeline_bound(module->task);
    return MPI_SUCCESS;
}

static int run_within_limits(quant_module_t *module, quant_call_t *call)
{
    bool run = true;
    int status = coll_quant_limit_begin(module, call, &run);

    call->bound = 0;
    if (MPI_SUCCESS == status && run) {
        status = run_task(module, call);
        if (MPI_SUCCESS == status) {
            status = coll_quant_limit_end(module, call);
        }
    }
    return status;
}

int coll_quant_run_and_note(quant_module_t *module, quant_call_t *call)
{
    const bool is_timed = NULL != call->timed.select;

    call->timed.begin_ns = is_timed ? (uint64_t) arc_now_ns() : 0;
    const int status =
        module->config.bounded ? run_within_limits(module, call) : run_task(module, call);
    call->timed.end_ns = is_timed ? (uint64_t) arc_now_ns() : 0;
    if (MPI_SUCCESS == status) {
        coll_quant_stats_note_bound(module, call->bound);
    }
    return status;
}
