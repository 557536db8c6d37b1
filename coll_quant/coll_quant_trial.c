/*
 * Trials: does quantizing pay on this communicator, for messages of about this length?
 * quant_pays.h draws the conclusions.
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
 * Memory: twice the length, 32 MiB at most (with error feedback three times), for the time of the
 * trial.  Where a rank has none there is no trial, and calls are quantized.
 *
 * No time limit: a fast rank waits for those that are still in a call of the component below, which
 * on a slow link may be longer than any that the program expects of its own calls.
 *
 * What came out is remembered for communicators of the same processes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "coll_quant.h"

typedef struct bench {
    quant_module_t *module;
    const quant_numbers_t *numbers;
    void *in; /* [count] the same on all ranks */
    void *out;
    float *residual; /* [count] with error feedback, else NULL */
    size_t count;
    arc_wait_t wait;
    bool warming_up;
    uint64_t round_ns; /* when the round began */
    uint64_t end_ns;   /* when the time is over */
} bench_t;

static uint64_t now_ns(void)
{
    enum { NS = 1000000000 };
    struct timespec time;

    (void) clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t) time.tv_sec * NS + (uint64_t) time.tv_nsec;
}

/* From -127/1024 to 127/1024, as if drawn. */
static float number_at(size_t i)
{
    enum { FACTOR = 40503, BITS = 0xffff, NUMBERS = 255, MIDDLE = 127 };
    const int drawn = (int) ((i * FACTOR >> 3 & BITS) % NUMBERS) - MIDDLE;
    return (float) drawn * 0x1p-10f;
}

static int call_below(const bench_t *bench)
{
    arc_module_t *base = &bench->module->base;

    /* The component below may call what is in the slot: us. */
    base->nested = true;
    const int status = base->below_allreduce(
        bench->in, bench->out, (int) bench->count, coll_quant_datatype(bench->numbers),
        &ompi_mpi_op_sum.op, base->comm, base->below_allreduce_module);
    base->nested = false;
    return MPI_SUCCESS == status
               ? MPI_SUCCESS
               : arc_module_break(base, ARC_ERR_TRANSPORT, " in a trial of the component below");
}

static int call_quant(const bench_t *bench)
{
    quant_module_t *module = bench->module;
    const quant_operation_t operation = {
        .send = bench->in,
        .recv = bench->out,
        .numbers = bench->numbers,
        .count = bench->count,
        .residual = bench->residual,
        .sequence = ++module->sequence,
    };
    return coll_quant_operate(module, &operation, &bench->wait);
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
        begin_ns = i == first ? now_ns() : begin_ns;
        status = call(bench);
    }
    if (MPI_SUCCESS != status) {
        return status;
    }
    const uint64_t end_ns = now_ns();
    const uint64_t next_ns = bench->warming_up ? 0 : end_ns - bench->round_ns;
    const bool is_time_left = end_ns + next_ns <= bench->end_ns;
    uint64_t values[] = {~((end_ns - begin_ns) / calls),
                         0 != ompi_comm_rank(base->comm) || is_time_left};
    if (ARC_OK != arc_module_min(base, values, 2)) {
        return arc_module_break(base, ARC_ERR_TRANSPORT, " in an agreement on times");
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
    bench->round_ns = now_ns();
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

static void fill(const bench_t *bench)
{
    float *floats = bench->in;
    double *doubles = bench->in;

    for (size_t i = 0; i < bench->count; ++i) {
        if (&quant_doubles == bench->numbers) {
            doubles[i] = (double) number_at(i);
        } else {
            floats[i] = number_at(i);
        }
    }
    memset(bench->out, 0, bench->count * bench->numbers->bytes); /* for the pages */
}

static void bench_free(bench_t *bench)
{
    free(bench->in);
    free(bench->out);
    free(bench->residual);
}

/* Memory on all ranks; false: on none.  An MPI error code in *status. */
static bool bench_make(bench_t *bench, quant_module_t *module, const quant_numbers_t *numbers,
                       size_t bytes, int *status)
{
    static const uint64_t ns_of_ms = 1000000;

    *bench = (bench_t){.module = module,
                       .numbers = numbers,
                       .in = malloc(bytes),
                       .out = malloc(bytes),
                       .count = bytes / numbers->bytes,
                       .wait = module->wait};
    bench->wait.timeout_seconds = 0;
    if (module->config.feedback) {
        bench->residual = calloc(bench->count, sizeof *bench->residual);
    }
    uint64_t ok = NULL != bench->in && NULL != bench->out &&
                  (NULL != bench->residual || !module->config.feedback);
    if (ok) {
        fill(bench);
    }
    *status = MPI_SUCCESS;
    if (ARC_OK != arc_module_min(&module->base, &ok, 1)) {
        *status = arc_module_break(&module->base, ARC_ERR_TRANSPORT, " in an agreement on memory");
    } else if (ok) {
        bench->end_ns = now_ns() + ns_of_ms * (uint64_t) module->settings.trial_ms;
        return true;
    }
    bench_free(bench);
    return false;
}

static void log_trial(const quant_module_t *module, const quant_numbers_t *numbers, unsigned class,
                      const quant_trial_t *trial, uint64_t took_ns)
{
    enum { US = 1000 };
    const arc_module_t *base = &module->base;

    if (0 != ompi_comm_rank(base->comm) || *base->component->verbose < ARC_LOG_CHOICE) {
        return;
    }
    if (0 == trial->rounds) {
        arc_module_log(base, ARC_LOG_CHOICE,
                       "%zu bytes of %ss not tried: some rank has no memory for it; quantized",
                       quant_pays_class_bytes(class), numbers->name);
        return;
    }
    arc_module_log(
        base, ARC_LOG_CHOICE,
        "tried %zu bytes of %ss: the component below %llu us, quantized %llu us, %u rounds in "
        "%llu us: %s",
        quant_pays_class_bytes(class), numbers->name,
        (unsigned long long) trial->least.below_ns / US,
        (unsigned long long) trial->least.quant_ns / US, trial->rounds,
        (unsigned long long) took_ns / US,
        quant_pays_at(&module->pays[coll_quant_number_type(numbers)], class) ? "quantized"
                                                                             : "passed down");
}

static void remember(const quant_module_t *module)
{
    quant_component_t *component = &mca_coll_quant_component;

    (void) pthread_mutex_lock(&component->base.lock);
    unsigned place = 0;
    while (place < QUANT_REMEMBERED && component->remembered[place].key != module->pays_key) {
        ++place;
    }
    if (QUANT_REMEMBERED == place) {
        place = component->remembered_next++ % QUANT_REMEMBERED;
    }
    quant_remembered_t *one = &component->remembered[place];
    if (one->key != module->pays_key) {
        *one = (quant_remembered_t){.key = module->pays_key};
    }
    for (unsigned type = 0; type < QUANT_NUMBER_TYPES; ++type) {
        quant_pays_merge(&one->pays[type], &module->pays[type]);
    }
    (void) pthread_mutex_unlock(&component->base.lock);
}

/*
 * What decides how fast the two sides are.  Others that give the same number are unlikely, and
 * would only be slower.
 */
static uint64_t key_of(const quant_module_t *module)
{
    static const uint64_t factor = 0x100000001b3; /* of the hash FNV-1a */
    struct ompi_communicator_t *comm = module->base.comm;
    uint64_t key = arc_param_hash(quant_params, quant_params_count, &module->settings) ^
                   (uintptr_t) module->base.below_allreduce;

    for (int rank = 0; rank < ompi_comm_size(comm); ++rank) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
        key = (key ^ name.jobid) * factor;
        key = (key ^ name.vpid) * factor;
    }
    return 0 != key ? key : 1;
}

