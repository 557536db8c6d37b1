/*
 * MPI_Allreduce of coll_quant: admit the call or pass it down; run it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "coll_quant.h"
#include "quant_pipeline.h"
#include "float_env.h"
#include "mca_half.h"

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

void coll_quant_teardown(quant_module_t *module)
{
    /* A broken module's buffers may still belong to a send that cannot be taken back. */
    if (ARC_PHASE_BROKEN != module->base.phase) {
        free(module->memory);
    }
    module->memory = NULL;
    module->task = NULL;
}

/* The memory of the algorithm, on all ranks or on none. */
static void setup(quant_module_t *module)
{
    arc_module_t *base = &module->base;
    const size_t align = QUANT_MEMORY_ALIGN_BYTES;
    const size_t bytes =
        quant_pipeline_memory_bytes(module->algo, &module->config, module->stream.base.ranks) +
        align - 1;

    base->phase = ARC_PHASE_DECLINED;
    base->declined = ARC_REASON_NO_SETUP;
    /* malloc, and aligned below: glibc 2.36 does not reuse what aligned_alloc() gave. */
    module->memory = malloc(bytes);
    uint64_t ok = NULL != module->memory && ARC_OK == quant_config_check(&module->config);
    if (ARC_OK != arc_module_min(base, &ok, 1) || !ok) {
        coll_quant_teardown(module);
        if (0 == ompi_comm_rank(base->comm)) {
            arc_module_log(base, ARC_LOG_WARN, "not used: no memory for %zu bytes of buffers",
                           bytes);
        }
        return;
    }
    const uintptr_t aligned = ((uintptr_t) module->memory + align - 1) / align * align;
    module->task =
        quant_pipeline_init(module->algo, &module->config, &module->stream.base, (void *) aligned);
    base->phase = ARC_PHASE_READY;
    if (0 == ompi_comm_rank(base->comm)) {
        arc_module_log(
            base, ARC_LOG_CHOICE,
            "%s from %zu bytes; %s, then %s; block %u, %zu numbers a message, %s kernels",
            module->algo->name, mca_coll_quant_component.settings.min_bytes,
            module->config.reduce_format->name, module->config.gather_format->name,
            module->config.block_rows, module->config.segment_elems,
            arc_isa_name(arc_cpu_isa((arc_isa_t) mca_coll_quant_component.settings.isa)));
    }
}

/* The first call. */
static __attribute__((noinline, cold)) void agree(quant_module_t *module)
{
    arc_module_t *base = &module->base;
    /* What the info key chose is part of the configuration. */
    const uint64_t chosen = 2 * (uint64_t) module->format + module->active;

    arc_module_agree(base, chosen ^ arc_param_hash(quant_params, quant_params_count,
                                                   &mca_coll_quant_component.settings));
    if (ARC_PHASE_DECLINED == base->phase) {
        /* Perhaps not all ranks take them for floats: then nobody must. */
        module->uint16 = ARC_TYPE_UINT16;
    }
}

/* Set up at the first eligible call; ARC_REASONS when ready. */
static __attribute__((noinline, cold)) arc_reason_t prepare(quant_module_t *module,
                                                            arc_reason_t verdict)
{
    arc_module_t *base = &module->base;

    if (base->nested) {
        return ARC_REASON_NESTED;
    }
    if (ARC_PHASE_AGREED == base->phase && !module->active && ARC_TYPE_UINT16 == module->uint16) {
        /* Nobody wants it here.  Until the key is set, calls go below directly. */
        arc_module_uninstall(base);
    }
    if (ARC_PHASE_AGREED == base->phase && ARC_REASONS == verdict) {
        setup(module);
    }
    if (ARC_PHASE_DECLINED == base->phase) {
        return base->declined;
    }
    return verdict;
}

static arc_reason_t admit(const quant_module_t *module, int count, struct ompi_datatype_t *type,
                          struct ompi_op_t *op)
{
    if (!module->active) {
        return ARC_REASON_OFF;
    }
    arc_reason_t verdict = mca_bridge_float_sum(op, type);
    if (ARC_REASONS == verdict &&
        (size_t) count * sizeof(float) < mca_coll_quant_component.settings.min_bytes) {
        verdict = ARC_REASON_TOO_SMALL;
    }
    return verdict;
}

static __attribute__((noinline, cold)) int fail(quant_module_t *module, arc_status_t status)
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
        quant_pipeline_abort(module->task);
    }
    return arc_module_break(&module->base, status, missing);
}

int coll_quant_allreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                         struct ompi_op_t *op, struct ompi_communicator_t *comm,
                         mca_coll_base_module_t *base)
{
    quant_module_t *module = (quant_module_t *) base;
    if (ARC_PHASE_FRESH == module->base.phase && !module->base.nested) {
        agree(module);
    }
    if (mca_half_is(module->uint16, op, type)) {
        /* Once more, with floats; also if they are then passed down. */
        return mca_half_allreduce(module->uint16, send, receive, count, comm, coll_quant_allreduce,
                                  base);
    }
    arc_reason_t verdict = admit(module, count, type, op);

    if (ARC_PHASE_READY != module->base.phase) {
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
        verdict = prepare(module, verdict);
    }
    if (ARC_REASONS != verdict) {
        return arc_module_pass(&module->base, verdict, send, receive, count, type, op);
    }
    arc_tally_count(&module->base.tally.served[mca_coll_quant_component.settings.algorithm],
                    (size_t) count * sizeof(float));
    const quant_operation_t operation = {
        .send = MPI_IN_PLACE == send ? receive : send,
        .recv = receive,
        .count = (size_t) count,
        .sequence = ++module->sequence,
    };
    sheltered_task_t task = {.task = {.ops = &sheltered_ops}, .inner = module->task};
    quant_pipeline_start(module->task, &operation);
    arc_status_t status = arc_wait_run(&module->wait, &task.task);
    return ARC_OK == status ? MPI_SUCCESS : fail(module, status);
}
