/*
 * Trials: does quantizing a collective gain time on this communicator, for vectors of about this
 * length?  quant_gain.h draws the conclusions.  What a trial calls depends on the collective
 * (coll_quant_collectives.c), how it does not.
 *
 *     round    0 (warm-up)       1                  2                  ...
 *     turns    below, quantized  quantized, below   below, quantized   interleaved
 *     agree    after each turn   ...
 *
 * A turn is some calls back to back on memory of its own, of the class's length.  After each
 * the ranks agree on the time of the slowest of them, and so begin the next one together.  In the
 * same agreement all learn whether rank 0 sees time for another round as long as the last one
 * (coll_quant_trial_ms).  After the warm-up any time that is left will do: what was set up for the
 * first time, or a rank that lost its core, must not decide unless calls really take so long.
 *
 * What is added are small numbers whose sums are exact in floats and in 16 bits: whatever
 * rounding or traps the program asks for, nothing comes of them.
 *
 * Memory: what a call sends and what it gets, at most twice the length, 32 MiB (with error feedback
 * three times), for the time of the trial.  Where a rank has none there is no trial, and calls are
 * quantized.
 *
 * No time limit: a fast rank waits for those that are still in a call of the component below, which
 * on a slow link may be longer than any that the program expects of its own calls.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant.h"
#include "settled.h"

/*
 * Quantize if that was faster by so much of its time: closer than that the next trial may come to
 * another end.  For tests: always.
 */
enum { MARGIN_PERCENT = ARC_SETTLED(5, -100) };

typedef struct bench {
    quant_module_t *module;
    quant_operation_t operation; /* all but its sequence; the same vectors in every call */
    void *in;                    /* the same on all ranks */
    void *out;
    arc_wait_t wait;
    bool warming_up;
    uint64_t round_ns; /* when the round began */
    uint64_t end_ns;   /* when the time is over */
} bench_t;

/* From -127/1024 to 127/1024, as if drawn. */
static float number_at(size_t i)
{
    enum { FACTOR = 40503, BITS = 0xffff, NUMBERS = 255, MIDDLE = 127 };
    const int drawn = (int) ((i * FACTOR >> 3 & BITS) % NUMBERS) - MIDDLE;
    return (float) drawn * 0x1p-10f;
}

static int call_below(const bench_t *bench)
{
    return coll_quant_below(bench->module, &bench->operation, bench->out,
                            " in a trial of the component below");
}

static int call_quant(const bench_t *bench)
{
    quant_operation_t operation = bench->operation;

    operation.sequence = ++bench->module->sequence;
    return coll_quant_run_task(bench->module, &operation, &bench->wait);
}

/* The ranks could not agree on something. */
static int fail(const bench_t *bench, const char *details)
{
    return arc_module_break_call(&bench->module->base, coll_quant_slot(bench->operation.collective),
                                 ARC_ERR_TRANSPORT, details);
}

/*
 * One turn of `calls` calls: *call_ns of one, on the slowest rank.  The first of several finds the
 * other side's data in the caches, and is not counted.  *more: rank 0 sees time for another round.
 */
static int take_turn(const bench_t *bench, int (*call)(const bench_t *), unsigned calls,
                     uint64_t *call_ns, bool *more)
{
    arc_module_t *base = &bench->module->base;
    const unsigned first = calls > 1 ? 1 : 0;
    uint64_t begin_ns = 0;
    int status = MPI_SUCCESS;

    for (unsigned i = 0; MPI_SUCCESS == status && i < first + calls; ++i) {
        begin_ns = i == first ? (uint64_t) arc_now_ns() : begin_ns;
        status = call(bench);
    }
    if (MPI_SUCCESS != status) {
        return status;
    }
    const uint64_t end_ns = (uint64_t) arc_now_ns();
    const uint64_t next_ns = bench->warming_up ? 0 : end_ns - bench->round_ns;
    const bool is_time_left = end_ns + next_ns <= bench->end_ns;
    uint64_t values[] = {~((end_ns - begin_ns) / calls),
                         0 != ompi_comm_rank(base->comm) || is_time_left};
    if (ARC_OK != arc_module_min(base, values, 2)) {
        return fail(bench, " in an agreement on times");
    }
    *call_ns = ~values[0];
    *more = 0 != values[1];
    return MPI_SUCCESS;
}

static int make_round(bench_t *bench, quant_trial_t *trial, bool *more)
{
    const unsigned calls = quant_trial_calls(trial);
    const bool below_first = 0 == trial->rounds % 2;
    quant_times_t times = {0};

    bench->warming_up = 0 == trial->rounds;
    bench->round_ns = (uint64_t) arc_now_ns();
    int status = MPI_SUCCESS;
    for (unsigned turn = 0; MPI_SUCCESS == status && turn < 2; ++turn) {
        status = below_first == (0 == turn)
                     ? take_turn(bench, call_below, calls, &times.below_ns, more)
                     : take_turn(bench, call_quant, calls, &times.quant_ns, more);
    }
    if (MPI_SUCCESS == status) {
        quant_trial_note(trial, &times);
    }
    return status;
}

static void fill_vector(const bench_t *bench, size_t elems)
{
    float *floats = bench->in;
    double *doubles = bench->in;

    for (size_t i = 0; i < elems; ++i) {
        if (&quant_doubles == bench->operation.element) {
            doubles[i] = (double) number_at(i);
        } else {
            floats[i] = number_at(i);
        }
    }
}

static void bench_free(bench_t *bench)
{
    free(bench->in);
    free(bench->out);
    free(bench->operation.residual);
}

