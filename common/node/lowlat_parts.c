/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "lowlat_memory.h"
#include "lowlat_parts.h"
#include "sizes.h"

static lowlat_range_t chunk_range(const lowlat_task_t *task, size_t chunk)
{
    const size_t first = chunk * task->piece_elems;
    return (lowlat_range_t){first, arc_min(task->count, first + task->piece_elems)};
}

lowlat_range_t lowlat_part(const lowlat_task_t *task, size_t chunk, unsigned rank)
{
    const lowlat_range_t whole = chunk_range(task, chunk);
    const size_t part_elems =
        arc_round_up(arc_divide_up(whole.end - whole.first, task->owners), task->row_elems);
    return (lowlat_range_t){arc_min(whole.end, whole.first + rank * part_elems),
                            arc_min(whole.end, whole.first + (rank + 1) * part_elems)};
}

static size_t arena_offset(const lowlat_task_t *task, size_t chunk, size_t elem)
{
    const size_t in_chunk = elem - chunk * task->piece_elems;
    return (chunk % task->slots * task->piece_elems + in_chunk) * task->reducer->stride_bytes;
}

unsigned char *lowlat_part_at(const lowlat_task_t *task, unsigned rank, size_t chunk, size_t elem)
{
    return lowlat_arena(task, rank) + arena_offset(task, chunk, elem);
}

void lowlat_parts_begin(lowlat_task_t *task, const arc_task_ops_t *ops, size_t chunk_bytes,
                        unsigned owners, size_t row_elems)
{
    const lowlat_group_t *group = task->group;
    const size_t stride_bytes = task->reducer->stride_bytes;
    const size_t max_bytes = arc_min(chunk_bytes, group->arena_bytes / LOWLAT_MIN_SLOTS);
    const size_t max_elems = max_bytes / (row_elems * stride_bytes) * row_elems;

    /* One chunk if it fits: functions that want whole vectors count on it. */
    task->piece_elems = task->count;
    if (task->count * stride_bytes > max_bytes) {
        /* Chunks of equal length, as near as whole rows allow. */
        const size_t chunks = arc_divide_up(task->count, max_elems);
        task->piece_elems = arc_round_up(arc_divide_up(task->count, chunks), row_elems);
    }
    task->pieces = arc_divide_up(task->count, task->piece_elems);
    task->slots =
        arc_min(group->arena_bytes / (task->piece_elems * stride_bytes), LOWLAT_MAX_SLOTS);
    assert(task->slots >= LOWLAT_MIN_SLOTS && owners > 0 && owners <= group->ranks);
    task->owners = owners;
    task->row_elems = row_elems;
    task->staged = 0;
    task->reduced = 0;
    task->gathered = 0;
    lowlat_task_begin(task, ops, task->pieces);
}

/* Stage the parts of ranks [first_rank, end_rank). */
static void stage_parts(lowlat_task_t *task, size_t chunk, unsigned first_rank, unsigned end_rank)
{
    const size_t first = lowlat_part(task, chunk, first_rank).first;
    const size_t end = end_rank > first_rank ? lowlat_part(task, chunk, end_rank - 1).end : first;
    lowlat_stage(task, task->in, first, end, arena_offset(task, chunk, first));
}

bool lowlat_parts_stage(lowlat_task_t *task)
{
    const lowlat_group_t *group = task->group;
    const size_t chunk = task->staged;

    if (chunk >= task->slots &&
        !lowlat_all_reached(task, LOWLAT_GATHERED, chunk - task->slots + 1)) {
        return false;
    }
    stage_parts(task, chunk, 0, group->rank);
    stage_parts(task, chunk, group->rank + 1, group->ranks);
    task->staged += 1;
    lowlat_flag_post(task, LOWLAT_STAGED, task->staged);
    return true;
}

/* Reduce the next chunk's part of ours into `sum`.  False: not all parts have come. */
static bool reduce_into(lowlat_task_t *task, unsigned char *sum)
{
    const lowlat_group_t *group = task->group;
    const arc_reducer_t *reducer = task->reducer;
    const size_t chunk = task->reduced;

    if (!lowlat_all_reached(task, LOWLAT_STAGED, chunk + 1)) {
        return false;
    }
    const lowlat_range_t part = lowlat_part(task, chunk, group->rank);
    for (unsigned rank = 0; rank < group->ranks; ++rank) {
        group->parts[rank] = lowlat_part_at(task, rank, chunk, part.first);
    }
    group->parts[group->rank] = lowlat_in(task, part.first * reducer->stride_bytes);
    if (part.end > part.first) {
        reducer->reduce(group->parts, group->ranks, sum, part.end - part.first, reducer->context);
    }
    task->reduced += 1;
    return true;
}

bool lowlat_parts_reduce(lowlat_task_t *task)
{
    const unsigned rank = task->group->rank;
    const size_t chunk = task->reduced;
    const lowlat_range_t part = lowlat_part(task, chunk, rank);

    return reduce_into(task, lowlat_part_at(task, rank, chunk, part.first));
}

bool lowlat_parts_complete(lowlat_task_t *task)
{
    const size_t chunk = task->reduced;
    const lowlat_range_t part = lowlat_part(task, chunk, task->group->rank);

    if (!reduce_into(task, lowlat_out(task, part.first * task->reducer->stride_bytes))) {
        return false;
    }
    lowlat_stage(task, task->out, part.first, part.end, arena_offset(task, chunk, part.first));
    lowlat_flag_post(task, LOWLAT_REDUCED, chunk + 1);
    return true;
}

void lowlat_parts_publish(lowlat_task_t *task, size_t chunk)
{
    const unsigned rank = task->group->rank;
    const lowlat_range_t part = lowlat_part(task, chunk, rank);

    lowlat_flag_post(task, LOWLAT_REDUCED, chunk + 1);
    /* After the flag: others wait for it, nobody waits for `out`. */
    lowlat_copy_out(task, lowlat_part_at(task, rank, chunk, part.first), part.first, part.end);
}

bool lowlat_parts_gather(lowlat_task_t *task)
{
    const lowlat_group_t *group = task->group;
    const size_t chunk = task->gathered;

    if (!lowlat_all_reached(task, LOWLAT_REDUCED, chunk + 1)) {
        return false;
    }
    for (unsigned i = 1; i < group->ranks; ++i) {
        /* Everybody begins with another one. */
        const unsigned rank = (group->rank + i) % group->ranks;
        const lowlat_range_t part = lowlat_part(task, chunk, rank);
        lowlat_copy_out(task, lowlat_part_at(task, rank, chunk, part.first), part.first, part.end);
    }
    task->gathered += 1;
    lowlat_flag_post(task, LOWLAT_GATHERED, task->gathered);
    task->task.steps += 1;
    return true;
}

bool lowlat_parts_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;

    if (rank == task->group->rank) {
        return false;
    }
    return (task->staged < task->pieces && task->staged >= task->slots &&
            !lowlat_flag_reached(task, rank, LOWLAT_GATHERED, task->staged - task->slots + 1)) ||
           (task->reduced < task->pieces &&
            !lowlat_flag_reached(task, rank, LOWLAT_STAGED, task->reduced + 1)) ||
           (task->gathered < task->reduced &&
            !lowlat_flag_reached(task, rank, LOWLAT_REDUCED, task->gathered + 1));
}
