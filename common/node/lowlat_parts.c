/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "lowlat_by_levels.h"
#include "lowlat_memory.h"
#include "lowlat_parts.h"
#include "sizes.h"

void lowlat_parts_begin(lowlat_task_t *task, const arc_task_ops_t *ops, size_t chunk_bytes,
                        unsigned owners, size_t row_elems)
{
    const lowlat_group_t *group = task->group;

    lowlat_cut_pieces(task, arc_min(chunk_bytes, group->arena_bytes / LOWLAT_MIN_SLOTS), row_elems,
                      1);
    task->slots = arc_min(group->arena_bytes / (task->piece_elems * task->reducer->stride_bytes),
                          LOWLAT_MAX_SLOTS);
    assert(task->slots >= LOWLAT_MIN_SLOTS && owners > 0 && owners <= group->ranks);
    task->owners = owners;
    task->row_elems = row_elems;
    task->staged = 0;
    task->step = 0;
    task->reduced = 0;
    task->back = 0;
    task->gathered = 0;
    task->has_share = false;
    task->has_sharers = false;
    task->range[0] = (lowlat_range_t){0, owners};
    for (unsigned level = 0; level < lowlat_levels_of(task); ++level) {
        task->range[level + 1] = lowlat_share_of(task, level, lowlat_circle_on(task, level).own);
    }
    task->by_packets = task->by_packets && 1 == task->pieces &&
                       lowlat_levels_of(task) <= LOWLAT_PACKETS &&
                       task->count == lowlat_elems_of(task, 0, (lowlat_range_t){0, 1}).end;
    lowlat_task_begin(task, ops, task->pieces * lowlat_levels_of(task));
}

static void stage_elems(lowlat_task_t *task, size_t chunk, size_t first, size_t end)
{
    lowlat_stage(task, task->in, first, end, lowlat_part_offset(task, chunk, first));
}

/* The number of a step between the first and the last one of a chunk, in either direction. */
static size_t further(const lowlat_task_t *task, size_t chunk, unsigned step)
{
    return chunk * (lowlat_levels_of(task) - 1) + step;
}

static bool has_reached(const lowlat_task_t *task, unsigned level, unsigned rank,
                        lowlat_flag_t flag, size_t n)
{
    return task->by_packets ? lowlat_packet_arrived(task, rank, level)
                            : lowlat_flag_reached(task, rank, flag, n);
}

/* What a rank gives in a chunk on a level. */
static const unsigned char *given_at(const lowlat_task_t *task, unsigned level, unsigned rank,
                                     size_t chunk, size_t elem)
{
    return task->by_packets ? lowlat_packet(task, rank, level)->data
                            : lowlat_part_at(task, rank, chunk, elem);
}

/* Give what is in our slot. */
static void give(lowlat_task_t *task, unsigned level, lowlat_flag_t flag, size_t n)
{
    if (task->by_packets) {
        lowlat_packet_post(task, level, lowlat_part_at(task, task->group->rank, 0, 0),
                           task->span_bytes);
    } else {
        lowlat_flag_post(task, flag, n);
    }
}

/* Have the first `members` of our group but ourselves?  Remembers which ones have. */
static bool have_reached(lowlat_task_t *task, unsigned level, size_t members, lowlat_flag_t flag,
                         size_t n)
{
    const lowlat_circle_t circle = lowlat_circle_on(task, level);

    for (; task->peer < members; ++task->peer) {
        if (task->peer != circle.own &&
            !has_reached(task, level, lowlat_speaker(&circle, task->peer), flag, n)) {
            return false;
        }
    }
    task->peer = 0;
    return true;
}

/* Have all who read in our slots read a chunk?  They are those on whose levels we have a part. */
static bool is_read(lowlat_task_t *task, size_t chunk)
{
    for (unsigned level = 0;
         level < lowlat_levels_of(task) && lowlat_range_elems(task->range[level]) > 0; ++level) {
        if (!have_reached(task, level, lowlat_circle_on(task, level).members, LOWLAT_GATHERED,
                          chunk + 1)) {
            return false;
        }
    }
    return true;
}

/* ---- each of these acts on its next chunk; false: what it waits for has not come ---- */

static bool stage(lowlat_task_t *task)
{
    const size_t chunk = task->staged;

    if (chunk >= task->slots && !is_read(task, chunk - task->slots)) {
        return false;
    }
    const lowlat_range_t all = lowlat_elems_of(task, chunk, task->range[0]);
    const lowlat_range_t own = lowlat_elems_of(task, chunk, task->range[1]);
    if (task->by_packets) {
        task->staged += 1;
        if (own.end == own.first) {
            lowlat_packet_post(task, 0, task->in, task->span_bytes);
        }
        return true;
    }
    stage_elems(task, chunk, all.first, own.first);
    stage_elems(task, chunk, own.end, all.end);
    task->staged += 1;
    lowlat_flag_post(task, LOWLAT_STAGED, task->staged);
    return true;
}

/* What we reduce next.  It takes divisions, which no poll is to repeat. */
static lowlat_range_t next_share(lowlat_task_t *task)
{
    if (!task->has_share) {
        task->has_share = true;
        task->share = lowlat_elems_of(task, task->reduced, task->range[task->step + 1]);
    }
    return task->share;
}

