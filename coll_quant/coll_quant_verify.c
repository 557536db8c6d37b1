/*
 * Verification: what the error of a call really is.
 *
 * Every verify_every-th call of a collective also runs exactly, through the component
 * below, and each rank compares:
 *
 *   exact result     send --(component below)--> scratch      first: in place, send is lost after
 *   quantized call   send --------------------> receive
 *   measure          receive, scratch --> MSE, NMSE, NMSE of the worst block, largest error
 *   agree            so that all decide alike
 *
 * A block here is coll_quant_block neighbours in the result, whatever the format.  What is measured
 * of all blocks together, and how the ranks agree, follows from the shape of the result:
 *
 *   the same on all ranks   what each rank sent by itself, the largest of each number; of all the
 *                           ranks that, too, since exact results may differ in their last bits
 *   shares of the ranks     the sums that the numbers are made of travel, as bits, to all
 *                           ranks, which add them in the same order: the error of the whole
 *
 * If the NMSE, or that of the worst block (max_nmse_of), is above max_nmse, receive is overwritten
 * with the exact result, and the communicator stays exact.
 *
 * Cost of such a call: an exact one, one pass over both results, two allreduces of a few bytes
 * (of shares 40 for each rank), and memory for the result.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "coll_quant.h"
#include "float_env.h"

/* Doubles, as bits: numbers that are not negative have the order of their bits. */
enum {
    ERRORS_WORDS = 5,
    WORDS = 4, /* of a measure */
};
static_assert(sizeof(quant_errors_t) == ERRORS_WORDS * sizeof(uint64_t), "only doubles");
static_assert(sizeof(quant_measure_t) == WORDS * sizeof(uint64_t), "only doubles");

/* What a verification needs; exact is NULL if there is no memory on some rank. */
typedef struct check {
    void *memory;
    uint64_t *words; /* [ranks][ERRORS_WORDS] if the result is shared out */
    void *exact;     /* the whole result of this rank */
    size_t bytes;    /* of it */
} check_t;

static check_t check_make(const quant_module_t *module, const quant_operation_t *operation)
{
    const size_t ranks = (size_t) ompi_comm_size(module->base.comm);
    const size_t words = coll_quant_shares(operation->collective) ? ERRORS_WORDS * ranks : 0;
    const size_t bytes = operation->count * operation->element->bytes *
                         coll_quant_blocks_received(module, operation->collective);
    uint64_t *memory = malloc(words * sizeof *memory + bytes);

    return (check_t){.memory = memory,
                     .words = memory,
                     .exact = NULL == memory ? NULL : memory + words,
                     .bytes = bytes};
}

static int fail(quant_module_t *module, const quant_operation_t *operation, arc_status_t status,
                const char *details)
{
    return arc_module_break_call(&module->base, coll_quant_slot(operation->collective), status,
                                 details);
}

void coll_quant_warn_unverified(quant_module_t *module, size_t bytes)
{
    if (!module->skip_warned) {
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "a call is not verified: some rank has no memory for %zu bytes of "
                       "exact result. Nor will others be while that is so",
                       bytes);
    }
    module->skip_warned = true;
}

