/*
 * A call that is served, and each operation of it.  16-bit floats are widened a segment at a time
 * where they are quantized (quant_coder.c); all at once where they are verified, which takes the
 * vector again.
 *
 * Verification (docs/guarantees.md): the exact call comes before the quantized one, which may
 * overwrite what is sent.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "c_locale.h"
#include "coll_quant_call.h"
#include "float_env.h"

/* ---- one operation ---- */

static int run_task(quant_module_t *module, quant_call_t *call)
{
    const quant_operation_t *operation = &call->operation;
    bool folds = false;
    const int checked = coll_quant_fold_check(module, operation, &folds);

    if (MPI_SUCCESS != checked || folds) {
        return MPI_SUCCESS != checked ? checked : coll_quant_fold_run(module, call);
    }
    const arc_float_env_t of_program = arc_float_env_enter(); /* limits are shared out */
    arc_task_t *task = quant_pipeline_start(module->pipeline, operation);
    arc_float_env_leave(of_program);
    const arc_status_t status = arc_wait_run(&module->base.wait, task);
    if (ARC_OK != status) {
        return arc_module_fail(&module->base, arc_call_slot(call->said), task, status);
    }
    call->bound = quant_pipeline_bound(module->pipeline);
    return MPI_SUCCESS;
}

/* One operation, whose bound becomes known. */
static int run_and_note(quant_module_t *module, quant_call_t *call)
{
    bool exact = false;

    call->bound = 0;
    call->timed.begin_ns = coll_quant_timed_ns(call);
    int status = coll_quant_limit_begin(module, call, &exact);
    if (MPI_SUCCESS == status && !exact) {
        status = run_task(module, call);
        if (MPI_SUCCESS == status) {
            status = coll_quant_limit_end(module, call, &exact);
        }
    }
    call->timed.end_ns = coll_quant_timed_ns(call);
    if (MPI_SUCCESS == status) {
        coll_quant_stats_note(module, exact ? ARC_REASON_BOUND : ARC_REASON_NONE, call->bound);
    }
    return status;
}

/* ---- verification ---- */

/* Doubles, as bits: numbers that are not negative have the order of their bits. */
enum { WORDS = sizeof(quant_measure_t) / sizeof(uint64_t) };
static_assert(2 * sizeof(double) == sizeof(quant_measure_t), "only doubles");

/* On all ranks or, NULL, on none, which is said once. */
static int get_memory(quant_module_t *module, size_t bytes, void **memory)
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
    const arc_c_locale_t locale = arc_c_locale_enter();
    arc_module_log(base, ARC_LOG_WARN,
                   "not used any more: a verified %s has a normalized mean square error of "
                   "%.3e, and coll_quant_max_nmse allows %.3e",
                   arc_slot_call(arc_call_slot(call->said)), nmse, module->settings.max_nmse);
    arc_c_locale_leave(locale);
}

/* Measure the result, which is the exact one then if it is too far off. */
static int judge(quant_module_t *module, quant_call_t *call, const void *exact)
{
    const quant_operation_t *operation = &call->operation;
    const size_t parts = coll_quant_blocks_received(module, operation->collective);
    const size_t part_bytes = operation->count * operation->element->bytes;
    const double max_nmse = module->settings.max_nmse;
    quant_measure_t found = {0};

    arc_float_env_t of_program = arc_float_env_enter();
    for (size_t at = 0; at < parts * part_bytes; at += part_bytes) {
        const quant_measure_t measure =
            quant_measure((const char *) operation->recv + at, (const char *) exact + at,
                          &quant_doubles == operation->element, operation->count);
        quant_measure_raise(&found, &measure);
    }
    arc_float_env_leave(of_program);
    if (ARC_OK != agree_on_largest(module, &found)) {
        return arc_module_broken_error();
    }
    coll_quant_stats_note_measure(module, &found);
    of_program = arc_float_env_enter();
    const bool is_too_large = max_nmse > 0 && found.nmse > max_nmse;
    arc_float_env_leave(of_program);
    if (is_too_large) {
        memcpy(operation->recv, exact, parts * part_bytes);
        coll_quant_stats_note(module, ARC_REASON_ERROR_MEASURED, 0);
        stop_quantizing(module, call, found.nmse);
    }
    return MPI_SUCCESS;
}