uint64_t coll_quant_recall(quant_module_t *module)
{
    static const uint64_t factor = 0x9e3779b97f4a7c15; /* odd: no number is lost */
    enum { HALF = 32 };
    uint64_t number = 0;
    quant_component_t *component = &mca_coll_quant_component;

    for (unsigned type = 0; type < QUANT_NUMBER_TYPES; ++type) {
        module->pays[type] =
            0 == module->settings.trial_ms ? quant_pays_always() : (quant_pays_t){0};
    }
    module->pays_key = key_of(module);
    (void) pthread_mutex_lock(&component->base.lock);
    for (unsigned i = 0; i < QUANT_REMEMBERED; ++i) {
        if (component->remembered[i].key == module->pays_key) {
            memcpy(module->pays, component->remembered[i].pays, sizeof module->pays);
        }
    }
    (void) pthread_mutex_unlock(&component->base.lock);
    for (unsigned type = 0; type < QUANT_NUMBER_TYPES; ++type) {
        const quant_pays_t *pays = &module->pays[type];
        number = (number * factor) ^ ((uint64_t) pays->known << HALF | pays->pays);
    }
    return number;
}

int coll_quant_try(quant_module_t *module, const quant_numbers_t *numbers, unsigned class)
{
    /*
     * More than a trial has calls.  Sequence numbers go on behind them however many it made, so
     * that the numbers that rounding draws afterwards do not depend on time.
     */
    enum { CALLS_MAX = 1 << 10 };
    const int margin_percent = module->settings.margin;
    const uint32_t sequence = module->sequence;
    quant_trial_t trial = {0};
    int status = MPI_SUCCESS;
    bench_t bench;

    const uint64_t begin_ns = now_ns();
    if (bench_make(&bench, module, numbers, quant_pays_class_bytes(class), &status)) {
        bool more = true;
        while (MPI_SUCCESS == status && more && !quant_trial_is_enough(&trial, margin_percent)) {
            status = make_round(&bench, &trial, &more);
        }
        if (MPI_SUCCESS == status) {
            bench_free(&bench); /* otherwise a message may still be under way */
        }
    }
    module->sequence = sequence + CALLS_MAX;
    if (MPI_SUCCESS == status) {
        quant_pays_decide(&module->pays[coll_quant_number_type(numbers)], class,
                          0 == trial.rounds || quant_trial_pays(&trial, margin_percent));
        log_trial(module, numbers, class, &trial, now_ns() - begin_ns);
        remember(module);
    }
    return status;
}
