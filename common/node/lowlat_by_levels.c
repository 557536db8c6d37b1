/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lowlat_by_levels.h"
#include "lowlat_memory.h"
#include "sizes.h"

/* ---- what a step is ---- */

/* Steps 0 .. L-1 go outwards, and L .. L+k-1 back, over the k levels that share out. */
static bool is_back(const lowlat_task_t *task)
{
    return task->step >= task->levels->count;
}

static unsigned level_of(const lowlat_task_t *task)
{
    return is_back(task) ? task->levels->count + task->sharing - 1 - task->step : task->step;
}

static const lowlat_level_t *own_level(const lowlat_task_t *task)
{
    return &task->levels->level[level_of(task)];
}

static bool shares_out(const lowlat_task_t *task)
{
    return level_of(task) < task->sharing;
}

/* Have we a share on this level, which shares out? */
static bool is_owner(const lowlat_task_t *task)
{
    return own_level(task)->own < task->owners;
}

/* The number that announces a step, on all ranks alike. */
static size_t number_of(const lowlat_task_t *task)
{
    return task->gathered * (task->levels->count + task->sharing) + task->step + 1;
}

/* ---- who has which part of the vector ---- */

/* Of each owner but the last in what its group has on the level. */
static size_t share_elems(const lowlat_task_t *task, unsigned level)
{
    return arc_round_up(
        arc_divide_up(lowlat_range_elems(task->range[level]), task->levels->level[level].owners),
        task->row_elems);
}

/* The share of a member in it. */
static lowlat_range_t share_of(const lowlat_task_t *task, unsigned level, unsigned member)
{
    const lowlat_range_t all = task->range[level];
    const size_t elems = share_elems(task, level);

    return (lowlat_range_t){arc_min(all.end, all.first + member * elems),
                            arc_min(all.end, all.first + (member + 1) * elems)};
}

static size_t offset_of(const lowlat_task_t *task, size_t elem)
{
    return elem * task->reducer->stride_bytes;
}

/* Where an element of the chunk is in an arena, if it is staged at its place in the vector. */
static size_t staged_at(const lowlat_task_t *task, size_t elem)
{
    return task->gathered % 2 * task->half_bytes + offset_of(task, elem - task->range[0].first);
}

/* Where the sum of a level that shares nothing out is. */
static size_t slot_at(const lowlat_task_t *task, unsigned level)
{
    return task->gathered % 2 * task->half_bytes + offset_of(task, level * task->piece_elems);
}

static void begin_chunk(lowlat_task_t *task)
{
    const size_t first = task->gathered * task->piece_elems;

    task->step = 0;
    task->posted = false;
    task->partial = task->in;
    task->range[0] = (lowlat_range_t){first, arc_min(task->count, first + task->piece_elems)};
}

/* ---- what others need of us in a step ---- */

static void stage_range(lowlat_task_t *task, const void *from, size_t first, size_t end)
{
    if (end > first) {
        lowlat_stage(task, from, first, end, staged_at(task, first));
    }
}

/* All of the level's range but for a part that we keep, or have staged before. */
static void stage_around(lowlat_task_t *task, const void *from, lowlat_range_t all,
                         lowlat_range_t but)
{
    stage_range(task, from, all.first, but.first);
    stage_range(task, from, but.end, all.end);
}

static void post_whole(lowlat_task_t *task)
{
    const unsigned level = task->step;
    const lowlat_range_t all = task->range[task->sharing];

    if (task->by_packets) {
        lowlat_packet_post(task, level,
                           (const unsigned char *) task->partial + offset_of(task, all.first),
                           lowlat_piece_bytes(task, lowlat_range_elems(all), all.end));
        return;
    }
    lowlat_stage(task, task->partial, all.first, all.end, slot_at(task, level));
    lowlat_flag_post(task, LOWLAT_STAGED, number_of(task));
}

