/*
 * Limits for the error of every element: coll_quant_target_abs and coll_quant_target_rel, kept as
 * docs/guarantees.md, "A limit for every element", describes.
 *
 * All ranks have seen the same totals, so they know alike which call was of no use, and pause
 * alike.  Without totals that tell, in a reduce-scatter and where only that stage is quantized,
 * calls pause only behind a result that had to be made again.
 *
 * The size to reckon with falls at once and grows slowly, so that vectors of one length and of
 * different sizes, in turn, count as the smallest of them, and so do those of two lengths that
 * share a place.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll_quant_call.h"
#include "float_env.h"
#include "mca_below.h"

enum { PAUSE_MAX = 63 }; /* one call in 64: 1.6 percent of the calls are of no use */

/* What vectors of one size differ by from call to call: normal ones by some percent. */
static const double reckoned = 0.75;
static const double growth = 1.125;

int coll_quant_below(quant_module_t *module, const quant_call_t *call, void *receive,
                     const char *details)
{
    const quant_operation_t *operation = &call->operation;
    struct ompi_datatype_t *type =
        &quant_doubles == operation->element ? &ompi_mpi_double.dt : &ompi_mpi_float.dt;
    arc_call_t exact = *call->said;

    exact.send = operation->send == receive ? MPI_IN_PLACE : operation->send;
    exact.receive = receive;
    exact.count = (mca_compat_count_t) operation->count;
    exact.type = type;
    exact.send_count = exact.count;
    exact.send_type = type;
    return MPI_SUCCESS == arc_below_call(&module->base, &exact)
               ? MPI_SUCCESS
               : arc_module_break(&module->base, arc_call_slot(call->said), ARC_ERR_TRANSPORT,
                                  details);
}

arc_reason_t coll_quant_limit_reason(quant_module_t *module, exchange_collective_t collective)
{
    if (module->settings.target_rel > 0 && EXCHANGE_ALLREDUCE != collective) {
        return ARC_REASON_BOUND;
    }
    if (0 == module->limit.waiting) {
        return ARC_REASON_NONE;
    }
    --module->limit.waiting;
    return ARC_REASON_BOUND;
}

/* That of calls like this one. */
static double *size_of(quant_limit_t *limit, const quant_operation_t *operation)
{
    const bool is_double = &quant_doubles == operation->element;

    return &limit->sizes[(2 * operation->count + is_double) % QUANT_SIZES];
}

/* Room to keep a vector, on all ranks or on none: *lacks. */
static int agree_to_keep(quant_module_t *module, size_t bytes, bool *lacks)
{
    quant_limit_t *limit = &module->limit;
    arc_status_t status = ARC_OK;

    if (bytes > limit->kept_bytes) {
        free(limit->kept);
        status = arc_module_malloc(&module->base, bytes, &limit->kept);
        limit->kept_bytes = NULL == limit->kept ? 0 : bytes;
    }
    *lacks = bytes > limit->kept_bytes;
    if (ARC_OK == status && *lacks && arc_module_first(&module->base, QUANT_SAID_UNKEPT)) {
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "a call stays exact: some rank has no memory for %zu bytes, which "
                       "coll_quant_target_rel needs. So will others while that is so",
                       bytes);
    }
    return ARC_OK == status ? MPI_SUCCESS : arc_module_broken_error();
}

/* The size is known, and what is sent stays. */
static int begin_relative(quant_module_t *module, quant_call_t *call, bool *exact)
{
    quant_operation_t *operation = &call->operation;
    quant_limit_t *limit = &module->limit;
    const size_t bytes = operation->count * operation->element->bytes;
    const int status = agree_to_keep(module, bytes, exact);

    if (MPI_SUCCESS != status) {
        return status;
    }
    if (*exact) {
        return coll_quant_below(module, call, operation->recv, " for which memory is short");
    }
    if (operation->send == operation->recv) {
        memcpy(limit->kept, operation->send, bytes);
        operation->send = limit->kept;
    }
    ARC_IN_DEFAULT_FLOAT_ENV;
    const double most = module->settings.target_rel * reckoned * *size_of(limit, operation);
    if (0 == operation->bound_max || most < operation->bound_max) {
        /* No format is exact enough for the least one: all goes as it is. */
        operation->bound_max = most > DBL_MIN ? most : DBL_MIN;
    }
    return MPI_SUCCESS;
}

int coll_quant_limit_begin(quant_module_t *module, quant_call_t *call, bool *exact)
{
    call->operation.bound_max = module->settings.target_abs;
    return module->settings.target_rel > 0 ? begin_relative(module, call, exact) : MPI_SUCCESS;
}

static void pause_unless(quant_limit_t *limit, bool of_use)
{
    const unsigned longer = 2 * limit->pause + 1;

    limit->pause = of_use ? 0 : longer < PAUSE_MAX ? longer : PAUSE_MAX;
    limit->waiting = limit->pause;
}

/*
 * Beside numbers that are not finite, whose bound is not either, the others are as far off as the
 * call allows; but what the call before has left may have been allowed more.
 */
static double bound_of(const quant_module_t *module, const quant_call_t *call)
{
    if (isfinite(call->bound)) {
        return (double) call->bound;
    }
    return module->config.feedback ? HUGE_VAL : call->operation.bound_max;
}

/* Is the result within target_rel?  What is reckoned with from now on. */
static bool take_size(quant_module_t *module, const quant_call_t *call, bool *first)
{
    const quant_operation_t *operation = &call->operation;
    double *size = size_of(&module->limit, operation);
    float peak = 0;

    ARC_IN_DEFAULT_FLOAT_ENV;
    const double bound = bound_of(module, call);
    const uint32_t bits = operation->element->peak(operation->recv, operation->count);
    memcpy(&peak, &bits, sizeof peak);
    const double largest = (double) peak * (1 - 0x1p-23); /* that of doubles was rounded up */
    const double most = *size * growth;
    const bool grows = *size > DBL_MIN && largest > most;
    const bool within = bound <= module->settings.target_rel * (largest - bound);
    *first = 0 == *size;
    *size = grows ? most : largest > 0 ? largest : DBL_MIN;
    return within;
}

int coll_quant_limit_end(quant_module_t *module, quant_call_t *call, bool *exact)
{
    const quant_operation_t *operation = &call->operation;

    if (!module->config.bounded || EXCHANGE_REDUCE_SCATTER == operation->collective) {
        return MPI_SUCCESS;
    }
    const size_t elems =
        operation->count * coll_quant_blocks_received(module, operation->collective);
    const bool coded = module->config.gather_format->exact ||
                       quant_pipeline_exact_elems(module->pipeline) <= elems / 2;
    /* A sum of floats, or doubles: the component below is no more exact. */
    const bool plain = operation->bound_max <= DBL_MIN && !module->config.feedback;
    bool first = false;

    if (module->settings.target_rel > 0 && !take_size(module, call, &first) && !plain) {
        *exact = true;
        pause_unless(&module->limit, false);
        if (NULL != operation->residual) {
            memset(operation->residual, 0, operation->count * sizeof *operation->residual);
        }
        return coll_quant_below(module, call, operation->recv, " that is made again exactly");
    }
    pause_unless(&module->limit, coded || first);
    return MPI_SUCCESS;
}

void coll_quant_limit_reset(quant_module_t *module)
{
    arc_module_free(&module->base, module->limit.kept);
    free(module->limit.sizes);
    module->limit = (quant_limit_t){0};
}
