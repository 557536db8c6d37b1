/*
 * The trials behind the choice between nodes; lowlat_plan.h draws the conclusions.
 *
 * Lengths go up from a few bytes.  At each, the candidates that lowlat_plan_wants() take turns,
 * in rounds, as many as fit into the length's share of the time, within limits; a turn is a call
 * that is not counted and a few back to back that are, and the median of the rounds counts.  Then
 * the ranks agree: the time of a candidate is that of the slowest rank.  `nodes_trial_ms` after
 * the first one they end, in the middle of a length if need be, which is then not counted.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_lowlat_settled.h"
#include "coll_lowlat_trial.h"
#include "lowlat_memory.h"
#include "mca_below.h"

enum {
    ROUNDS = 5, /* for short messages, at least */
    LONG_ROUNDS = 3,
    MOST_ROUNDS = 15,
    LONG_BYTES = 16 << 10,
    MOST_CALLS = 8, /* of a turn: as many as fit into ... */
};
static const double turn_seconds = 1e-3;
static const double length_share = 0.05; /* of the time for all lengths */

static const size_t lengths[] = {8,         512,      2 << 10,  4 << 10,   8 << 10,
                                 16 << 10,  32 << 10, 64 << 10, 128 << 10, 256 << 10,
                                 512 << 10, 1 << 20,  2 << 20};
enum { LENGTHS = sizeof lengths / sizeof lengths[0], LONGEST = LENGTHS - 1 };
_Static_assert((int) LENGTHS < (int) LOWLAT_PLAN_LENGTHS, "the plan adds one");

/* What the trials work with. */
typedef struct bench {
    lowlat_module_t *module;
    arc_reduction_t reduction;
    float *in; /* [longest / sizeof(float)] the same on all ranks */
    float *out;
    arc_wait_t wait; /* without a time limit: the call is a communicator's first */
    double seconds;  /* for all trials */
    double end;      /* when the time is over */
    bool wrong;      /* one of our sums was */
} bench_t;

static double seconds_now(void)
{
    return (double) arc_now_ns() / (double) ARC_NS_PER_SECOND;
}

static arc_status_t call_below(const bench_t *bench, size_t elems)
{
    arc_module_t *base = &bench->module->base;

    base->nested = true;
    const int status = arc_below_allreduce(bench->in, bench->out, (int) elems, &ompi_mpi_float.dt,
                                           &ompi_mpi_op_sum.op, base->comm, &base->super);
    base->nested = false;
    return OMPI_SUCCESS == status ? ARC_OK : ARC_ERR_TRANSPORT;
}

static arc_status_t call_ours(const bench_t *bench, lowlat_candidate_t candidate, size_t elems)
{
    lowlat_module_t *module = bench->module;
    lowlat_task_t task = {.group = &module->group,
                          .reducer = &bench->reduction.reducer,
                          .in = bench->in,
                          .out = bench->out,
                          .count = elems,
                          .span_bytes = elems * sizeof(float)};

    module->net.leader_bytes = candidate.leaders ? SIZE_MAX : 0;
    lowlat_algorithms[candidate.algorithm].start(&task);
    return arc_wait_run(&bench->wait, &task.task);
}

/* Small numbers, other ones for neighbours; their sums over all ranks are exact. */
static float number_at(size_t i)
{
    enum { NUMBERS = 13 };
    return (float) (1 + i % NUMBERS);
}

/* Is `out` the sum over all ranks? */
static bool sums_are_right(const bench_t *bench, size_t elems)
{
    const float ranks = (float) ompi_comm_size(bench->module->base.comm);
    size_t right = 0;

    for (size_t i = 0; i < elems; ++i) {
        right += bench->out[i] == ranks * number_at(i);
    }
    return right == elems;
}

/* The same on all ranks, as the trials before are.  Calls in a row overlap, as in a program. */
static unsigned calls_of(const lowlat_trials_t *trials)
{
    const unsigned last = trials->lengths - 1;
    unsigned calls = MOST_CALLS;

    if (0 == trials->lengths) {
        return calls;
    }
    /* Short messages take as long as shorter ones, of long ones the next has twice the bytes. */
    const double seconds = 2 * trials->seconds[last][0];
    while (calls > 1 && calls * seconds > turn_seconds) {
        --calls;
    }
    return calls;
}

/*
 * One turn: *seconds of a call.  The first of several finds the data of others in the caches, and
 * is not counted; one that is long enough to be alone does not mind.
 */
static arc_status_t take_turn(bench_t *bench, lowlat_candidate_t candidate, size_t bytes,
                              unsigned calls, double *seconds)
{
    const size_t elems = bytes / sizeof(float);
    const bool is_below = LOWLAT_PASS_DOWN == candidate.algorithm;
    double begin = 0;
    arc_status_t status = ARC_OK;

    const unsigned first = calls > 1 ? 1 : 0;
    memset(bench->out, 0, bytes);
    for (unsigned call = 0; ARC_OK == status && call < first + calls; ++call) {
        begin = first == call ? seconds_now() : begin;
        status = is_below ? call_below(bench, elems) : call_ours(bench, candidate, elems);
    }
    *seconds = (seconds_now() - begin) / calls;
    bench->wrong = bench->wrong || (!is_below && ARC_OK == status && !sums_are_right(bench, elems));
    return status;
}

