/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "lowlat_by_levels.h"
#include "lowlat_memory.h"
#include "lowlat_parts.h"
#include "sizes.h"

lowlat_range_t lowlat_part(const lowlat_task_t *task, size_t chunk, unsigned rank)
{
    const size_t first = chunk * task->piece_elems;
    const size_t end = arc_min(task->count, first + task->piece_elems);
    const size_t part_elems =
        arc_round_up(arc_divide_up(end - first, task->owners), task->row_elems);
    return (lowlat_range_t){arc_min(end, first + rank * part_elems),
                            arc_min(end, first + (rank + 1) * part_elems)};
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

/* ---- each of these acts on its next chunk; false: what it waits for has not come ---- */

static bool stage(lowlat_task_t *task)
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

static bool reduce(lowlat_task_t *task)
{
    const unsigned rank = task->group->rank;
    const size_t chunk = task->reduced;
    const lowlat_range_t part = lowlat_part(task, chunk, rank);

    return reduce_into(task, lowlat_part_at(task, rank, chunk, part.first));
}

/* Reduce and publish at once. */
static bool complete(lowlat_task_t *task)
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

/* Never waits: `chunk` is the next one, and our part of it is complete. */
static void publish(lowlat_task_t *task, size_t chunk)
{
    const unsigned rank = task->group->rank;
    const lowlat_range_t part = lowlat_part(task, chunk, rank);

    lowlat_flag_post(task, LOWLAT_REDUCED, chunk + 1);
    /* After the flag: others wait for it, nobody waits for `out`. */
    lowlat_copy_out(task, lowlat_part_at(task, rank, chunk, part.first), part.first, part.end);
}

static bool gather(lowlat_task_t *task)
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

/* ---- with an exchange between nodes in the middle ---- */

static bool reduce_and_begin(lowlat_task_t *task, const lowlat_between_t *between)
{
    const size_t chunk = task->reduced;

    task->peer = 0;
    if (!reduce(task)) {
        return false;
    }
    between->begin(task, chunk);
    return true;
}

/* Each action begins its wait anew: others may have come between. */
static bool try_action(lowlat_task_t *task, bool (*action)(lowlat_task_t *))
{
    task->peer = 0;
    return action(task);
}

/* Publish the chunks that are complete, in order. */
static bool publish_completed(lowlat_task_t *task, size_t completed)
{
    const size_t before = task->exchanged;

    for (; task->exchanged < completed; ++task->exchanged) {
        publish(task, task->exchanged);
        task->task.steps += 1;
    }
    return task->exchanged > before;
}

static bool do_what_can_be_done(lowlat_task_t *task, const lowlat_between_t *between)
{
    bool moved = publish_completed(task, between->completed(task));

    /*
     * A slot of ours is free when we have gathered its chunk ourselves: the others' flags tell that
     * of an exchange of ours only if there are others on the node.
     */
    if (task->staged < task->pieces && task->staged <= task->reduced + 1 &&
        task->staged < task->gathered + task->slots) {
        moved = try_action(task, stage) || moved;
    }
    if (task->reduced < task->staged &&
        (0 == between->room || task->reduced < task->exchanged + between->room)) {
        moved = reduce_and_begin(task, between) || moved;
    }
    if (task->gathered < task->exchanged) {
        moved = try_action(task, gather) || moved;
    }
    return moved;
}

arc_status_t lowlat_phases_progress(lowlat_task_t *task, const lowlat_between_t *between)
{
    for (;;) {
        const arc_status_t status = between->drive(task);
        if (ARC_OK != status && ARC_IN_PROGRESS != status) {
            arc_task_abort(&task->task);
            return status;
        }
        const bool moved = do_what_can_be_done(task, between);
        if (task->gathered == task->pieces && ARC_OK == status) {
            return ARC_OK;
        }
        if (!moved) {
            task->task.memory_only = ARC_OK == status;
            return ARC_IN_PROGRESS;
        }
    }
}

/* ---- two-shot ---- */

/*
 * Two-shot allreduce through mapped memory: a direct reduce-scatter, then a
 * direct allgather; the header has the parts, slots and waits.
 *
 *   cost      2 alpha + 2 (P-1)/P n beta + (P-1)/P n gamma
 *   good for  long n: the bytes moved do not grow with P
 *
 *   order     stage 0 | stage 1, reduce 0 | stage 2, reduce 1, gather 0 | ...
 *
 * A part is published as soon as it is reduced.
 *
 * Why nobody waits for ever.  Take the rank whose next action comes first in the
 * order above; all others have done every action before it.  Reduce k and
 * gather k find their flags set.  Stage k+1 needs gather k+1-S of the others;
 * they have done all before stage k+1, gather k-2 among it: S >= 3 suffices.
 *
 * The reduction runs in rank order, so the result is the same, bit for bit, as
 * that of one-shot; so it is on a node with levels, where both go by these
 * (lowlat_by_levels.h).
 *
 * Source: algorithm 2 of "Latency-optimal allreduce and cuda graph
 * optimization"; its barriers are the flags here.
 */

/* The next action in the order of the picture; every wait is a return. */
static arc_status_t twoshot_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;

    while (task->gathered < task->pieces) {
        if (task->staged < task->pieces && task->staged <= task->reduced + 1 &&
            task->staged <= task->gathered + 2) {
            if (!stage(task)) {
                return ARC_IN_PROGRESS;
            }
        } else if (task->reduced < task->pieces && task->reduced <= task->gathered + 1) {
            if (!complete(task)) {
                return ARC_IN_PROGRESS;
            }
        } else if (!gather(task)) {
            return ARC_IN_PROGRESS;
        }
    }
    return ARC_OK;
}

void lowlat_twoshot_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = twoshot_progress,
                                       .waits_for = lowlat_parts_waits_for};

    if (lowlat_goes_by_levels(task)) {
        lowlat_shared_start(task, &task->group->levels);
        return;
    }
    lowlat_parts_begin(task, &ops, task->group->chunk_bytes, task->group->ranks,
                       lowlat_line_elems(task->reducer->stride_bytes));
    (void) stage(task);
}
