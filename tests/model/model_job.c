/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_lowlat_settled.h"
#include "lowlat_by_levels.h"
#include "lowlat_rules.h"
#include "model_access.h"
#include "model_between.h"
#include "model_clock.h"
#include "model_rivals.h"
#include "seconds.h"
#include "sizes.h"

enum {
    /* A call is like the one two before, once it is warm; of long ones a call hides the others. */
    CALLS = 8,
    WARM_CALLS = 4,
    LONG_CALLS = 4,
    LONG_WARM_CALLS = 2,
    LONG_BYTES = 16 << 10,
    MOST_ARENA_BYTES = 1 << 20
};
/* All calls of a job take less, but for those that hang. */
static const double limit_ns = 2e7;

/*
 * The algorithms of a node; one-shot and two-shot as they would be on one without levels; and what
 * is done on it around an exchange with others, with an owner for each rank, or one.
 */
typedef struct way {
    const char *name;
    void (*start)(lowlat_task_t *task);
    bool flat;
    bool leader;
} way_t;

static const way_t ways[] = {
#define X(_id, _prefix, _name, _reproducible, _description) \
    {.name = _name, .start = _prefix##_start},
    LOWLAT_NODE_TABLE(X)
#undef X
        {"oneshot_flat", lowlat_oneshot_start, .flat = true},
    {"twoshot_flat", lowlat_twoshot_start, .flat = true},
    {"between", .start = model_between_start},
    {"between_flat", model_between_start, .flat = true},
    {"between_quant", .start = model_between_quant_start},
    {"between_quant_flat", model_between_quant_start, .flat = true},
    {"between_leader", model_between_start, .leader = true},
    {"between_leader_flat", model_between_start, .flat = true, .leader = true},
};
enum { WAYS = sizeof ways / sizeof ways[0] };
static const char auto_name[] = "auto";

/* What a rank's memory has, one behind the other. */
typedef struct span {
    size_t in_offset;
    size_t out_offset;
    size_t work_offset;
    size_t bytes;
} span_t;

typedef struct job {
    const model_case_t *what;
    const way_t *way; /* or the rival */
    const model_rival_t *rival;
    arc_reducer_t reducer;
    span_t span;
    unsigned char *memory;
    lowlat_group_t *group; /* [ranks] */
    bool wrong;
    model_counts_t counts; /* of all ranks, in the calls behind the warm ones */
    double ended_ns[CALLS][MODEL_MOST_CORES];
} job_t;

static unsigned calls_of(const job_t *job)
{
    return (size_t) LONG_BYTES < job->what->bytes ? LONG_CALLS : CALLS;
}

static unsigned warm_calls_of(const job_t *job)
{
    return (size_t) LONG_BYTES < job->what->bytes ? LONG_WARM_CALLS : WARM_CALLS;
}

static unsigned char *at(const job_t *job, unsigned rank, size_t offset)
{
    return job->memory + rank * job->span.bytes + offset;
}

/* ---- a communicator, as coll_lowlat would make it ---- */

/* As long as three chunks fit, and as a node of many ranks allows. */
static size_t arena_of(const model_case_t *what)
{
    const size_t share_bytes = LOWLAT_NODE_BYTES / LOWLAT_NODE_COMMUNICATORS / what->ranks;
    size_t arena_bytes = LOWLAT_MIN_ARENA_BYTES;

    while (arena_bytes < MOST_ARENA_BYTES && what->bytes > arena_bytes / LOWLAT_MIN_SLOTS &&
           lowlat_segment_bytes(2 * arena_bytes) <= share_bytes) {
        arena_bytes *= 2;
    }
    return arena_bytes;
}

/* Levels by the places of the machine, as a set-up finds them by the binding. */
static bool make_levels(const model_machine_t *machine, lowlat_group_t *group)
{
    lowlat_seat_t *seats = calloc(group->ranks, sizeof *seats);
    bool good = NULL != seats && lowlat_levels_by_pairs(&group->pairs, group->rank, group->ranks);

    for (unsigned rank = 0; good && rank < group->ranks; ++rank) {
        for (unsigned level = 0; level < LOWLAT_DOMAINS; ++level) {
            seats[rank].domain[LOWLAT_DOMAINS - 1 - level] =
                (uint16_t) model_machine_place(machine, (model_level_t) level, rank);
        }
    }
    if (good && group->ranks > LOWLAT_FLAT_RANKS) {
        good = lowlat_levels_by_seats(&group->levels, group->rank, group->ranks, seats);
    }
    free(seats);
    return good;
}

static bool make_groups(job_t *job)
{
    const unsigned ranks = job->what->ranks;
    lowlat_segment_t **segment = calloc(ranks, sizeof *segment);
    const void **parts = calloc((size_t) ranks * ranks, sizeof *parts);
    bool good = NULL != segment && NULL != parts;

    job->group = calloc(ranks, sizeof *job->group);
    for (unsigned rank = 0; good && NULL != job->group && rank < ranks; ++rank) {
        segment[rank] = (lowlat_segment_t *) (void *) at(job, rank, 0);
        job->group[rank] = (lowlat_group_t){
            .rank = rank,
            .ranks = ranks,
            .arena_bytes = arena_of(job->what),
            .block_bytes = LOWLAT_BLOCK_BYTES,
            .chunk_bytes = LOWLAT_CHUNK_BYTES,
            .stream_bytes = SIZE_MAX,
            .segment = segment,
            .parts = parts + (size_t) rank * ranks,
        };
        good = make_levels(job->what->machine, &job->group[rank]);
    }
    return good && NULL != job->group;
}

static void free_groups(job_t *job)
{
    free(job->group[0].segment);
    free((void *) job->group[0].parts);
    free(job->group);
}

/* ---- calls ---- */

static int32_t number_of(unsigned rank, unsigned call, size_t i)
{
    return (int32_t) (rank * (1 + i % 7) + call * (i % 5 + 1));
}

static void fill(job_t *job, unsigned rank, unsigned call)
{
    int32_t *in = (int32_t *) (void *) at(job, rank, job->span.in_offset);

    for (size_t i = 0; i < job->what->bytes / sizeof *in; ++i) {
        in[i] = number_of(rank, call, i);
    }
    model_access_fill(in, job->what->bytes);
}

static void check(job_t *job, unsigned rank, unsigned call)
{
    const int32_t *out = (const int32_t *) (const void *) at(job, rank, job->span.out_offset);
    const unsigned ranks = job->what->ranks;

    for (size_t i = 0; i < job->what->bytes / sizeof *out; ++i) {
        const uint64_t sum = ranks * (ranks - 1) / 2 * (1 + i % 7) + ranks * call * (i % 5 + 1);
        job->wrong = job->wrong || out[i] != (int32_t) sum;
    }
}

static void call_arc(job_t *job, unsigned rank)
{
    const model_machine_t *machine = job->what->machine;
    lowlat_task_t task = {.group = &job->group[rank],
                          .reducer = &job->reducer,
                          .in = at(job, rank, job->span.in_offset),
                          .out = at(job, rank, job->span.out_offset),
                          .count = job->what->bytes / sizeof(int32_t),
                          .span_bytes = job->what->bytes,
                          .leader_bytes = job->way->leader ? SIZE_MAX : 0,
                          .flat = job->way->flat};

    job->way->start(&task);
    for (;;) {
        const arc_status_t status = task.task.ops->progress(&task.task);
        if (ARC_IN_PROGRESS != status) {
            job->wrong = job->wrong || ARC_OK != status;
            return;
        }
        model_clock_advance(machine->poll_ns);
    }
}

static void call_rival(job_t *job, unsigned rank, unsigned call)
{
    const model_rival_call_t rival = {.machine = job->what->machine,
                                      .memory = job->memory,
                                      .span_bytes = job->span.bytes,
                                      .in_offset = job->span.in_offset,
                                      .out_offset = job->span.out_offset,
                                      .work_offset = job->span.work_offset,
                                      .rank = rank,
                                      .ranks = job->what->ranks,
                                      .bytes = job->what->bytes,
                                      .call = call + 1};
    job->rival->run(&rival);
}

static void run_rank(void *context, unsigned rank)
{
    job_t *job = context;
    model_counts_t warm = {0};

    for (unsigned call = 0; call < calls_of(job); ++call) {
        fill(job, rank, call);
        model_clock_advance(job->what->machine->entry_ns);
        if (NULL != job->rival) {
            call_rival(job, rank, call);
        } else {
            call_arc(job, rank);
        }
        check(job, rank, call);
        job->ended_ns[call][rank] = model_clock_now();
        if (warm_calls_of(job) - 1 == call) {
            warm = model_access_counts();
        }
    }
    const model_counts_t all = model_access_counts();
    job->counts.read += all.read - warm.read;
    job->counts.fetched += all.fetched - warm.fetched;
    job->counts.across += all.across - warm.across;
}

/* ---- a job ---- */

const char *model_job_name(unsigned number)
{
    if (number < WAYS) {
        return ways[number].name;
    }
    number -= WAYS;
    return number < model_rivals_count ? model_rivals[number].name : NULL;
}

static void complain(void *context, const char *what)
{
    fprintf(stderr, "model: %s\n", what);
}

const char *model_job_auto(const model_case_t *what)
{
    lowlat_group_t group = {.ranks = what->ranks};
    lowlat_rules_t *rules = calloc(1, sizeof *rules);
    const char *name = NULL;

    if (NULL != rules && make_levels(what->machine, &group)) {
        const lowlat_shape_t shape = lowlat_shape_of(&group);
        lowlat_rules_init(rules, "", false, false, complain, NULL);
        name = lowlat_candidate_name(lowlat_rules_find(rules, &shape, what->bytes)->candidate);
    }
    free(rules);
    return name;
}

static bool find_algorithm(job_t *job)
{
    const bool is_auto = 0 == strcmp(job->what->algorithm, auto_name);
    const char *name = is_auto ? model_job_auto(job->what) : job->what->algorithm;

    for (unsigned i = 0; NULL != name && i < WAYS; ++i) {
        if (0 == strcmp(name, ways[i].name)) {
            job->way = &ways[i];
            return true;
        }
    }
    for (unsigned i = 0; NULL != name && i < model_rivals_count; ++i) {
        if (0 == strcmp(name, model_rivals[i].name)) {
            job->rival = &model_rivals[i];
            return true;
        }
    }
    return false;
}

/* The median of the calls behind the warm ones, from one mean end to the next. */
static double time_of(const job_t *job)
{
    const unsigned warm = warm_calls_of(job);
    const unsigned times = calls_of(job) - warm;
    double ns[CALLS];

    for (unsigned i = 0; i < times; ++i) {
        ns[i] = 0;
        for (unsigned rank = 0; rank < job->what->ranks; ++rank) {
            ns[i] += job->ended_ns[warm + i][rank] - job->ended_ns[warm + i - 1][rank];
        }
        ns[i] /= job->what->ranks;
    }
    return seconds_median(ns, times);
}

static span_t make_span(const model_case_t *what)
{
    const size_t bytes = what->bytes;
    const size_t segment_bytes = lowlat_segment_bytes(arena_of(what));
    const size_t rival_bytes = model_rival_bytes();
    span_t span;

    span.in_offset =
        arc_round_up(segment_bytes > rival_bytes ? segment_bytes : rival_bytes, LOWLAT_PAGE_BYTES);
    span.out_offset = arc_round_up(span.in_offset + bytes, LOWLAT_PAGE_BYTES);
    span.work_offset = arc_round_up(span.out_offset + bytes, LOWLAT_PAGE_BYTES);
    span.bytes = arc_round_up(span.work_offset + bytes, LOWLAT_PAGE_BYTES);
    return span;
}

bool model_job_run(const model_case_t *what, model_result_t *result)
{
    job_t *job = calloc(1, sizeof *job);

    if (NULL == job || what->ranks < 2 || what->ranks > (unsigned) what->machine->cores ||
        what->bytes < sizeof(int32_t) || 0 != what->bytes % sizeof(int32_t)) {
        free(job);
        return false;
    }
    job->what = what;
    job->span = make_span(what);
    job->reducer = (arc_reducer_t){model_sum, NULL, sizeof(int32_t), sizeof(int32_t), false, false};
    job->memory =
        model_access_begin(what->machine, what->ranks, job->span.bytes,
                           what->flags_in_one_line ? offsetof(lowlat_segment_t, left) : 0);
    const bool good = make_groups(job) && find_algorithm(job) &&
                      model_clock_run(what->ranks, run_rank, job, limit_ns) && !job->wrong;
    if (good) {
        const double calls = (double) what->ranks * (calls_of(job) - warm_calls_of(job));
        *result = (model_result_t){
            .us = time_of(job) / 1000,
            .lines_read = job->counts.read / calls,
            .lines_fetched = job->counts.fetched / calls,
            .lines_across = job->counts.across / calls,
        };
    }
    free_groups(job);
    model_access_end();
    free(job);
    return good;
}
