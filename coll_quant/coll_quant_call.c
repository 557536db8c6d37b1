/*
 * What all collectives do with a call: admit it or have it passed down, and serve it.
 *
 *   coll_quant_allreduce.c, coll_quant_halves.c      what a call of the program says
 *       coll_quant_call.c
 *           coll_quant_setup.c                       until the module is ready
 *           coll_quant_trial.c                       does it pay?
 *           coll_quant_verify.c                      is it accurate?
 *               coll_quant_run.c                     one operation
 *
 * Functions call downwards only.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_quant.h"

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

int coll_quant_admit(quant_module_t *module, exchange_part_t part, const quant_numbers_t *numbers,
                     size_t bytes, arc_reason_t *verdict)
{
    int status = MPI_SUCCESS;

    if (ARC_PHASE_BROKEN == module->base.phase) {
        return arc_module_broken_error();
    }
    if (ARC_REASONS == *verdict && NULL == numbers) {
        *verdict = ARC_REASON_TYPE_OR_OP;
    }
    *verdict = judge(module, part, *verdict, bytes);
    if (ARC_PHASE_READY != module->base.phase) {
        *verdict = coll_quant_prepare(module, *verdict);
    }
    if (ARC_REASONS == *verdict) {
        status = coll_quant_weigh(module, part, numbers, bytes, verdict);
    }
    if (MPI_SUCCESS == status && ARC_REASONS != *verdict) {
        coll_quant_known_exact();
    }
    return status;
}

static void count(quant_module_t *module, const quant_operation_t *operation)
{
    arc_tally_t *tally = &module->base.tally[coll_quant_slot(operation->part)];

    arc_tally_count(&tally->served[module->algo], coll_quant_blocks(module, operation->part) *
                                                      operation->count * operation->numbers->bytes);
}

bool coll_quant_is_verified_next(const quant_module_t *module, exchange_part_t part)
{
    const unsigned every = (unsigned) module->settings.verify_every;
    return 0 != every && 0 == (module->calls[part] + 1) % every;
}

int coll_quant_serve(quant_module_t *module, const quant_operation_t *operation, bool verified)
{
    quant_operation_t numbered = *operation;

    numbered.sequence = ++module->sequence;
    ++module->calls[operation->part];
    count(module, &numbered);
    return verified ? coll_quant_verify(module, &numbered) : coll_quant_run(module, &numbered);
}
