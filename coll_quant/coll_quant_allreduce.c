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
#include "mca_below.h"
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

const quant_numbers_t *coll_quant_numbers(const quant_module_t *module,
                                          const struct ompi_datatype_t *type)
{
    const quant_types_t *types = quant_settings_types(&module->settings);

    if (mca_bridge_is_float(type) && types->floats) {
        return &quant_floats;
    }
    return mca_bridge_is_double(type) && types->doubles ? &quant_doubles : NULL;
}

static arc_reason_t judge(const quant_module_t *module, exchange_part_t part, arc_reason_t verdict,
                          size_t bytes)
{
    if (!module->active) {
        return ARC_REASON_OFF;
    }
    if (ARC_REASONS == verdict && !quant_settings_serve(&module->settings, part)) {
        verdict = ARC_REASON_NOT_CHOSEN;
    }
    if (ARC_REASONS == verdict && bytes < module->settings.min_bytes) {
        verdict = ARC_REASON_TOO_SMALL;
    }
    if (ARC_REASONS == verdict && !module->attainable) {
        verdict = ARC_REASON_INACCURATE;
    }
    return verdict;
}

arc_reason_t coll_quant_admit(quant_module_t *module, exchange_part_t part, arc_reason_t verdict,
                              size_t bytes)
{
    verdict = judge(module, part, verdict, bytes);
    if (ARC_PHASE_READY != module->base.phase) {
        verdict = coll_quant_prepare(module, verdict);
    }
    return verdict;
}

static __attribute__((noinline, cold)) int fail(quant_module_t *module, exchange_part_t part,
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
        quant_pipeline_abort(module->task);
    }
    return arc_module_break_call(&module->base, coll_quant_slot(part), status, missing);
}

int coll_quant_operate(quant_module_t *module, const quant_operation_t *operation,
                       const arc_wait_t *wait)
{
    sheltered_task_t task = {.task = {.ops = &sheltered_ops}, .inner = module->task};

    quant_pipeline_start(module->task, operation);
    const arc_status_t status = arc_wait_run(wait, &task.task);
    return ARC_OK == status ? MPI_SUCCESS : fail(module, operation->part, status);
}

int coll_quant_run(quant_module_t *module, const quant_operation_t *operation)
{
    const int status = coll_quant_operate(module, operation, &module->wait);

    if (MPI_SUCCESS == status) {
        module->bound = quant_pipeline_bound(module->task);
        coll_quant_known_bound(module->bound);
    }
    return status;
}

static void count(quant_module_t *module, const quant_operation_t *operation)
{
    arc_tally_t *tally = &module->base.tally[coll_quant_slot(operation->part)];

    arc_tally_count(&tally->served[module->algo], coll_quant_blocks(module, operation->part) *
                                                      operation->count * operation->numbers->bytes);
}

/* Is the next call of the part to be verified? */
static bool is_verified_next(const quant_module_t *module, exchange_part_t part)
{
    const unsigned every = (unsigned) module->settings.verify_every;
    return 0 != every && 0 == (module->calls[part] + 1) % every;
}

static int run_next(quant_module_t *module, const quant_operation_t *operation, bool verified)
{
    quant_operation_t numbered = *operation;

    numbered.sequence = ++module->sequence;
    ++module->calls[operation->part];
    count(module, &numbered);
    return verified ? coll_quant_verify(module, &numbered) : coll_quant_run(module, &numbered);
}

int coll_quant_serve(quant_module_t *module, const quant_operation_t *operation)
{
    return run_next(module, operation, is_verified_next(module, operation->part));
}

/* An allreduce that is admitted; of 16-bit floats with what these are, otherwise NULL. */
static quant_operation_t operation_of(quant_module_t *module, const quant_numbers_t *numbers,
                                      const quant_outer_t *outer, const void *send, void *receive,
                                      size_t elems)
{
    quant_operation_t operation = {
        .send = MPI_IN_PLACE == send ? receive : send,
        .recv = receive,
        .numbers = numbers,
        .outer = outer,
        .count = elems,
        .part = EXCHANGE_ALLREDUCE,
    };

    operation.residual = coll_quant_residual(module, &operation);
    return operation;
}

/* May a sum of so many numbers be quantized, and does it pay?  An MPI error code. */
static int decide(quant_module_t *module, const quant_numbers_t *numbers, size_t count,
                  arc_reason_t *verdict)
{
    const size_t bytes = count * (NULL == numbers ? 0 : numbers->bytes);

    if (ARC_REASONS == *verdict && NULL == numbers) {
        *verdict = ARC_REASON_TYPE_OR_OP;
    }
    *verdict = coll_quant_admit(module, EXCHANGE_ALLREDUCE, *verdict, bytes);
    return ARC_REASONS == *verdict
               ? coll_quant_weigh(module, EXCHANGE_ALLREDUCE, numbers, bytes, verdict)
               : MPI_SUCCESS;
}

