/*
 * Two-shot allreduce through mapped memory: a direct reduce-scatter, then a
 * direct allgather.
 *
 *   cost      2 alpha + 2 (P-1)/P n beta + (P-1)/P n gamma
 *   good for  long n: the bytes moved do not grow with P
 *
 * The vector is cut into chunks, the chunk into P parts of whole cache lines;
 * rank p sums part p.  The arena is a ring of S slots of a chunk each; chunk k
 * is in slot k mod S, so that what moves stays in the caches:
 *
 *   stage k    copy the parts of the *others* into our slot         STAGED   k+1
 *   reduce k   own part of all ranks -> our slot, and `out`         REDUCED  k+1
 *   gather k   copy every other rank's part from its slot to `out`  GATHERED k+1
 *
 *   order      stage 0 | stage 1, reduce 0 | stage 2, reduce 1, gather 0 | ...
 *
 * Waits: reduce k for STAGED > k of all peers, gather k for REDUCED > k of all
 * peers, stage k for GATHERED >= k-S+1 of all peers: they have then read all of
 * chunk k-S from our slot, and REDUCED came before that.
 *
 * Why nobody waits for ever.  Take the rank whose next action comes first in the
 * order above; all others have done every action before it.  Reduce k and
 * gather k find their flags set.  Stage k+1 needs gather k+1-S of the others;
 * they have done all before stage k+1, gather k-2 among it: S >= 3 suffices.
 *
 * In place: a rank overwrites a part of a chunk in `out` only after it has
 * staged it (parts of others) or read it (its own).
 *
 * The reduction runs in rank order, so the result is the same, bit for bit, as
 * that of one-shot.  A short vector leaves some ranks with empty parts; they
 * set and await the flags all the same (lowlat.h).
 *
 * Source: algorithm 2 of "Latency-optimal allreduce and cuda graph
 * optimization"; its barriers are the flags here.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "lowlat_memory.h"
#include "lowlat_twoshot.h"

/* Elements [first, end) of the vector. */
typedef struct range {
    size_t first;
    size_t end;
} range_t;

static range_t chunk_range(const lowlat_task_t *task, size_t chunk)
{
    const size_t first = chunk * task->piece_elems;
    return (range_t){first, lowlat_min(task->count, first + task->piece_elems)};
}

static range_t part_range(const lowlat_task_t *task, size_t chunk, unsigned rank)
{
    const range_t whole = chunk_range(task, chunk);
    const size_t part_elems =
        lowlat_round_up(lowlat_divide_up(whole.end - whole.first, task->group->ranks),
                        lowlat_line_elems(task->reducer->stride_bytes));
    return (range_t){lowlat_min(whole.end, whole.first + rank * part_elems),
                     lowlat_min(whole.end, whole.first + (rank + 1) * part_elems)};
}

/* Where element `elem` of the chunk is in an arena. */
static size_t arena_offset(const lowlat_task_t *task, size_t chunk, size_t elem)
{
    const size_t in_chunk = elem - chunk * task->piece_elems;
    return (chunk % task->slots * task->piece_elems + in_chunk) * task->reducer->stride_bytes;
}

/* The ranks in the order in which we turn to them: everybody starts with another one. */
static unsigned peer_at(const lowlat_group_t *group, unsigned i)
{
    return (group->rank + i) % group->ranks;
}

static void stage_parts(lowlat_task_t *task, size_t chunk, unsigned first_rank, unsigned end_rank)
{
    const size_t first = part_range(task, chunk, first_rank).first;
    const size_t end = end_rank > first_rank ? part_range(task, chunk, end_rank - 1).end : first;
    lowlat_stage(task, task->in, first, end, arena_offset(task, chunk, first));
}

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

static bool reduce(lowlat_task_t *task)
{
    const lowlat_group_t *group = task->group;
    const arc_reducer_t *reducer = task->reducer;
    const size_t chunk = task->reduced;

    if (!lowlat_all_reached(task, LOWLAT_STAGED, chunk + 1)) {
        return false;
    }
    const range_t part = part_range(task, chunk, group->rank);
    const size_t offset = arena_offset(task, chunk, part.first);
    unsigned char *sum = lowlat_arena(task, group->rank) + offset;
    for (unsigned rank = 0; rank < group->ranks; ++rank) {
        group->parts[rank] = lowlat_arena(task, rank) + offset;
    }
    group->parts[group->rank] = lowlat_in(task, part.first * reducer->stride_bytes);
    if (part.end > part.first) {
        reducer->reduce(group->parts, group->ranks, sum, part.end - part.first, reducer->context);
    }
    task->reduced += 1;
    lowlat_flag_post(task, LOWLAT_REDUCED, task->reduced);
    /* After the flag: others wait for it, nobody waits for `out`. */
    lowlat_copy_out(task, sum, part.first, part.end);
    return true;
}

static bool gather(lowlat_task_t *task)
{
    const lowlat_group_t *group = task->group;
    const size_t chunk = task->gathered;

    if (!lowlat_all_reached(task, LOWLAT_REDUCED, chunk + 1)) {
        return false;
    }
    for (unsigned i = 1; i < group->ranks; ++i) {
        const unsigned rank = peer_at(group, i);
        const range_t part = part_range(task, chunk, rank);
        lowlat_copy_out(task, lowlat_arena(task, rank) + arena_offset(task, chunk, part.first),
                        part.first, part.end);
    }
    task->gathered += 1;
    lowlat_flag_post(task, LOWLAT_GATHERED, task->gathered);
    task->task.steps += 1;
    return true;
}

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
            if (!reduce(task)) {
                return ARC_IN_PROGRESS;
            }
        } else if (!gather(task)) {
            return ARC_IN_PROGRESS;
        }
    }
    return ARC_OK;
}

static bool twoshot_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    if (rank == task->group->rank) {
        return false;
    }
    return !lowlat_flag_reached(task, rank, LOWLAT_STAGED, task->reduced + 1) ||
           !lowlat_flag_reached(task, rank, LOWLAT_REDUCED, task->gathered + 1);
}

size_t lowlat_twoshot_max_bytes(const lowlat_group_t *group)
{
    (void) group;
    return SIZE_MAX;
}

void lowlat_twoshot_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = twoshot_progress,
                                       .waits_for = twoshot_waits_for};
    const lowlat_group_t *group = task->group;
    const size_t stride_bytes = task->reducer->stride_bytes;
    const size_t line_elems = lowlat_line_elems(stride_bytes);
    const size_t max_bytes = lowlat_min(group->chunk_bytes, group->arena_bytes / LOWLAT_MIN_SLOTS);
    const size_t max_elems = max_bytes / (line_elems * stride_bytes) * line_elems;

    /* Chunks of equal length, as near as whole cache lines allow. */
    const size_t chunks = lowlat_divide_up(task->count, max_elems);
    task->piece_elems = lowlat_round_up(lowlat_divide_up(task->count, chunks), line_elems);
    task->pieces = lowlat_divide_up(task->count, task->piece_elems);
    task->slots = group->arena_bytes / (task->piece_elems * stride_bytes);
    task->staged = 0;
    task->reduced = 0;
    task->gathered = 0;
    lowlat_task_begin(task, &ops, task->pieces);
    (void) stage(task);
}