/* What the sums of the members on the next level may be off: none of it on the first one. */
static void note_error(const lowlat_task_t *task, const lowlat_circle_t *circle, size_t elems)
{
    const unsigned level = task->step;
    const size_t chunk = task->reduced;
    double error = 0;

    for (unsigned i = 0; level > 0 && i < circle->members; ++i) {
        error += (double) *lowlat_error_at(task, lowlat_speaker(circle, i), chunk, level - 1);
    }
    *lowlat_error_at(task, task->group->rank, chunk, level) =
        task->group->sum_error(task, task->group->parts, circle->members, elems, error);
}

/* Reduce what the members of our group on the next level have of our share, if we have one. */
static bool reduce_into(lowlat_task_t *task, lowlat_range_t share, unsigned char *sum)
{
    const arc_reducer_t *reducer = task->reducer;
    const unsigned level = task->step;
    const lowlat_circle_t circle = lowlat_circle_on(task, level);
    const void **parts = task->group->parts;
    const size_t chunk = task->reduced;

    if (share.end == share.first) {
        task->has_share = false;
        return true;
    }
    if (!have_reached(task, level, circle.members, 0 == level ? LOWLAT_STAGED : LOWLAT_SUMMED,
                      0 == level ? chunk + 1 : further(task, chunk, level))) {
        return false;
    }
    for (unsigned i = 0; i < circle.members; ++i) {
        parts[i] = given_at(task, level, lowlat_speaker(&circle, i), chunk, share.first);
    }
    parts[circle.own] = 0 == level ? lowlat_in(task, share.first * reducer->stride_bytes)
                                   : lowlat_part_at(task, task->group->rank, chunk, share.first);
    if (NULL != task->group->sum_error) {
        note_error(task, &circle, lowlat_range_elems(share));
    }
    reducer->reduce(parts, circle.members, sum, lowlat_range_elems(share), reducer->context);
    task->has_share = false;
    return true;
}

/* On the next level.  The chunk is reduced behind the last one, or if others have all of it. */
static bool reduce(lowlat_task_t *task)
{
    const size_t chunk = task->reduced;
    const lowlat_range_t share = next_share(task);

    if (!reduce_into(task, share, lowlat_part_at(task, task->group->rank, chunk, share.first))) {
        return false;
    }
    task->step += 1;
    if (share.end > share.first && task->step < lowlat_levels_of(task)) {
        const lowlat_range_t next = lowlat_elems_of(task, chunk, task->range[task->step + 1]);
        if (!task->by_packets || next.end == next.first) {
            give(task, task->step, LOWLAT_SUMMED, further(task, chunk, task->step));
        }
        return true;
    }
    task->step = 0;
    task->reduced += 1;
    return true;
}

/* Reduce and publish at once; of one level. */
static bool complete(lowlat_task_t *task)
{
    const size_t chunk = task->reduced;
    const lowlat_range_t part = next_share(task);

    if (!reduce_into(task, part, lowlat_out(task, part.first * task->reducer->stride_bytes))) {
        return false;
    }
    task->reduced += 1;
    lowlat_stage(task, task->out, part.first, part.end,
                 lowlat_part_offset(task, chunk, part.first));
    lowlat_flag_post(task, LOWLAT_REDUCED, chunk + 1);
    return true;
}

static void copy_from_slot(const lowlat_task_t *task, size_t chunk, size_t first, size_t end)
{
    if (end > first) {
        lowlat_copy_out(task, lowlat_part_at(task, task->group->rank, chunk, first), first, end);
    }
}

/* Never waits: `chunk` is the next one, and our part of it is complete. */
static void publish(lowlat_task_t *task, size_t chunk)
{
    const lowlat_range_t part = lowlat_own_part(task, chunk);

    if (part.end > part.first) {
        give(task, lowlat_levels_of(task) - 1, LOWLAT_REDUCED, chunk + 1);
        /* After that: others wait for it, nobody waits for `out`. */
        copy_from_slot(task, chunk, part.first, part.end);
    }
}

/* The result of a chunk, as far as our group has it, from the members that own a share of it. */
static void take_shares(lowlat_task_t *task, size_t chunk, unsigned level, size_t sharers)
{
    const lowlat_circle_t circle = lowlat_circle_on(task, level);

    for (unsigned i = 1; i < circle.members; ++i) {
        /* Everybody begins with another one. */
        const unsigned member = (circle.own + i) % circle.members;
        if (member >= sharers) {
            continue;
        }
        const lowlat_range_t share =
            lowlat_elems_of(task, chunk, lowlat_share_of(task, level, member));
        const unsigned char *given =
            given_at(task, level, lowlat_speaker(&circle, member), chunk, share.first);
        if (0 == level) {
            lowlat_copy_out(task, given, share.first, share.end);
        } else {
            memcpy(lowlat_part_at(task, task->group->rank, chunk, share.first), given,
                   lowlat_piece_bytes(task, lowlat_range_elems(share), share.end));
        }
    }
}

