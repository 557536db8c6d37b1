/*
 * One operation, run: by the program's calls, and by those that are verified.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>

#include "coll_quant.h"
#include "quant_pipeline.h"

static __attribute__((noinline, cold)) int
fail(quant_module_t *module, exchange_collective_t collective, arc_status_t status)
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
    return arc_module_break_call(&module->base, coll_quant_slot(collective), status, missing);
}

static int run_task(quant_module_t *module, const quant_operation_t *operation)
{
    bool folds = false;
    const int checked = coll_quant_fold_check(module, operation, &folds);

    if (MPI_SUCCESS != checked || folds) {
        return MPI_SUCCESS != checked ? checked : coll_quant_fold_run(module, operation);
    }
    quant_pipeline_start(module->task, operation);
    const arc_status_t status = coll_quant_drive(&module->wait, module->task);
    if (ARC_OK != status) {
        return fail(module, operation->collective, status);
    }
    module->bound = quant_pipeline_bound(module->task);
    return MPI_SUCCESS;
}

static int run_within_limits(quant_module_t *module, const quant_operation_t *wanted)
{
    quant_operation_t operation = *wanted;
    bool run = true;
    int status = coll_quant_limit_begin(module, &operation, &run);

    module->bound = 0;
    if (MPI_SUCCESS == status && run) {
        status = run_task(module, &operation);
        if (MPI_SUCCESS == status) {
            status = coll_quant_limit_end(module, &operation);
        }
    }
    return status;
}

int coll_quant_run_and_note(quant_module_t *module, const quant_operation_t *operation)
{
    const bool is_timed = NULL != module->timed.select;

    module->timed.begin_ns = is_timed ? (uint64_t) arc_now_ns() : 0;
    const int status =
        module->config.bounded ? run_within_limits(module, operation) : run_task(module, operation);
    module->timed.end_ns = is_timed ? (uint64_t) arc_now_ns() : 0;
    if (MPI_SUCCESS == status) {
        coll_quant_stats_note_bound(module, module->bound);
    }
    return status;
}
