/*
 * Verification: what the error of a call really is.
 *
 * Every verify_every-th call of a collective also runs exactly, through the component
 * below, and each rank compares:
 *
 *   exact result     send --(component below)--> scratch      first: in place, send is lost after
 *   quantized call   send --------------------> receive
 *   measure          receive, scratch --> NMSE, largest error
 *   agree            so that all decide alike
 *
 * Each part of the result is measured by itself: what one rank has sent, or what one gets.  Of both
 * numbers the largest counts, over all parts and ranks.
 *
 * If the NMSE is above max_nmse, receive is overwritten with the exact result, and the communicator
 * stays exact.
 *
 * Cost of such a call: an exact one, one pass over both results, two allreduces of a few bytes, and
 * memory for the result.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "coll_quant_call.h"
#include "float_env.h"

/* Doubles, as bits: numbers that are not negative have the order of their bits. */
enum { WORDS = sizeof(quant_measure_t) / sizeof(uint64_t) };
static_assert(2 * sizeof(double) == sizeof(quant_measure_t), "only doubles");

/* What a verification needs. */
typedef struct check {
    void *exact; /* the whole result of this rank; NULL: there is no memory on some rank */
    size_t bytes;
} check_t;

int coll_quant_get_memory(quant_module_t *module, size_t bytes, void **memory)
{
    if (ARC_OK != arc_module_malloc(&module->base, bytes, memory)) {
        return arc_module_broken_error();
    }
    if (NULL == *memory && arc_module_first(&module->base, QUANT_SAID_SKIPPED)) {
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "a call is not verified: some rank has no memory for %zu bytes of "
                       "exact result. Nor will others be while that is so",
                       bytes);
    }
    return MPI_SUCCESS;
}

/* The maximum over the ranks of each number. */
static ARC_MUST_CHECK arc_status_t agree_on_largest(quant_module_t *module,
                                                    quant_measure_t *measure)
{
    uint64_t bits[WORDS];

    memcpy(bits, measure, sizeof bits);
    for (size_t i = 0; i < WORDS; ++i) {
        bits[i] = ~bits[i];
    }
    const arc_status_t status = arc_module_min(&module->base, bits, WORDS);
    for (size_t i = 0; i < WORDS; ++i) {
        bits[i] = ~bits[i];
    }
    if (ARC_OK == status) {
        memcpy(measure, bits, sizeof bits);
    }
    return status;
}

/* No call of this communicator is quantized any more. */
static void stop_quantizing(quant_module_t *module, const quant_call_t *call, double nmse)
{
    arc_module_t *base = &module->base;

    coll_quant_teardown(module);
    base->phase = ARC_PHASE_DECLINED;
    base->declined = ARC_REASON_ERROR_MEASURED;
    coll_quant_show(module);
    arc_module_log(base, ARC_LOG_WARN,
                   "not used any more: a verified %s has a normalized mean square error of "
                   "%.3e, and coll_quant_max_nmse allows %.3e",
                   arc_slot_call(arc_call_slot(call->said)), nmse, module->settings.max_nmse);
}

static ARC_MUST_CHECK arc_status_t measure_result(quant_module_t *module,
                                                  const quant_operation_t *operation,
                                                  const check_t *check, quant_measure_t *found)
{
    const size_t parts = coll_quant_blocks_received(module, operation->collective);
    const size_t part_bytes = operation->count * operation->element->bytes;

    const arc_float_env_t of_program = arc_float_env_enter();
    *found = (quant_measure_t){0};
    for (size_t part = 0; part < parts; ++part) {
        const quant_measure_t measure =
            quant_measure((const char *) operation->recv + part * part_bytes,
                          (const char *) check->exact + part * part_bytes,
                          &quant_doubles == operation->element, operation->count);
        quant_measure_raise(found, &measure);
    }
    arc_float_env_leave(of_program);
    return agree_on_largest(module, found);
}

/* Numbers that are not negative, as their bits, whatever the program does to denormals. */
static bool is_above_limit(double nmse, double max_nmse)
{
    uint64_t found = 0;
    uint64_t most = 0;

    memcpy(&found, &nmse, sizeof found);
    memcpy(&most, &max_nmse, sizeof most);
    return 0 != most && found > most;
}

static int act_on_error(quant_module_t *module, quant_call_t *call, const check_t *check)
{
    const quant_operation_t *operation = &call->operation;
    quant_measure_t found;
    const arc_status_t status = measure_result(module, operation, check, &found);

    if (ARC_OK != status) {
        return arc_module_broken_error();
    }
    coll_quant_stats_note_measure(module, &found);
    if (is_above_limit(found.nmse, module->settings.max_nmse)) {
        memcpy(operation->recv, check->exact, check->bytes);
        call->bound = 0;
        coll_quant_stats_note_exact(module, ARC_REASON_ERROR_MEASURED);
        stop_quantizing(module, call, found.nmse);
    }
    return MPI_SUCCESS;
}

int coll_quant_verify(quant_module_t *module, quant_call_t *call)
{
    const quant_operation_t *operation = &call->operation;
    check_t check = {.bytes = operation->count * operation->element->bytes *
                              coll_quant_blocks_received(module, operation->collective)};
    int status = coll_quant_get_memory(module, check.bytes, &check.exact);

    if (MPI_SUCCESS == status && NULL != check.exact) {
        status =
            coll_quant_below(module, call, check.exact, " in the exact call that is to verify it");
    }
    if (MPI_SUCCESS == status) {
        status = coll_quant_run_and_note(module, call);
    }
    if (MPI_SUCCESS == status && NULL != check.exact) {
        status = act_on_error(module, call, &check);
    }
    arc_module_free(&module->base, check.exact);
    return status;
}
