/*
 * One-shot allreduce through mapped memory, in two forms.
 *
 *   cost      alpha + (P-1) n beta + (P-1) n gamma     one latency, alpha being
 *             the time for a cache line to reach another core
 *   good for  small n: everybody adds everything, so the work grows with P
 *
 * packets  n <= 632 bytes.  The data are right behind the sequence number, which readers poll.
 *
 * staged   any n.  The vector is copied into the arena in blocks, one block
 *          ahead of the reduction, so that peers read block b while we write
 *          block b+1:
 *
 *            stage 0 | stage 1, reduce 0 | stage 2, reduce 1 | ...
 *
 *          The arena is a ring of S slots; block b is in slot b mod S.
 *
 *          Why a slot is free.  A rank stages block b only once it has reduced
 *          block b-2.  So a peer that has staged f blocks has reduced f-2, and
 *          needs block b-S of ours no more when f >= b-S+3.  No other credit is
 *          needed.
 *          Why nobody waits for ever.  The rank that has staged least, m blocks,
 *          needs m-S+3 from the others, who have m or more: S >= 3 suffices.  To
 *          reduce block b it needs b+1 from the others, and the least is b+1.
 *
 * A rank adds its own part from `in`, not from its segment: the peers have
 * fetched those lines by then, and to read them back costs another transfer
 * (measured: 0.19 against 0.14 us for 8 bytes between distant cores).
 *
 * The sum runs in rank order, never in arrival order: all ranks add the same
 * numbers in the same order and return the same bits.  On a node with levels
 * it goes by these (lowlat_by_levels.h).
 *
 * With a packet of one line, and with the way of staging that prefetches (lowlat_staging.h), a rank
 * fetches the lines that it will write in the next operation, if that is like this one, for
 * writing: the peers have these lines, and to get them back while storing costs as much as the
 * reading.  Not before the peers have been seen: one that still is in the last operation would
 * lose lines that it is reading.  Longer packets and blocks do without where the trial of staging
 * found that it does not pay: between near cores, where the peers are soon back to poll, packets
 * take a third longer with it; between cores of a Xeon those of 512 bytes take a third longer
 * without.
 *
 * Source: algorithm 1 of "Latency-optimal allreduce and cuda graph optimization".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "lowlat_by_levels.h"
#include "lowlat_memory.h"
#include "sizes.h"

/* out = part(0) op ... op part(P-1), where part(p) is at parts[p]. */
static void sum_parts(const lowlat_task_t *task, size_t offset_bytes, size_t count)
{
    task->reducer->reduce(task->group->parts, task->group->ranks, lowlat_out(task, offset_bytes),
                          count, task->reducer->context);
}

/* ---- packets ---- */

static arc_status_t packet_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    const lowlat_group_t *group = task->group;

    for (; task->peer < group->ranks; ++task->peer) {
        if (task->peer != group->rank && !lowlat_packet_arrived(task, task->peer, 0)) {
            return ARC_IN_PROGRESS;
        }
        group->parts[task->peer] = lowlat_packet(task, task->peer, 0)->data;
    }
    lowlat_prefetch_other_packet(task, 0, task->span_bytes);
    group->parts[group->rank] = task->in;
    sum_parts(task, 0, task->count);
    return ARC_OK;
}

static bool packet_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    return rank != task->group->rank && !lowlat_packet_arrived(task, rank, 0);
}

static void packet_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = packet_progress, .waits_for = packet_waits_for};

    lowlat_task_begin(task, &ops, 0);
    lowlat_packet_post(task, 0, task->in, task->span_bytes);
}

/* ---- staged ---- */

static size_t block_bytes(const lowlat_task_t *task)
{
    return task->piece_elems * task->reducer->stride_bytes;
}

static size_t slot_offset(const lowlat_task_t *task, size_t block)
{
    /* The first blocks, or the only one, without a division: it takes as long as a short copy. */
    return (block < task->slots ? block : block % task->slots) * block_bytes(task);
}

static size_t block_end(const lowlat_task_t *task, size_t block)
{
    return arc_min(task->count, (block + 1) * task->piece_elems);
}

/* Copy the next block into our arena and tell the peers. */
static void stage_block(lowlat_task_t *task)
{
    const size_t block = task->staged;

    lowlat_stage(task, task->in, block * task->piece_elems, block_end(task, block),
                 slot_offset(task, block));
    task->staged += 1;
    lowlat_flag_post(task, LOWLAT_STAGED, task->staged);
}

/* Stage one block ahead of the reduction.  False: the slot is not free yet. */
static bool stage_ahead(lowlat_task_t *task)
{
    while (task->staged < task->pieces && task->staged <= task->reduced + 1) {
        if (task->staged >= task->slots &&
            !lowlat_all_reached(task, LOWLAT_STAGED,
                                task->staged - task->slots + LOWLAT_MIN_SLOTS)) {
            return false;
        }
        stage_block(task);
    }
    return true;
}

static void reduce_block(lowlat_task_t *task)
{
    const lowlat_group_t *group = task->group;
    const size_t block = task->reduced;
    const size_t offset_bytes = block * block_bytes(task);

    for (unsigned rank = 0; rank < group->ranks; ++rank) {
        group->parts[rank] = lowlat_arena(task, rank) + slot_offset(task, block);
    }
    group->parts[group->rank] = lowlat_in(task, offset_bytes);
    sum_parts(task, offset_bytes, block_end(task, block) - block * task->piece_elems);
    task->reduced += 1;
    task->task.steps += 1;
}

static arc_status_t staged_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    const lowlat_group_t *group = task->group;
    const bool prefetches = task->span_bytes <= group->prefetch_bytes;

    while (task->reduced < task->pieces) {
        if (!stage_ahead(task) || !lowlat_all_reached(task, LOWLAT_STAGED, task->reduced + 1)) {
            return ARC_IN_PROGRESS;
        }
        if (0 == task->reduced && prefetches) {
            lowlat_prefetch_other_set(task, task->span_bytes);
        }
        reduce_block(task);
    }
    if (prefetches) {
        arc_cpu_prefetch_for_write(&group->segment[group->rank]->flag[LOWLAT_STAGED].value);
    }
    return ARC_OK;
}

static bool staged_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    return rank != task->group->rank &&
           !lowlat_flag_reached(task, rank, LOWLAT_STAGED, task->reduced + 1);
}

static void staged_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = staged_progress, .waits_for = staged_waits_for};
    const size_t stride_bytes = task->reducer->stride_bytes;
    const lowlat_group_t *group = task->group;
    const size_t max_bytes = arc_min(group->block_bytes, group->arena_bytes / LOWLAT_MIN_SLOTS);

    task->piece_elems = task->count;
    task->pieces = 1;
    task->slots = LOWLAT_MIN_SLOTS;
    if (task->count * stride_bytes > max_bytes) {
        task->piece_elems = max_bytes < stride_bytes ? 1 : max_bytes / stride_bytes;
        task->pieces = arc_divide_up(task->count, task->piece_elems);
        task->slots = group->arena_bytes / block_bytes(task);
    }
    assert(task->slots >= LOWLAT_MIN_SLOTS);
    task->staged = 0;
    task->reduced = 0;
    lowlat_task_begin(task, &ops, task->pieces);
    stage_block(task);
}

void lowlat_oneshot_start(lowlat_task_t *task)
{
    if (lowlat_goes_by_levels(task)) {
        lowlat_by_levels_start(task, &task->group->levels, true);
    } else if (task->span_bytes <= LOWLAT_PACKET_DATA_BYTES) {
        packet_start(task);
    } else {
        staged_start(task);
    }
}