/* Memory on all ranks or on none, which is said once.  An MPI error code. */
static int agree_on_memory(quant_module_t *module, const quant_operation_t *operation,
                           check_t *check)
{
    uint64_t ok = NULL != check->exact;
    const arc_status_t status = arc_module_min(&module->base, &ok, 1);

    if (ARC_OK != status) {
        return fail(module, operation, status, " in an agreement on memory to verify it");
    }
    if (ok) {
        return MPI_SUCCESS;
    }
    check->exact = NULL;
    coll_quant_warn_unverified(module, check->bytes);
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

/* `own` of all ranks: the minimum with words that have all bits set, which no number has. */
static ARC_MUST_CHECK arc_status_t gather_words(quant_module_t *module, const quant_errors_t *own,
                                                uint64_t *words)
{
    const int ranks = ompi_comm_size(module->base.comm);
    const size_t at = ERRORS_WORDS * (size_t) ompi_comm_rank(module->base.comm);

    memset(words, UINT8_MAX, ERRORS_WORDS * (size_t) ranks * sizeof *words);
    memcpy(words + at, own, sizeof *own);
    return arc_module_min(&module->base, words, ERRORS_WORDS * ranks);
}

/* No call of this communicator is quantized any more.  `nmse` is what the limit is about. */
static void stop_quantizing(quant_module_t *module, exchange_collective_t collective, double nmse)
{
    arc_module_t *base = &module->base;

    coll_quant_teardown(module);
    base->phase = ARC_PHASE_DECLINED;
    base->declined = ARC_REASON_ERROR_MEASURED;
    coll_quant_keys_show(module);
    arc_module_log(base, ARC_LOG_WARN,
                   "not used any more: a verified %s has a normalized mean square error of "
                   "%.3e%s, and coll_quant_max_nmse allows %.3e",
                   arc_slot_call(arc_slot_of_form(coll_quant_slot(collective), module->base.form)),
                   nmse,
                   QUANT_MAX_NMSE_OF_BLOCK == module->settings.max_nmse_of ? " in a block" : "",
                   module->settings.max_nmse);
}

/* Of the part-th `count` elements of the result. */
static quant_errors_t errors_of(const quant_module_t *module, const quant_operation_t *operation,
                                const void *exact, size_t part)
{
    const size_t first = part * operation->count;
    const size_t block_elems = (size_t) module->settings.block;

    if (&quant_doubles == operation->element) {
        return quant_errors_doubles((const double *) operation->recv + first,
                                    (const double *) exact + first, operation->count, block_elems);
    }
    return quant_errors((const float *) operation->recv + first, (const float *) exact + first,
                        operation->count, block_elems);
}

static ARC_MUST_CHECK arc_status_t measure_result(quant_module_t *module,
                                                  const quant_operation_t *operation,
                                                  const check_t *check, quant_measure_t *found)
{
    const size_t parts = coll_quant_blocks_received(module, operation->collective);

    const arc_float_env_t of_program = arc_float_env_enter();
    *found = (quant_measure_t){0};
    for (size_t part = 0; part < parts; ++part) {
        const quant_errors_t errors = errors_of(module, operation, check->exact, part);
        const quant_measure_t measure = quant_measure_of(&errors, operation->count);
        quant_measure_raise(found, &measure);
    }
    arc_float_env_leave(of_program);
    return agree_on_largest(module, found);
}

static ARC_MUST_CHECK arc_status_t measure_shares(quant_module_t *module,
                                                  const quant_operation_t *operation,
                                                  const check_t *check, quant_measure_t *found)
{
    const size_t ranks = (size_t) ompi_comm_size(module->base.comm);
    quant_errors_t total = {0};

    arc_float_env_t of_program = arc_float_env_enter();
    const quant_errors_t own = errors_of(module, operation, check->exact, 0);
    arc_float_env_leave(of_program);
    const arc_status_t status = gather_words(module, &own, check->words);
    if (ARC_OK != status) {
        return status;
    }
    of_program = arc_float_env_enter();
    for (size_t rank = 0; rank < ranks; ++rank) {
        quant_errors_t share;
        memcpy(&share, check->words + ERRORS_WORDS * rank, sizeof share);
        quant_errors_add(&total, &share);
    }
    *found = quant_measure_of(&total, ranks * operation->count);
    arc_float_env_leave(of_program);
    return ARC_OK;
}

/* A comparison that does not depend on what the program does to denormals. */
static bool is_above_limit(double nmse, double max_nmse)
{
    const arc_float_env_t of_program = arc_float_env_enter();
    const bool result = max_nmse > 0 && nmse > max_nmse;
    arc_float_env_leave(of_program);
    return result;
}

/* What the limit is about. */
static double limited(const quant_module_t *module, const quant_measure_t *found)
{
    return QUANT_MAX_NMSE_OF_BLOCK == module->settings.max_nmse_of ? found->block_nmse
                                                                   : found->nmse;
}

static int act_on_error(quant_module_t *module, const quant_operation_t *operation,
                        const check_t *check)
{
    quant_measure_t found;
    const arc_status_t status = coll_quant_shares(operation->collective)
                                    ? measure_shares(module, operation, check, &found)
                                    : measure_result(module, operation, check, &found);

    if (ARC_OK != status) {
        return fail(module, operation, status, " in the agreement on its error");
    }
    coll_quant_stats_note_measure(module, &found);
    if (is_above_limit(limited(module, &found), module->settings.max_nmse)) {
        memcpy(operation->recv, check->exact, check->bytes);
        module->bound = 0;
        coll_quant_stats_note_exact(module, ARC_REASON_ERROR_MEASURED);
        stop_quantizing(module, operation->collective, limited(module, &found));
    }
    return MPI_SUCCESS;
}

int coll_quant_verify(quant_module_t *module, const quant_operation_t *operation)
{
    check_t check = check_make(module, operation);
    int status = agree_on_memory(module, operation, &check);

    if (MPI_SUCCESS == status && NULL != check.exact) {
        status = coll_quant_below(module, operation, check.exact,
                                  " in the exact call that is to verify it");
    }
    if (MPI_SUCCESS == status) {
        status = coll_quant_run_and_note(module, operation);
    }
    if (MPI_SUCCESS == status && NULL != check.exact) {
        status = act_on_error(module, operation, &check);
    }
    if (ARC_PHASE_BROKEN != module->base.phase) {
        free(check.memory); /* otherwise a message may still be under way */
    }
    return status;
}