static void post_step(lowlat_task_t *task)
{
    const unsigned level = level_of(task);

    task->posted = true;
    if (!shares_out(task)) {
        post_whole(task);
        return;
    }
    task->owners =
        (unsigned) arc_divide_up(lowlat_range_elems(task->range[level]), share_elems(task, level));
    if (!is_back(task)) {
        const lowlat_range_t own = share_of(task, level, own_level(task)->own);
        task->range[level + 1] = own;
        stage_around(task, task->partial, task->range[level], own);
    } else if (is_owner(task)) {
        /* Of a share that was shared out further, our share of it has been staged. */
        const lowlat_range_t share = task->range[level + 1];
        const bool further = level + 1 < task->sharing;
        stage_around(task, task->out, share,
                     further ? task->range[level + 2] : (lowlat_range_t){share.end, share.end});
    } else {
        return;
    }
    lowlat_flag_post(task, LOWLAT_STAGED, number_of(task));
}

/* ---- what we need of others ---- */

/* How many members, from the first on, we wait for in a step. */
static unsigned awaited(const lowlat_task_t *task)
{
    if (is_back(task)) {
        return task->owners;
    }
    return shares_out(task) && !is_owner(task) ? 0 : own_level(task)->members;
}

static bool has_arrived(const lowlat_task_t *task, unsigned rank)
{
    return !shares_out(task) && task->by_packets
               ? lowlat_packet_arrived(task, rank, task->step)
               : lowlat_flag_reached(task, rank, LOWLAT_STAGED, number_of(task));
}

static bool all_arrived(lowlat_task_t *task)
{
    const lowlat_level_t *level = own_level(task);
    const unsigned members = awaited(task);

    for (; task->peer < members; ++task->peer) {
        if (task->peer != level->own && !has_arrived(task, level->rank[task->peer])) {
            return false;
        }
    }
    task->peer = 0;
    return true;
}

static const void *part_of(const lowlat_task_t *task, unsigned rank, lowlat_range_t range)
{
    return !shares_out(task) && task->by_packets ? lowlat_packet(task, rank, task->step)->data
           : shares_out(task) ? lowlat_arena(task, rank) + staged_at(task, range.first)
                              : lowlat_arena(task, rank) + slot_at(task, task->step);
}

/* Add what the members have of a range, to `out`. */
static void add_range(lowlat_task_t *task, lowlat_range_t range)
{
    const lowlat_level_t *level = own_level(task);
    const arc_reducer_t *reducer = task->reducer;
    const void **parts = task->group->parts;
    const size_t offset_bytes = offset_of(task, range.first);

    for (unsigned i = 0; i < level->members; ++i) {
        parts[i] = i == level->own ? (const unsigned char *) task->partial + offset_bytes
                                   : part_of(task, level->rank[i], range);
    }
    if (range.end > range.first) {
        reducer->reduce(parts, level->members, lowlat_out(task, offset_bytes),
                        lowlat_range_elems(range), reducer->context);
    }
    task->partial = task->out;
}

static void copy_shares(const lowlat_task_t *task)
{
    const lowlat_level_t *level = own_level(task);

    for (unsigned i = 1; i < level->members; ++i) {
        /* Everybody begins with another one. */
        const unsigned member = (level->own + i) % level->members;
        const lowlat_range_t share = share_of(task, level_of(task), member);
        if (member < task->owners) {
            lowlat_copy_out(task,
                            lowlat_arena(task, level->rank[member]) + staged_at(task, share.first),
                            share.first, share.end);
        }
    }
}

/* What is awaited in a step has come: use it, and go on to the next one. */
static void take_step(lowlat_task_t *task)
{
    const unsigned level = level_of(task);
    const bool owns = is_owner(task);

    if (is_back(task)) {
        copy_shares(task);
    } else if (!shares_out(task)) {
        const lowlat_range_t all = task->range[task->sharing];
        if (task->by_packets) {
            lowlat_prefetch_other_packet(
                task, level, lowlat_piece_bytes(task, lowlat_range_elems(all), all.end));
        }
        add_range(task, all);
    } else if (owns) {
        add_range(task, task->range[level + 1]);
    }
    /* Who owns nothing on a level comes back there. */
    const bool comes_back = !is_back(task) && shares_out(task) && !owns;
    task->step = comes_back ? task->levels->count + task->sharing - 1 - level : task->step + 1;
    task->posted = false;
    task->task.steps += 1;
}

static arc_status_t by_levels_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    const unsigned steps = task->levels->count + task->sharing;

    while (task->gathered < task->pieces) {
        if (!task->posted) {
            post_step(task);
        }
        if (!all_arrived(task)) {
            return ARC_IN_PROGRESS;
        }
        take_step(task);
        if (steps == task->step) {
            task->gathered += 1;
            begin_chunk(task);
        }
    }
    return ARC_OK;
}

