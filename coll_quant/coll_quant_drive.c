/*
 * Driving a task of ours to its end, in C's default floating-point environment.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_quant_call.h"
#include "float_env.h"

/*
 * The program may have changed the rounding mode, flush denormals, or trap on
 * floating-point exceptions.  None of that may change the bytes we make, so
 * each step of the algorithm runs in C's default environment; the exception flags
 * that it raises are not shown to the program.  The wait between steps does not:
 * there Open MPI may call functions of the program.
 */
typedef struct sheltered_task {
    arc_task_t task;
    arc_task_t *inner;
} sheltered_task_t;

static arc_status_t sheltered_progress(arc_task_t *base)
{
    arc_task_t *inner = ((sheltered_task_t *) base)->inner;

    const arc_float_env_t of_program = arc_float_env_enter();
    arc_status_t status = inner->ops->progress(inner);
    arc_float_env_leave(of_program);
    base->steps = inner->steps;
    base->memory_only = inner->memory_only;
    return status;
}

static bool sheltered_waits_for(const arc_task_t *base, unsigned rank)
{
    const arc_task_t *inner = ((const sheltered_task_t *) base)->inner;
    return inner->ops->waits_for(inner, rank);
}

static const arc_task_ops_t sheltered_ops = {
    .progress = sheltered_progress,
    .waits_for = sheltered_waits_for,
};

arc_status_t coll_quant_drive(const arc_wait_t *wait, arc_task_t *task)
{
    sheltered_task_t sheltered = {.task = {.ops = &sheltered_ops}, .inner = task};

    return arc_wait_run(wait, &sheltered.task);
}
