/*
 * An allreduce that coll_lowlat serves, or that it passes down.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_ALLREDUCE_H
#define COLL_LOWLAT_ALLREDUCE_H

#include "coll_lowlat.h"

/* The end of the task of coll_lowlat_direct(). */
int coll_lowlat_directed(arc_module_t *base, arc_status_t status);

/*
 * Serve a call by an algorithm that has the memory for it; an MPI error code.  Whatever the call
 * and the algorithm; coll_lowlat_run_task() is for those that nothing else is to be done for.
 */
int coll_lowlat_run_special(lowlat_module_t *module, const arc_call_t *call, unsigned algorithm,
                            lowlat_task_t *task, arc_reduction_t *reduction);

/*
 * For a call that is not blocking, and runs as a task between nodes: the algorithm that is chosen,
 * or LOWLAT_PASS_DOWN if it is to be timed.
 */
unsigned coll_lowlat_take_learned(lowlat_module_t *module, const arc_call_t *call,
                                  lowlat_task_t *task);

/* Down to the next component, which takes 16-bit floats for integers. */
int coll_lowlat_pass_down(lowlat_module_t *module, arc_reason_t reason, const arc_call_t *call);

/* A task came to an error: say who is missing, break the module, return an MPI error. */
int coll_lowlat_fail(lowlat_module_t *module, arc_form_t form, lowlat_task_t *task,
                     arc_status_t status);

static inline int coll_lowlat_run_task(lowlat_module_t *module, const arc_call_t *call,
                                       unsigned algorithm, lowlat_task_t *task)
{
    lowlat_algorithms[algorithm].start(task);
    /* While what was published is on its way. */
    arc_module_count(&module->base, call, algorithm, task->span_bytes);
    /* The spins of a fiber are on its stack, where no function of the program may run. */
    const bool spins =
        OPAL_LIKELY(ARC_FORM_BLOCKING == call->form) || ompi_op_is_intrinsic(call->op);
    const arc_status_t status = OPAL_LIKELY(spins) ? arc_wait_run(&module->base.wait, &task->task)
                                                   : arc_wait_slow(&module->base.wait, &task->task);

    if (OPAL_UNLIKELY(ARC_OK != status)) {
        return coll_lowlat_fail(module, call->form, task, status);
    }
    module->until_look -= coll_lowlat_look_calls(task->span_bytes);
    return OPAL_LIKELY(module->until_look >= 0) ? MPI_SUCCESS : coll_lowlat_look(module);
}

#endif