static bool by_levels_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    const lowlat_level_t *level = own_level(task);
    const unsigned members = awaited(task);

    for (unsigned i = 0; task->gathered < task->pieces && i < members; ++i) {
        if (i != level->own && rank == level->rank[i]) {
            return !has_arrived(task, rank);
        }
    }
    return false;
}

/* ---- how a message goes ---- */

/*
 * Are `bytes` bytes short enough not to be shared out from `level` on?  Where m members read them
 * whole they read (m-1)(m-2)/m times as many bytes more, and save a latency, which is worth so
 * many.
 */
static bool goes_whole(const lowlat_levels_t *levels, unsigned level, size_t bytes)
{
    enum { LATENCY_BYTES = 2048 };
    bool is_short = bytes <= LOWLAT_PACKET_DATA_BYTES;

    for (; is_short && level < levels->count; ++level) {
        const size_t owners = levels->level[level].owners;
        is_short = owners <= 2 || (owners - 1) * (owners - 2) * bytes <= LATENCY_BYTES * owners;
    }
    return is_short;
}

/* Levels that share out `elems` elements, until a share goes whole; at least one. */
static unsigned levels_to_share(const lowlat_task_t *task, size_t elems)
{
    const lowlat_levels_t *levels = task->levels;
    unsigned sharing = 0;

    if (levels->count > LOWLAT_PACKETS) {
        return levels->count;
    }
    do {
        elems = arc_round_up(arc_divide_up(elems, levels->level[sharing].owners), task->row_elems);
        ++sharing;
    } while (sharing < levels->count && !goes_whole(levels, sharing, offset_of(task, elems)));
    return sharing;
}

/*
 * Elements that shares are multiples of: whole lines, or what a packet's first line has room for if
 * no share is longer, so that a rank reads one line of each packet.
 */
static size_t row_elems_of(const lowlat_task_t *task, const lowlat_levels_t *levels)
{
    const size_t elems = LOWLAT_LINE_DATA_BYTES / task->reducer->stride_bytes;

    return task->count <= levels->level[0].owners * elems
               ? elems
               : lowlat_line_elems(task->reducer->stride_bytes);
}

void lowlat_by_levels_start(lowlat_task_t *task, const lowlat_levels_t *levels, bool whole)
{
    static const arc_task_ops_t ops = {.progress = by_levels_progress,
                                       .waits_for = by_levels_waits_for};
    const size_t stride_bytes = task->reducer->stride_bytes;
    /* In whole lines; it has room for one element, at least. */
    const size_t half_bytes =
        task->group->arena_bytes / 2 / LOWLAT_CACHE_LINE_BYTES * LOWLAT_CACHE_LINE_BYTES;
    const size_t slot_bytes = whole ? half_bytes / levels->count : 0;
    /* Without room for each level, too, which sums in the same order. */
    const bool shares = slot_bytes < stride_bytes;
    const bool fits = shares ? task->count * stride_bytes <= half_bytes
                             : task->span_bytes <= LOWLAT_PACKET_DATA_BYTES;

    task->levels = levels;
    task->half_bytes = half_bytes;
    task->row_elems = shares ? row_elems_of(task, levels) : 1;
    task->sharing = !shares ? 0 : fits ? levels_to_share(task, task->count) : levels->count;
    const size_t row_bytes = task->row_elems * stride_bytes;
    task->piece_elems =
        arc_min(task->count, (shares ? half_bytes : slot_bytes) / row_bytes * task->row_elems);
    task->pieces = arc_divide_up(task->count, task->piece_elems);
    task->by_packets = task->sharing < levels->count && levels->count <= LOWLAT_PACKETS &&
                       1 == task->pieces && fits;
    task->gathered = 0;
    begin_chunk(task);
    lowlat_task_begin(task, &ops, task->pieces * (levels->count + task->sharing));
    post_step(task);
}

/* ---- by pairs ---- */

void lowlat_half_butterfly_start(lowlat_task_t *task)
{
    lowlat_by_levels_start(task, &task->group->pairs, true);
}

void lowlat_butterfly_start(lowlat_task_t *task)
{
    lowlat_by_levels_start(task, &task->group->pairs, false);
}