/* Memory to widen a vector that is to be verified: on all ranks or on none, which is said once. */
static int agree_to_widen(quant_module_t *module, size_t count, float **floats)
{
    float *memory = malloc(count * sizeof *memory + 1);
    uint64_t ok = NULL != memory;
    const arc_status_t status = arc_module_min(&module->base, &ok, 1);

    *floats = ARC_OK == status && ok ? memory : NULL;
    if (NULL == *floats) {
        free(memory);
    }
    if (ARC_OK != status) {
        return arc_module_break_call(&module->base, ARC_SLOT_allreduce, status,
                                     " in an agreement on memory to verify it");
    }
    if (!ok) {
        coll_quant_warn_unverified(module, count * sizeof *memory);
    }
    return MPI_SUCCESS;
}

/* Of 16-bit floats what `operation` is with all of it as floats, which are its vector. */
static int verify_widened(quant_module_t *module, const quant_operation_t *operation, float *floats)
{
    const quant_outer_t *outer = operation->outer;
    quant_operation_t widened = *operation;

    widened.outer = NULL;
    widened.send = floats;
    widened.recv = floats;
    arc_float_env_t of_program = arc_float_env_enter();
    outer->widen(operation->send, floats, operation->count);
    arc_float_env_leave(of_program);
    const int status = run_next(module, &widened, true);
    if (MPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        quant_outer_clamp(outer, module->config.kernels, module->bound, floats, operation->count);
        outer->narrow(floats, operation->recv, operation->count);
        arc_float_env_leave(of_program);
    }
    return status;
}

/* Serve a sum of 16-bit floats; one that is to be verified if there is memory for all of it. */
static int serve_halves(quant_module_t *module, const quant_operation_t *operation)
{
    float *floats = NULL;

    if (is_verified_next(module, operation->part)) {
        const int status = agree_to_widen(module, operation->count, &floats);
        if (MPI_SUCCESS != status) {
            return status;
        }
    }
    if (NULL == floats) {
        return run_next(module, operation, false);
    }
    const int status = verify_widened(module, operation, floats);
    if (ARC_PHASE_BROKEN != module->base.phase) {
        free(floats); /* otherwise a message may still be under way */
    }
    return status;
}

/*
 * 16-bit floats: judged as floats.  A segment at a time they are floats where they are quantized;
 * all at once where they are passed down, or verified, which takes the vector again.
 */
static int allreduce_halves(quant_module_t *module, const void *send, void *receive, int count)
{
    const quant_numbers_t *floats = coll_quant_numbers(module, &ompi_mpi_float.dt);
    arc_reason_t verdict = ARC_REASONS;

    if (ARC_PHASE_BROKEN != module->base.phase) {
        const int status = decide(module, floats, (size_t) count, &verdict);
        if (MPI_SUCCESS != status) {
            return status;
        }
        if (ARC_REASONS == verdict) {
            const quant_operation_t operation =
                operation_of(module, floats, &module->outer, send, receive, (size_t) count);
            return serve_halves(module, &operation);
        }
    }
    return mca_half_allreduce(&module->base, module->uint16, send, receive, count,
                              coll_quant_allreduce);
}

int coll_quant_allreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                         struct ompi_op_t *op, struct ompi_communicator_t *comm,
                         mca_coll_base_module_t *base)
{
    quant_module_t *module =
        (quant_module_t *) arc_module_own(base, OBJ_CLASS(quant_module_t), comm);

    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    if (module->base.nested) {
        return arc_module_pass(&module->base, ARC_REASON_NESTED, send, receive, count, type, op);
    }
    coll_quant_agree(module);
    if (mca_half_is(module->uint16, op, type)) {
        return allreduce_halves(module, send, receive, count);
    }
    if (ARC_PHASE_BROKEN == module->base.phase) {
        return arc_module_broken_error();
    }
    const quant_numbers_t *numbers = coll_quant_numbers(module, type);
    arc_reason_t verdict = mca_bridge_is_sum(op, type);
    const int status = decide(module, numbers, (size_t) count, &verdict);
    if (MPI_SUCCESS != status) {
        return status;
    }
    if (ARC_REASONS != verdict) {
        coll_quant_known_exact();
        return arc_module_pass(&module->base, verdict, send, receive, count, type, op);
    }
    const quant_operation_t operation =
        operation_of(module, numbers, NULL, send, receive, (size_t) count);
    return coll_quant_serve(module, &operation);
}
