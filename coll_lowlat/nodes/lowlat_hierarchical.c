/*
 * The exchange of the three phases of lowlat_parts.h by a schedule (lowlat_net.h).
 *
 * Up to E exchanges of a chunk are under way while further chunks are staged and reduced, so there
 * is room for chunk c once those of c-1 and before are over.  Short messages have one owner in each
 * node: one message instead of G.  A schedule has no circular wait when all its nodes run it.
 *
 * What is left of an operation is in a scratch of our own or in our set of the
 * arena; messages of one exchange are in order, those of others have other streams.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "lowlat_hierarchical.h"
#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_parts.h"

static lowlat_exchange_t *exchange_of(const lowlat_task_t *task, size_t chunk)
{
    return &task->group->net->exchange[chunk % LOWLAT_EXCHANGES];
}

/* ---- schedules: some exchanges of a chunk each at a time ---- */

static void begin_exchange(lowlat_task_t *task, size_t chunk)
{
    const unsigned rank = task->group->rank;
    const lowlat_range_t part = lowlat_part(task, chunk, rank);

    if (lowlat_range_elems(part) > 0) {
        lowlat_exchange_begin(exchange_of(task, chunk), task->group->net,
                              lowlat_part_at(task, rank, chunk, part.first),
                              lowlat_range_elems(part));
    }
}

static arc_status_t drive_exchanges(lowlat_task_t *task)
{
    arc_status_t all = ARC_OK;

    for (size_t chunk = task->exchanged; chunk < task->reduced; ++chunk) {
        lowlat_exchange_t *exchange = exchange_of(task, chunk);
        if (NULL != exchange->vector) {
            arc_task_t *steps = &exchange->steps.task;
            const unsigned long before = steps->steps;
            const arc_status_t status = steps->ops->progress(steps);
            task->task.steps += steps->steps - before;
            if (ARC_OK != status && ARC_IN_PROGRESS != status) {
                return status;
            }
            all = ARC_IN_PROGRESS == status ? status : all;
        }
    }
    return all;
}

static size_t completed_chunks(const lowlat_task_t *task)
{
    size_t chunk = task->exchanged;

    while (chunk < task->reduced && NULL == exchange_of(task, chunk)->vector) {
        ++chunk;
    }
    return chunk;
}

static arc_status_t progress(arc_task_t *base)
{
    static const lowlat_between_t between = {.room = LOWLAT_EXCHANGES,
                                             .begin = begin_exchange,
                                             .drive = drive_exchanges,
                                             .completed = completed_chunks};

    return lowlat_phases_progress((lowlat_task_t *) base, &between);
}

static unsigned awaits(const arc_task_t *base)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    const lowlat_net_t *net = task->group->net;
    unsigned node = net->nodes;

    for (size_t chunk = task->exchanged; chunk < task->reduced && node == net->nodes; ++chunk) {
        node = lowlat_exchange_awaited(exchange_of(task, chunk), net);
    }
    return node;
}

static void give_up(arc_task_t *base)
{
    lowlat_net_abort(((lowlat_task_t *) base)->group->net);
}

static void start(lowlat_task_t *task, lowlat_schedule_fn_t schedule)
{
    static const arc_task_ops_t ops = {.progress = progress,
                                       .waits_for = lowlat_parts_waits_for,
                                       .awaits = awaits,
                                       .abort = give_up};
    lowlat_net_t *net = task->group->net;

    net->schedule = schedule;
    net->reducer = task->reducer;
    lowlat_parts_begin(task, &ops, net->chunk_bytes,
                       task->span_bytes <= task->leader_bytes ? 1 : net->owners,
                       lowlat_line_elems(task->reducer->stride_bytes));
    task->exchanged = 0;
}

void lowlat_doubling_start(lowlat_task_t *task)
{
    start(task, lowlat_schedule_doubling);
}

void lowlat_halving_start(lowlat_task_t *task)
{
    start(task, lowlat_schedule_halving);
}