/* On the next level inwards; behind the last one, 0, the chunk is gathered. */
static bool gather(lowlat_task_t *task)
{
    const size_t chunk = task->gathered;
    const unsigned outermost = lowlat_levels_of(task) - 1;
    const unsigned level = outermost - task->back;

    if (!task->has_sharers) {
        task->has_sharers = true;
        task->sharers = lowlat_sharers_of(task, chunk, level);
    }
    const size_t sharers = task->sharers;
    if (!have_reached(task, level, sharers, outermost == level ? LOWLAT_REDUCED : LOWLAT_SPREAD,
                      outermost == level ? chunk + 1 : further(task, chunk, task->back))) {
        return false;
    }
    take_shares(task, chunk, level, sharers);
    task->has_sharers = false;
    task->back += 1;
    if (level > 0) {
        if (sharers > 0) {
            const lowlat_range_t all = lowlat_elems_of(task, chunk, task->range[level]);
            const lowlat_range_t own = lowlat_elems_of(task, chunk, task->range[level + 1]);
            give(task, level - 1, LOWLAT_SPREAD, further(task, chunk, task->back));
            copy_from_slot(task, chunk, all.first, own.first);
            copy_from_slot(task, chunk, own.end, all.end);
        }
        return true;
    }
    task->back = 0;
    task->gathered += 1;
    lowlat_flag_post(task, LOWLAT_GATHERED, task->gathered);
    task->task.steps += 1;
    return true;
}

/* Is `rank` one of the first `members` of our group on a level, and has not reached a number? */
static bool is_behind(const lowlat_task_t *task, unsigned level, size_t members, unsigned rank,
                      lowlat_flag_t flag, size_t n)
{
    const lowlat_circle_t circle = lowlat_circle_on(task, level);
    unsigned member = 0;

    while (member < members && (member == circle.own || lowlat_speaker(&circle, member) != rank)) {
        ++member;
    }
    return member < members && !has_reached(task, level, rank, flag, n);
}

bool lowlat_parts_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    bool waits = false;

    if (rank == task->group->rank) { /* alone on its node a rank has no phases */
        return false;
    }
    const unsigned outermost = lowlat_levels_of(task) - 1;
    for (unsigned level = 0; task->staged < task->pieces && task->staged >= task->slots &&
                             level <= outermost && lowlat_range_elems(task->range[level]) > 0;
         ++level) {
        waits = waits || is_behind(task, level, lowlat_circle_on(task, level).members, rank,
                                   LOWLAT_GATHERED, task->staged - task->slots + 1);
    }
    if (task->reduced < task->pieces) {
        const lowlat_range_t share =
            lowlat_elems_of(task, task->reduced, task->range[task->step + 1]);
        const unsigned level = task->step;
        waits = waits ||
                (share.end > share.first &&
                 is_behind(task, level, lowlat_circle_on(task, level).members, rank,
                           0 == level ? LOWLAT_STAGED : LOWLAT_SUMMED,
                           0 == level ? task->reduced + 1 : further(task, task->reduced, level)));
    }
    if (task->gathered < task->reduced) {
        const unsigned level = outermost - task->back;
        waits = waits || is_behind(task, level, lowlat_sharers_of(task, task->gathered, level),
                                   rank, 0 == task->back ? LOWLAT_REDUCED : LOWLAT_SPREAD,
                                   0 == task->back ? task->gathered + 1
                                                   : further(task, task->gathered, task->back));
    }
    return waits;
}

/* ---- with an exchange between nodes in the middle ---- */

static bool do_what_can_be_done(lowlat_task_t *task, const lowlat_between_t *between)
{
    const size_t completed = between->completed(task);
    const size_t chunk = task->reduced;
    bool moved = task->exchanged < completed;

    for (; task->exchanged < completed; ++task->exchanged) {
        publish(task, task->exchanged);
        task->task.steps += 1;
    }
    /*
     * Each action begins its wait anew: others may have come between.  A slot of ours is free when
     * we have gathered its chunk ourselves: the others' flags tell that of an exchange of ours only
     * if there are others on the node.
     */
    if (task->staged < task->pieces && task->staged <= task->reduced + 1 &&
        task->staged < task->gathered + task->slots) {
        task->peer = 0;
        moved = stage(task) || moved;
    }
    if (task->reduced < task->staged &&
        (0 == between->room || task->reduced < task->exchanged + between->room)) {
        task->peer = 0;
        moved = reduce(task) || moved;
    }
    if (task->reduced > chunk) {
        between->begin(task, chunk);
    }
    if (task->gathered < task->exchanged) {
        task->peer = 0;
        moved = gather(task) || moved;
    }
    return moved;
}

arc_status_t lowlat_phases_progress(lowlat_task_t *task, const lowlat_between_t *between)
{
    for (;;) {
        const arc_status_t status = between->drive(&task->task);
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
        lowlat_by_levels_start(task, &task->group->levels, false);
        return;
    }
    task->levels = NULL;
    task->by_packets = false;
    lowlat_parts_begin(task, &ops, task->group->chunk_bytes, task->group->ranks,
                       lowlat_line_elems(task->reducer->stride_bytes));
    (void) stage(task);
}
