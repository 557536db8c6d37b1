/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_between.h"

#include "coll_lowlat_settled.h"
#include "lowlat_memory.h"
#include "lowlat_parts.h"
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

void model_between_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = progress, .waits_for = lowlat_parts_waits_for};

    const unsigned most = task->span_bytes <= task->leader_bytes ? 1 : task->group->ranks;

    lowlat_parts_begin(task, &ops, LOWLAT_NODES_CHUNK_BYTES, lowlat_cut_owners(task, most),
                       lowlat_line_elems(task->reducer->stride_bytes));
    task->exchanged = 0;
}
