/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "model_between.h"

#include "coll_lowlat_settled.h"
#include "lowlat_memory.h"
#include "lowlat_parts.h"
#include "model_access.h"
#include "model_clock.h"
#include "model_machine.h"

double model_between_ns;

/* Of a core: when the exchange of a chunk is over. */
static double over_ns[MODEL_MOST_CORES][LOWLAT_MAX_SLOTS];

static double *over_of(const lowlat_task_t *task, size_t chunk)
{
    return &over_ns[task->group->rank][chunk % LOWLAT_MAX_SLOTS];
}

static void begin(lowlat_task_t *task, size_t chunk)
{
    *over_of(task, chunk) = model_clock_now() + model_between_ns;
}

static size_t completed(const lowlat_task_t *task)
{
    size_t chunk = task->exchanged;

    while (chunk < task->reduced && *over_of(task, chunk) <= model_clock_now()) {
        ++chunk;
    }
    return chunk;
}

static arc_status_t drive(arc_task_t *base)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;

    return completed(task) == task->reduced ? ARC_OK : ARC_IN_PROGRESS;
}

static arc_status_t progress(arc_task_t *base)
{
    static const lowlat_between_t between = {
        .room = LOWLAT_MAX_SLOTS, .begin = begin, .drive = drive, .completed = completed};

    return lowlat_phases_progress((lowlat_task_t *) base, &between);
}

static void start(lowlat_task_t *task, size_t chunk_bytes, size_t row_elems)
{
    static const arc_task_ops_t ops = {.progress = progress, .waits_for = lowlat_parts_waits_for};

    const unsigned most = task->span_bytes <= task->leader_bytes ? 1 : task->group->ranks;

    lowlat_parts_begin(task, &ops, chunk_bytes, lowlat_cut_owners(task, most), row_elems);
    task->exchanged = 0;
}

void model_between_start(lowlat_task_t *task)
{
    start(task, LOWLAT_NODES_CHUNK_BYTES, lowlat_line_elems(task->reducer->stride_bytes));
}

/* A look at all numbers takes as long as a sum of them that nobody keeps. */
static float look(const lowlat_task_t *task, const void *const *parts, unsigned count, size_t elems,
                  double error)
{
    static int32_t nowhere[256 << 10];

    assert(elems <= sizeof nowhere / sizeof nowhere[0] && 0 == error);
    model_sum(parts, count, nowhere, elems, task->reducer->context);
    return 0;
}

void model_between_quant_start(lowlat_task_t *task)
{
    enum { ROW_ELEMS = 64 };

    task->group->sum_error = look;
    start(task, SIZE_MAX, ROW_ELEMS);
}