/* Vectors for the operation, filled; false: there is no memory for some. */
static bool bench_allocate(bench_t *bench)
{
    const quant_module_t *module = bench->module;
    quant_operation_t *operation = &bench->operation;
    const size_t sent = operation->count * coll_quant_blocks_sent(module, operation->collective);
    const size_t received =
        operation->count * coll_quant_blocks_received(module, operation->collective);
    const bool feeds = module->config.feedback && EXCHANGE_ALLREDUCE == operation->collective;

    operation->send = bench->in = malloc(sent * operation->element->bytes);
    operation->recv = bench->out = malloc(received * operation->element->bytes);
    operation->residual = feeds ? calloc(operation->count, sizeof *operation->residual) : NULL;
    if (NULL == bench->in || NULL == bench->out || (feeds && NULL == operation->residual)) {
        return false;
    }
    fill_vector(bench, sent);
    memset(bench->out, 0, received * operation->element->bytes); /* for the pages */
    return true;
}

/*
 * For vectors of about `bytes`, but of one element in a block at least.  Memory on all ranks;
 * false: on none.  An MPI error code in *status.
 */
static bool bench_make(bench_t *bench, quant_module_t *module, exchange_collective_t collective,
                       const quant_element_t *element, size_t bytes, int *status)
{
    static const uint64_t ns_of_ms = 1000000;
    const size_t count = bytes / element->bytes / coll_quant_blocks(module, collective);

    *bench = (bench_t){.module = module,
                       .operation = {.element = element,
                                     .count = 0 == count ? 1 : count,
                                     .collective = collective},
                       .wait = module->wait};
    bench->wait.timeout_ns = 0;
    uint64_t ok = bench_allocate(bench);
    *status = MPI_SUCCESS;
    if (ARC_OK != arc_module_min(&module->base, &ok, 1)) {
        *status = fail(bench, " in an agreement on memory");
    } else if (ok) {
        bench->end_ns = (uint64_t) arc_now_ns() + ns_of_ms * (uint64_t) module->settings.trial_ms;
        return true;
    }
    bench_free(bench);
    return false;
}

static void log_trial(const quant_module_t *module, exchange_collective_t collective,
                      const quant_element_t *element, unsigned class, const quant_trial_t *trial,
                      uint64_t took_ns)
{
    enum { US = 1000 };
    const arc_module_t *base = &module->base;
    const char *call = arc_slot_call(coll_quant_slot(collective));

    if (0 == trial->rounds) {
        arc_module_log(
            base, ARC_LOG_CHOICE,
            "%s of %zu bytes of %ss not tried: some rank has no memory for it; quantized", call,
            quant_gain_class_bytes(class), element->name);
        return;
    }
    arc_module_log(
        base, ARC_LOG_CHOICE,
        "tried %s of %zu bytes of %ss: the component below %llu us, quantized %llu us, %u rounds "
        "in %llu us: %s",
        call, quant_gain_class_bytes(class), element->name,
        (unsigned long long) trial->least.below_ns / US,
        (unsigned long long) trial->least.quant_ns / US, trial->rounds,
        (unsigned long long) took_ns / US,
        quant_gain_at(&module->gain[coll_quant_tried(collective, element)], class) ? "quantized"
                                                                                   : "passed down");
}

/*
 * Does quantizing `element` gain time in vectors of `class`?  All ranks take part and come to the
 * same end.  An MPI error code.
 */
static __attribute__((noinline)) int try_class(quant_module_t *module,
                                               exchange_collective_t collective,
                                               const quant_element_t *element, unsigned class)
{
    /*
     * More than a trial has calls.  Sequence numbers go on behind them however many it made, so
     * that the numbers that rounding draws afterwards do not depend on time.
     */
    enum { CALLS_MAX = 1 << 10 };
    const uint32_t sequence = module->sequence;
    quant_trial_t trial = {0};
    int status = MPI_SUCCESS;
    bench_t bench;

    const uint64_t begin_ns = (uint64_t) arc_now_ns();
    if (bench_make(&bench, module, collective, element, quant_gain_class_bytes(class), &status)) {
        bool more = true;
        while (MPI_SUCCESS == status && more && !quant_trial_is_enough(&trial, MARGIN_PERCENT)) {
            status = make_round(&bench, &trial, &more);
        }
        if (MPI_SUCCESS == status) {
            bench_free(&bench); /* otherwise a message may still be under way */
        }
    }
    module->sequence = sequence + CALLS_MAX;
    if (MPI_SUCCESS == status) {
        quant_gain_decide(&module->gain[coll_quant_tried(collective, element)], class,
                          0 == trial.rounds || quant_trial_gains(&trial, MARGIN_PERCENT));
        log_trial(module, collective, element, class, &trial, (uint64_t) arc_now_ns() - begin_ns);
        coll_quant_remember(module);
    }
    return status;
}

int coll_quant_check_gain(quant_module_t *module, exchange_collective_t collective,
                          const quant_element_t *element, size_t bytes, arc_reason_t *verdict)
{
    const quant_gain_t *gain = &module->gain[coll_quant_tried(collective, element)];
    const unsigned class = quant_gain_class(bytes);

    if (!quant_gain_is_decided(gain, class)) {
        const int status = try_class(module, collective, element, class);
        if (MPI_SUCCESS != status) {
            return status;
        }
    }
    *verdict = quant_gain_at(gain, class) ? ARC_REASON_NONE : ARC_REASON_SLOWER;
    return MPI_SUCCESS;
}
