/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>

#include "lowlat_memory.h"
#include "lowlat_parts.h"
#include "lowlat_piped.h"
#include "sizes.h"

/* ---- our parts ---- */

size_t lowlat_own_elems(const lowlat_task_t *task)
{
    const size_t before = task->pieces - 1;

    return before * task->part_elems + lowlat_range_elems(lowlat_own_part(task, before));
}

/* Our part of the last chunk may be the longest one, and all others shorter, or empty. */
static size_t own_chunk(const lowlat_task_t *task, size_t number)
{
    const size_t last = task->pieces - 1;

    return 0 == task->part_elems ? last : arc_min(number / task->part_elems, last);
}

size_t lowlat_own_element(const lowlat_task_t *task, size_t number)
{
    const size_t chunk = own_chunk(task, number);

    return lowlat_own_part(task, chunk).first + number - chunk * task->part_elems;
}

unsigned char *lowlat_own_at(const lowlat_task_t *task, size_t number)
{
    return lowlat_part_at(task, task->group->rank, own_chunk(task, number),
                          lowlat_own_element(task, number));
}

float lowlat_own_error(const lowlat_task_t *task, size_t number)
{
    return *lowlat_error_at(task, task->group->rank, own_chunk(task, number),
                            lowlat_levels_of(task) - 1);
}

/* ---- a call ---- */

static bool is_running(const lowlat_task_t *task)
{
    return NULL != task->piped && task->piped->running;
}

arc_status_t lowlat_piped_drive(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;

    if (!is_running(task)) {
        return ARC_OK;
    }
    arc_task_t *exchange = task->piped->exchange;
    const uint64_t steps = exchange->steps;
    const arc_status_t status = exchange->ops->progress(exchange);
    task->task.steps += exchange->steps - steps;
    task->piped->running = ARC_IN_PROGRESS == status;
    return status;
}

unsigned lowlat_piped_awaits(const arc_task_t *base)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;

    for (unsigned node = 0;
         is_running(task) && node < exchange_pipeline_ranks(task->piped->exchange); ++node) {
        if (task->piped->exchange->ops->waits_for(task->piped->exchange, node)) {
            return node;
        }
    }
    return UINT_MAX;
}

void lowlat_piped_abort(arc_task_t *base)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;

    if (is_running(task)) {
        arc_task_abort(task->piped->exchange);
        task->piped->running = false;
    }
}

static void allow_chunk(lowlat_task_t *task, size_t chunk)
{
    if (NULL != task->piped) {
        exchange_pipeline_allow(task->piped->exchange, chunk + 1);
    }
}

/* Chunks in which we have no part are complete as soon as they are reduced. */
static size_t completed_chunks(const lowlat_task_t *task)
{
    return is_running(task)
               ? arc_min(task->reduced, exchange_pipeline_completed(task->piped->exchange))
               : task->reduced;
}

static arc_status_t progress(arc_task_t *base)
{
    static const lowlat_between_t between = {
        .begin = allow_chunk, .drive = lowlat_piped_drive, .completed = completed_chunks};

    return lowlat_phases_progress((lowlat_task_t *) base, &between);
}

void lowlat_piped_begin(lowlat_task_t *task, lowlat_piped_t *piped, size_t chunk_bytes,
                        unsigned owners, size_t row_elems)
{
    static const arc_task_ops_t ops = {.progress = progress,
                                       .waits_for = lowlat_parts_waits_for,
                                       .awaits = lowlat_piped_awaits,
                                       .abort = lowlat_piped_abort};

    task->exchanged = 0;
    lowlat_parts_begin(task, &ops, chunk_bytes, owners, row_elems);
    task->piped = lowlat_owns_part(task) ? piped : NULL;
    task->part_elems = lowlat_range_elems(lowlat_own_part(task, 0));
}

void lowlat_piped_start(lowlat_task_t *task, exchange_operation_t operation)
{
    operation.layout.chunks = task->pieces;
    operation.layout.chunk_elems = task->part_elems;
    operation.at_once = (unsigned) (task->slots + 1) / 2;
    task->piped->running = true;
    exchange_pipeline_start(task->piped->exchange, &operation);
}