/*
 * After a round: has no rank's time run out (*in_time)?  Was `share_end`, the end of the length's
 * share, reached on every rank (*enough)?  ARC_UNSUPPORTED, on all ranks, if some of our sums were
 * wrong.
 */
static arc_status_t agree_to_go_on(const bench_t *bench, double share_end, bool *in_time,
                                   bool *enough)
{
    const double time = seconds_now();
    uint64_t values[] = {time < bench->end, time >= share_end, !bench->wrong};

    arc_status_t status = arc_module_min(&bench->module->base, values, 3);
    *in_time = values[0];
    *enough = values[1];
    return ARC_OK == status && !values[2] ? ARC_UNSUPPORTED : status;
}

static int compare_doubles(const void *a, const void *b)
{
    const double left = *(const double *) a;
    const double right = *(const double *) b;
    return (left > right) - (left < right);
}

static unsigned least_rounds(size_t bytes)
{
    return bytes < LONG_BYTES ? ROUNDS : LONG_ROUNDS;
}

static void keep_medians(const lowlat_trials_t *trials, unsigned rounds,
                         double turns[LOWLAT_PLAN_CANDIDATES][MOST_ROUNDS],
                         double seconds[LOWLAT_PLAN_CANDIDATES])
{
    for (unsigned i = 0; i < trials->candidates; ++i) {
        seconds[i] = 0;
        if (lowlat_plan_wants(trials, i)) {
            qsort(turns[i], rounds, sizeof turns[i][0], compare_doubles);
            seconds[i] = turns[i][rounds / 2];
        }
    }
}

/*
 * The next length: what this rank saw.  *complete: the time of no rank was over before.  The
 * first round is for connections and memory, and not counted.
 */
static arc_status_t try_length(bench_t *bench, const lowlat_trials_t *trials, size_t bytes,
                               double seconds[LOWLAT_PLAN_CANDIDATES], bool *complete)
{
    double turns[LOWLAT_PLAN_CANDIDATES][MOST_ROUNDS];
    arc_status_t status = ARC_OK;

    const unsigned calls = calls_of(trials);
    const double share_end = seconds_now() + length_share * bench->seconds;
    unsigned round = 0;
    bool enough = false;
    *complete = true;
    for (; ARC_OK == status && *complete && round <= MOST_ROUNDS &&
           (!enough || round <= least_rounds(bytes));
         ++round) {
        for (unsigned turn = 0; ARC_OK == status && turn < trials->candidates; ++turn) {
            const unsigned i = (turn + round) % trials->candidates;
            if (lowlat_plan_wants(trials, i)) {
                status = take_turn(bench, trials->candidate[i], bytes, calls,
                                   &turns[i][0 == round ? 0 : round - 1]);
            }
        }
        if (ARC_OK == status) {
            status = agree_to_go_on(bench, share_end, complete, &enough);
        }
    }
    if (ARC_OK == status && *complete) {
        keep_medians(trials, round - 1, turns, seconds);
    }
    return status;
}

/* The slowest rank's times of a length, on all ranks. */
static arc_status_t agree_on_seconds(lowlat_module_t *module, unsigned candidates, double *seconds)
{
    static const double unit = 1e-12;
    uint64_t values[LOWLAT_PLAN_CANDIDATES];

    for (unsigned i = 0; i < candidates; ++i) {
        values[i] = ~(uint64_t) (seconds[i] / unit);
    }
    arc_status_t status = arc_module_min(&module->base, values, (int) candidates);
    for (unsigned i = 0; i < candidates; ++i) {
        seconds[i] = (double) ~values[i] * unit;
    }
    return status;
}

static arc_status_t try_all(bench_t *bench, lowlat_trials_t *trials)
{
    lowlat_module_t *module = bench->module;
    arc_status_t status = ARC_OK;
    bool complete = true;

    const size_t leader_bytes = module->net.leader_bytes;

    trials->candidates = lowlat_plan_candidates(trials->candidate, module->topology.owners);
    trials->made = true;
    while (ARC_OK == status && complete && trials->lengths < LENGTHS) {
        const size_t bytes = lengths[trials->lengths];
        double *seconds = trials->seconds[trials->lengths];

        status = try_length(bench, trials, bytes, seconds, &complete);
        if (ARC_OK == status && complete) {
            status = agree_on_seconds(module, trials->candidates, seconds);
            trials->bytes[trials->lengths] = bytes;
            trials->lengths += 1;
        }
    }
    module->net.leader_bytes = leader_bytes;
    return status;
}

