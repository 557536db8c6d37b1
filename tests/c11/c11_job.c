/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "c11_hooks.h"
#include "c11_job.h"

#include <stdlib.h>
#include <string.h>

#include "coll_lowlat_settled.h"
#include "lowlat_by_levels.h"
#include "lowlat_memory.h"
#include "lowlat_rules.h"
#include "lowlat_staging.h"
#include "sizes.h"
#include "testlib.h"

static const struct {
    const char *name;
    void (*start)(lowlat_task_t *task);
} algorithms[] = {
#define X(_id, _prefix, _name, _reproducible, _description) {_name, _prefix##_start},
    LOWLAT_NODE_TABLE(X)
#undef X
};

typedef struct job {
    const c11_case_t *what;
    lowlat_segment_t *segment[C11_MOST_RANKS];
    const void *parts[C11_MOST_RANKS][C11_MOST_RANKS];
    lowlat_group_t group[C11_MOST_RANKS];
    arc_reducer_t reducer;
} job_t;

static size_t segment_bytes(void)
{
    return arc_round_up(lowlat_segment_bytes(C11_ARENA_BYTES), LOWLAT_PAGE_BYTES);
}

static void sum(const void *const *parts, unsigned n, void *out, size_t count, const void *context)
{
    int32_t *sums = out;

    for (unsigned part = 0; part < n; ++part) {
        c11_read(parts[part], count * sizeof *sums);
    }
    c11_write(out, count * sizeof *sums);
    for (size_t i = 0; i < count; ++i) {
        int32_t all = 0;
        for (unsigned part = 0; part < n; ++part) {
            all += ((const int32_t *) parts[part])[i];
        }
        sums[i] = all;
    }
}

static void no_fence(void)
{
}

static void prepare(void *context, unsigned char *memory)
{
    job_t *job = context;
    const c11_case_t *what = job->what;
    unsigned levels = 0;

    while (levels < LOWLAT_MAX_LEVELS && 0 != what->members[levels]) {
        ++levels;
    }
    for (unsigned rank = 0; rank < what->ranks; ++rank) {
        lowlat_group_t *group = &job->group[rank];
        job->segment[rank] = (lowlat_segment_t *) (void *) (memory + rank * segment_bytes());
        *group = (lowlat_group_t){
            .rank = rank,
            .ranks = what->ranks,
            .arena_bytes = C11_ARENA_BYTES,
            .block_bytes = C11_BLOCK_BYTES,
            .chunk_bytes = C11_BLOCK_BYTES,
            .stream_bytes = what->streams ? 0 : SIZE_MAX,
            .streaming = c11_streaming,
            .segment = job->segment,
            .parts = job->parts[rank],
        };
        if (what->no_fence) {
            group->streaming.fence = no_fence;
        }
        if (!lowlat_levels_by_pairs(&group->pairs, rank, what->ranks) ||
            (0 != levels &&
             !lowlat_levels_by_numbers(&group->levels, rank, what->ranks, what->members, levels))) {
            abort();
        }
    }
}

static arc_status_t run_task(void *context, lowlat_task_t *task)
{
    while (ARC_IN_PROGRESS == task->task.ops->progress(&task->task)) {
        if (!c11_polled_in_vain()) {
            return ARC_ERR_TIMEOUT;
        }
    }
    return ARC_OK;
}

static void call(job_t *job, unsigned rank, unsigned number)
{
    const c11_call_t *call = &job->what->call[number];
    int32_t in[C11_MOST_NUMBERS];
    int32_t out[C11_MOST_NUMBERS];
    lowlat_task_t task = {.group = &job->group[rank],
                          .reducer = &job->reducer,
                          .in = in,
                          .out = out,
                          .count = call->count,
                          .span_bytes = call->count * sizeof in[0]};

    for (size_t i = 0; i < call->count; ++i) {
        in[i] = (int32_t) ((number + 1) * 1000 + (rank + 1) * (1 + i % 7));
    }
    size_t algorithm = 0;
    while (0 != strcmp(algorithms[algorithm].name, call->algorithm)) {
        ++algorithm;
    }
    algorithms[algorithm].start(&task);
    if (ARC_OK != run_task(NULL, &task)) {
        return;
    }
    for (size_t i = 0; i < call->count; ++i) {
        const unsigned ranks = job->what->ranks;
        if (out[i] !=
            (int32_t) (ranks * (number + 1) * 1000 + ranks * (ranks + 1) / 2 * (1 + i % 7))) {
            c11_complain("a wrong sum");
            return;
        }
    }
    if (job->what->one_buffer_set) {
        job->group[rank].sequence += LOWLAT_BUFFER_SETS - 1;
    }
}

/* Most ranks tell one way: all must come to that. */
static void agree(job_t *job, unsigned rank)
{
    lowlat_group_t *group = &job->group[rank];

    if (ARC_OK != lowlat_staging_agree(group,
                                       0 == rank ? LOWLAT_WAY_ORDINARY : LOWLAT_WAY_STREAMING,
                                       run_task, NULL) ||
        (2 != group->ranks && LOWLAT_WAY_STREAMING != group->way)) {
        c11_complain("no agreement on how to stage");
    }
    for (unsigned looks = 0; 0 == rank && looks < 2; ++looks) {
        lowlat_staging_note(group, 100); /* that is far from 0 */
    }
}

static void leave(job_t *job, unsigned rank)
{
    lowlat_segment_t *segment = job->segment[0];

    if (0 != rank) {
        lowlat_leave(segment);
        return;
    }
    while (0 == lowlat_left(segment)) {
        if (!c11_polled_in_vain()) {
            return;
        }
    }
    c11_write(segment->arena, C11_ARENA_BYTES);
}

static void body(void *context, unsigned rank)
{
    job_t *job = context;

    for (unsigned i = 0; i < C11_MOST_CALLS && NULL != job->what->call[i].algorithm; ++i) {
        call(job, rank, i);
        if (1 == i && job->what->agrees && !lowlat_staging_changed(&job->group[rank])) {
            c11_complain("what a rank told before a call is not known after it");
        }
        if (0 == i && job->what->agrees) {
            agree(job, rank);
        }
    }
    if (job->what->leaves) {
        leave(job, rank);
    }
}

static c11_run_t run_of(job_t *job, const c11_case_t *what)
{
    memset(job, 0, sizeof *job);
    job->what = what;
    job->reducer = (arc_reducer_t){sum, NULL, sizeof(int32_t), sizeof(int32_t), false, false};
    return (c11_run_t){.ranks = what->ranks,
                       .bytes = what->ranks * segment_bytes(),
                       .prepare = prepare,
                       .body = body,
                       .context = job};
}

const char *c11_job_any(const c11_case_t *what, uint64_t seed)
{
    static job_t job;
    const c11_run_t run = run_of(&job, what);

    (void) c11_run_any(&run, seed);
    return c11_wrong();
}

const char *c11_job_all(const c11_case_t *what, size_t most, size_t *runs)
{
    static job_t job;
    const c11_run_t run = run_of(&job, what);

    *runs = c11_run_all(&run, most);
    return c11_wrong();
}