/* With an exact call to compare with; without where there is no memory for its result. */
static int verify(quant_module_t *module, quant_call_t *call)
{
    const quant_operation_t *operation = &call->operation;
    void *exact = NULL;
    int status = get_memory(module,
                            operation->count * operation->element->bytes *
                                coll_quant_blocks_received(module, operation->collective),
                            &exact);

    if (MPI_SUCCESS == status && NULL != exact) {
        status = coll_quant_below(module, call, exact, " in the exact call that is to verify it");
    }
    if (MPI_SUCCESS == status) {
        status = run_and_note(module, call);
    }
    if (MPI_SUCCESS == status && NULL != exact) {
        status = judge(module, call, exact);
    }
    arc_module_free(&module->base, exact);
    return status;
}

/* ---- a call ---- */

static int run(quant_module_t *module, quant_call_t *call, bool verified)
{
    const quant_operation_t *operation = &call->operation;
    const int status = coll_quant_fold_look(module, operation);

    if (MPI_SUCCESS != status) {
        return status;
    }
    call->operation.sequence = ++module->sequence;
    ++module->calls[operation->collective];
    arc_module_count(&module->base, call->said,
                     quant_pipeline_is_doubling(module->pipeline, operation)
                         ? QUANT_ALGOS
                         : (size_t) (module->config.algo - quant_algo_at(0)),
                     call->bytes);
    return verified ? verify(module, call) : run_and_note(module, call);
}

static void read_floats(const void *numbers, float *floats, size_t count)
{
    memcpy(floats, numbers, count * sizeof *floats);
}

static void write_floats(const float *floats, void *numbers, size_t count)
{
    memcpy(numbers, floats, count * sizeof *floats);
}

/* All of the call as floats: what is sent, and behind it the result, or in its place. */
static int verify_halves(quant_module_t *module, quant_call_t *call)
{
    quant_operation_t *operation = &call->operation;
    const quant_storage_t *storage = operation->storage;
    /* All is done as for these numbers, but nothing is rounded. */
    const quant_storage_t of_floats = {.bytes = sizeof(float),
                                       .half = {read_floats, write_floats},
                                       .largest = storage->largest,
                                       .overflow = storage->overflow};
    const size_t sent = coll_quant_blocks_sent(module, operation->collective) * operation->count;
    const size_t received =
        coll_quant_blocks_received(module, operation->collective) * operation->count;
    const size_t result_at = sent == received ? 0 : sent;
    void *halves = operation->recv;
    void *memory = NULL;

    int status = get_memory(module, (result_at + received) * sizeof(float), &memory);
    float *floats = memory;
    if (MPI_SUCCESS != status || NULL == floats) {
        return MPI_SUCCESS != status ? status : run(module, call, false);
    }
    arc_float_env_t of_program = arc_float_env_enter();
    storage->half.widen(operation->send, floats, sent);
    arc_float_env_leave(of_program);
    operation->storage = &of_floats; /* the bits of a call that is not verified */
    operation->send = floats;
    operation->recv = floats + result_at;
    status = run(module, call, true);
    if (MPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        storage->half.narrow(floats + result_at, halves, received);
        arc_float_env_leave(of_program);
    }
    arc_module_free(&module->base, floats);
    return status;
}

int coll_quant_run_call(quant_module_t *module, quant_call_t *call)
{
    const unsigned every = (unsigned) module->settings.verify_every;
    const bool verified =
        0 != every && 0 == (module->calls[call->operation.collective] + 1) % every;

    return verified && NULL != call->operation.storage ? verify_halves(module, call)
                                                       : run(module, call, verified);
}