static void log_trials(const lowlat_module_t *module, const lowlat_trials_t *trials)
{
    enum { TEXT_BYTES = 400 };
    char text[TEXT_BYTES];

    for (unsigned length = 0; length < trials->lengths; ++length) {
        int used = snprintf(text, sizeof text, "tried %zu bytes:", trials->bytes[length]);
        for (unsigned i = 0; i < trials->candidates && used < TEXT_BYTES; ++i) {
            const lowlat_candidate_t *candidate = &trials->candidate[i];
            const bool below = LOWLAT_PASS_DOWN == candidate->algorithm;
            if (0 == trials->seconds[length][i]) {
                continue;
            }
            used += snprintf(
                text + used, (size_t) (TEXT_BYTES - used), "%s %s%s %.1f us", 0 == i ? "" : ",",
                below ? "the component below" : lowlat_algorithms[candidate->algorithm].name,
                candidate->leaders ? " by leaders" : "", trials->seconds[length][i] * 1e6);
        }
        arc_module_log(&module->base, ARC_LOG_CHOICE, "%s", text);
    }
}

/* What decides how fast the candidates are, as far as the communicator does. */
typedef struct lowlat_shape {
    uint64_t number[6];
} lowlat_shape_t;

static lowlat_shape_t shape_of(const lowlat_module_t *module)
{
    const arc_topology_t *topology = &module->topology;

    return (lowlat_shape_t){{topology->nodes, topology->largest, topology->owners,
                             topology->in_order, NULL != module->port, module->group.cores_shared}};
}

arc_status_t coll_lowlat_recall_trials(lowlat_module_t *module, lowlat_trials_t *trials)
{
    const lowlat_shape_t shape = shape_of(module);

    *trials = (lowlat_trials_t){.made = false};
    (void) lowlat_memo_recall(&mca_coll_lowlat_component.tried, &shape, sizeof shape, trials);

    /* Ranks may have made theirs on different communicators. */
    uint64_t tried[] = {trials->made, trials->lengths};
    arc_status_t status = arc_module_min(&module->base, tried, 2);
    trials->made = tried[0];
    trials->lengths = (unsigned) tried[1];
    for (unsigned i = 0; ARC_OK == status && i < trials->lengths; ++i) {
        status = agree_on_seconds(module, trials->candidates, trials->seconds[i]);
    }
    return status;
}

static void bench_free(bench_t *bench)
{
    free(bench->in);
    free(bench->out);
}

/* Memory for the trials, on all ranks or none. */
static bool bench_make(bench_t *bench, lowlat_module_t *module)
{
    const double seconds = 1e-3 * mca_coll_lowlat_component.config.nodes_trial_ms;

    *bench = (bench_t){.module = module,
                       .in = malloc(lengths[LONGEST]),
                       .out = malloc(lengths[LONGEST]),
                       .wait = module->wait,
                       .seconds = seconds,
                       .end = seconds_now() + seconds};
    uint64_t ok = NULL != bench->in && NULL != bench->out &&
                  ARC_REASON_NONE == mca_bridge_reduction(&module->bridge, &ompi_mpi_op_sum.op,
                                                          &ompi_mpi_float.dt, &bench->reduction);
    bench->wait.timeout_ns = 0;
    for (size_t i = 0; NULL != bench->in && i < lengths[LONGEST] / sizeof(float); ++i) {
        bench->in[i] = number_at(i);
    }
    if (ARC_OK == arc_module_min(&module->base, &ok, 1) && ok) {
        return true;
    }
    bench_free(bench);
    return false;
}

bool coll_lowlat_wants_trials(const lowlat_module_t *module)
{
    const lowlat_config_t *config = &mca_coll_lowlat_component.config;

    return module->topology.nodes > 1 && config->nodes_trial_ms > 0 && !config->reproducible &&
           LOWLAT_ALGORITHM_AUTO == config->nodes_algorithm;
}

arc_status_t coll_lowlat_plan(lowlat_module_t *module, lowlat_trials_t *trials)
{
    arc_status_t status = ARC_OK;
    bench_t bench;

    if (!trials->made && bench_make(&bench, module)) {
        status = try_all(&bench, trials);
        if (ARC_OK == status) {
            const lowlat_shape_t shape = shape_of(module);
            lowlat_memo_remember(&mca_coll_lowlat_component.tried, &shape, sizeof shape, trials);
            log_trials(module, trials);
        }
        /* After an error the network may still have messages in them. */
        if (ARC_OK == status || ARC_UNSUPPORTED == status) {
            bench_free(&bench);
        }
    }
    if (ARC_OK == status && trials->lengths > 0) {
        lowlat_plan_make(&module->plan, trials, LOWLAT_NODES_MARGIN_PERCENT);
        module->net.plan = &module->plan;
        module->net.leader_bytes = module->plan.leader_bytes;
    }
    return status;
}
