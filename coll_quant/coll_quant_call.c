/*
 * What all collectives do with a call: check whether it is served or passed down, and serve it.
 *
 *   coll_quant_request.c                             calls that do not block
 *   coll_quant_allreduce.c, coll_quant_stages.c      what a call of the program says
 *       coll_quant_halves.c                          16-bit floats that are verified
 *       coll_quant_call.c
 *           coll_quant_learn.c                       does it pay?
 *           coll_quant_verify.c                      is it accurate?
 *               coll_quant_setup.c                   until the module is ready, and its end
 *               coll_quant_run.c                     one operation
 *                   coll_quant_fold.c                of sums made in shared memory of the nodes
 *                   coll_quant_limit.c               are elements as exact as they have to be?
 *                       coll_quant_drive.c           the task, until it is complete
 *
 * A file calls only files below it in this list.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_quant.h"
#include "fiber.h"
#include "quant_pipeline.h"

const quant_element_t *coll_quant_element(const quant_module_t *module,
                                          const struct ompi_datatype_t *type)
{
    const quant_types_t *types = quant_settings_types(&module->settings);

    if (mca_bridge_is_float(type) && types->floats) {
        return &quant_floats;
    }
    return mca_bridge_is_double(type) && types->doubles ? &quant_doubles : NULL;
}

const quant_element_t *coll_quant_element_of_halves(const quant_module_t *module,
                                                    exchange_collective_t collective)
{
    /* What the component below makes of sums that are too far off would be integers. */
    return EXCHANGE_ALLREDUCE == collective && module->settings.target_rel > 0
               ? NULL
               : coll_quant_element(module, &ompi_mpi_float.dt);
}

/*
 * A blocking call that could be quantized, by what it is, has a number: whatever was learned, and
 * whatever form the calls before it had, it is the same.  One in a fiber got its own when it was
 * started (coll_quant_number()).
 */
static void number_call(quant_module_t *module, exchange_collective_t collective)
{
    if (!arc_fiber_inside()) {
        module->base.number = coll_quant_next_number(module, collective);
    }
}

arc_reason_t coll_quant_reason_of_call(const quant_module_t *module,
                                       exchange_collective_t collective,
                                       const quant_element_t *element, size_t bytes,
                                       arc_reason_t verdict)
{
    if (!module->active) {
        return ARC_REASON_OFF;
    }
    if (ARC_REASON_NONE != verdict) {
        return verdict;
    }
    if (NULL == element) {
        return ARC_REASON_TYPE_OR_OP;
    }
    if (!quant_settings_want_collective(&module->settings, collective)) {
        return ARC_REASON_NOT_CHOSEN;
    }
    return bytes < module->settings.min_bytes ? ARC_REASON_TOO_SMALL : ARC_REASON_NONE;
}

arc_reason_t coll_quant_reason_of_module(const quant_module_t *module)
{
    switch (module->base.phase) {
    case ARC_PHASE_FRESH:
        return ARC_REASON_YOUNG;
    case ARC_PHASE_DECLINED:
        return module->base.declined;
    case ARC_PHASE_BROKEN:
        return ARC_REASON_NONE; /* who serves it returns the error */
    default:
        return module->attainable ? ARC_REASON_NONE : ARC_REASON_INACCURATE;
    }
}

int coll_quant_check_call(quant_module_t *module, exchange_collective_t collective,
                          const quant_element_t *element, size_t bytes, arc_reason_t *verdict)
{
    if (ARC_PHASE_BROKEN == module->base.phase) {
        return arc_module_broken_error();
    }
    *verdict = coll_quant_reason_of_call(module, collective, element, bytes, *verdict);
    if (ARC_REASON_NONE == *verdict) {
        number_call(module, collective);
        *verdict = coll_quant_reason_of_module(module);
    }
    if (ARC_PHASE_READY != module->base.phase) {
        *verdict = coll_quant_set_up_if_needed(module, *verdict);
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
    }
    if (ARC_REASON_NONE == *verdict) {
        *verdict = coll_quant_limit_reason(module, collective);
    }
    if (ARC_REASON_NONE == *verdict) {
        *verdict = coll_quant_learned(module, collective, element, bytes);
    }
    if (ARC_REASON_NONE != *verdict) {
        coll_quant_stats_note_exact(module, *verdict);
    }
    return MPI_SUCCESS;
}

static void count_call(quant_module_t *module, const quant_operation_t *operation)
{
    const size_t elements = coll_quant_blocks(module, operation->collective) * operation->count;

    const size_t algo =
        quant_pipeline_is_doubling(module->task, operation) ? QUANT_ALGOS : module->algo;

    arc_module_count_served(&module->base, coll_quant_slot(operation->collective), algo,
                            elements * operation->element->bytes);
}

bool coll_quant_is_verified_next(const quant_module_t *module, exchange_collective_t collective)
{
    const unsigned every = (unsigned) module->settings.verify_every;
    return 0 != every && 0 == (module->calls[collective] + 1) % every;
}

int coll_quant_run_call(quant_module_t *module, const quant_operation_t *operation, bool verified)
{
    quant_operation_t numbered = *operation;
    const int status = coll_quant_fold_look(module, operation);

    if (MPI_SUCCESS != status) {
        return status;
    }
    numbered.sequence = ++module->sequence;
    ++module->calls[operation->collective];
    count_call(module, &numbered);
    return verified ? coll_quant_verify(module, &numbered)
                    : coll_quant_run_and_note(module, &numbered);
}
