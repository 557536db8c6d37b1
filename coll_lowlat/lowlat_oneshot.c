/*
 * One-shot allreduce through mapped memory, in two forms.
 *
 *   cost      alpha + (P-1) n beta + (P-1) n gamma     one latency, alpha being
 *             the time for a cache line to reach another core
 *   good for  small n: everybody adds everything, so the work grows with P
 *
 * inline   n <= 56 bytes.  Data and sequence number share a cache line:
 *
 *            rank p:  line[h] = { data, sequence }       readers poll sequence
 *
 *          so that one line moves per pair of ranks.  The sequence number is
 *          stored last, with release; a reader that sees it sees the data.  It
 *          is compared for equality: the slot is shared by operations k, k+2,
 *          ..., and by the proof in lowlat.h it cannot be overtaken.
 *
 * staged   any n up to the arena.  The vector is copied into the arena in
 *          blocks, one block ahead of the reduction, so that peers read block
 *          b while we write block b+1:
 *
 *            stage 0 | stage 1, reduce 0 | stage 2, reduce 1 | ...
 *
 *          `published` counts the blocks; it only grows, so "not before" is
 *          enough, and no peer can be so far ahead that this is ambiguous.
 *
 * A rank adds its own part from `in`, not from its segment: the peers have
 * fetched those lines by then, and to read them back costs another transfer
 * (measured: 0.19 against 0.14 us for 8 bytes between distant cores).  With
 * MPI_IN_PLACE `out` is `in`, and the first addition overwrites it.  For ranks 0
 * and 1 that is right, their parts are its operands; the others use a copy: a
 * private one where it is short (inline), their staged one otherwise.
 *
 * The sum runs in rank order, never in arrival order: all ranks add the same
 * numbers in the same order and return the same bits.
 *
 * Source: one-shot is algorithm 1 of "Latency-optimal allreduce and cuda graph
 * optimization"; there it needs a synchronisation before and after, which the
 * two halves of lowlat.h replace.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "lowlat_oneshot.h"

static unsigned half_of(const lowlat_task_t *task)
{
    return (unsigned) (task->sequence % LOWLAT_HALVES);
}

static lowlat_line_t *line_of(const lowlat_task_t *task, unsigned rank)
{
    return &task->group->segment[rank]->half[half_of(task)].line;
}

static unsigned char *arena_of(const lowlat_task_t *task, unsigned rank)
{
    return task->group->segment[rank]->arena + half_of(task) * task->group->arena_bytes;
}

/*
 * The value of `published` that says: `blocks` blocks of this operation are
 * staged.  The sequence number loses its upper bits; see staged_arrived().
 */
static uint64_t published_value(const lowlat_task_t *task, size_t blocks)
{
    return (task->sequence << LOWLAT_BLOCK_BITS) + blocks;
}

/* out = part(0) op part(1) op ... op part(ranks-1), each `count` elements. */
static inline void combine_parts(const lowlat_task_t *task,
                                 const void *(*part)(const lowlat_task_t *, unsigned rank,
                                                     size_t offset_bytes),
                                 size_t offset_bytes, size_t count)
{
    const arc_reducer_t *reducer = task->reducer;
    unsigned char *out = (unsigned char *) task->out + offset_bytes;

    reducer->combine(part(task, 0, offset_bytes), part(task, 1, offset_bytes), out, count,
                     reducer->context);
    for (unsigned rank = 2; rank < task->group->ranks; ++rank) {
        reducer->combine(out, part(task, rank, offset_bytes), out, count, reducer->context);
    }
}

static void task_begin(lowlat_task_t *task, const arc_task_ops_t *ops)
{
    task->task.ops = ops;
    task->task.steps = 0;
    task->sequence = ++task->group->sequence;
    task->peer = 0;
    task->own = task->in;
}

/* Is our own part gone when its turn comes, because `out` is `in`?  Parts 0 and 1 come first. */
static bool own_is_overwritten(const lowlat_task_t *task)
{
    const unsigned rank = task->group->rank;
    const bool is_operand_of_first = 0 == rank || (1 == rank && task->reducer->out_may_be_right);
    return task->in == task->out && !is_operand_of_first;
}

/* ---- inline ---- */

static const void *inline_part(const lowlat_task_t *task, unsigned rank, size_t offset_bytes)
{
    const unsigned char *data = rank == task->group->rank ? task->own : line_of(task, rank)->data;
    return data + offset_bytes;
}

static bool inline_arrived(const lowlat_task_t *task, unsigned rank)
{
    return __atomic_load_n(&line_of(task, rank)->sequence, __ATOMIC_ACQUIRE) == task->sequence;
}

static arc_status_t inline_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;

    for (; task->peer < task->group->ranks; ++task->peer) {
        if (task->peer != task->group->rank && !inline_arrived(task, task->peer)) {
            return ARC_IN_PROGRESS;
        }
    }
    combine_parts(task, inline_part, 0, task->count);
    return ARC_OK;
}

static bool inline_waits_for(const arc_task_t *base, unsigned rank)
{
    return !inline_arrived((const lowlat_task_t *) base, rank);
}

size_t lowlat_inline_max_bytes(const lowlat_group_t *group)
{
    (void) group;
    return LOWLAT_LINE_DATA_BYTES;
}

void lowlat_inline_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = inline_progress, .waits_for = inline_waits_for};

    task_begin(task, &ops);
    lowlat_line_t *line = line_of(task, task->group->rank);
    memcpy(line->data, task->in, task->span_bytes);
    if (own_is_overwritten(task)) {
        memcpy(task->copy, task->in, task->span_bytes);
        task->own = task->copy;
    }
    /* Release: whoever sees the sequence number sees the data. */
    __atomic_store_n(&line->sequence, task->sequence, __ATOMIC_RELEASE);
}

/* ---- staged ---- */

static const void *staged_part(const lowlat_task_t *task, unsigned rank, size_t offset_bytes)
{
    const unsigned char *data = rank == task->group->rank ? task->own : arena_of(task, rank);
    return data + offset_bytes;
}

static bool staged_arrived(const lowlat_task_t *task, unsigned rank, size_t blocks)
{
    const uint64_t published =
        __atomic_load_n(&task->group->segment[rank]->published, __ATOMIC_ACQUIRE);
    /* The sign of the difference: right across the wrap after 2^44 operations. */
    return (int64_t) (published - published_value(task, blocks)) >= 0;
}

/* Copy block `staged` into our arena and tell the peers. */
static void staged_publish(lowlat_task_t *task)
{
    const unsigned me = task->group->rank;
    const size_t block_bytes = task->block_elems * task->reducer->stride_bytes;
    const size_t offset_bytes = task->staged * block_bytes;
    const size_t rest_bytes = task->span_bytes - offset_bytes;

    memcpy(arena_of(task, me) + offset_bytes, (const unsigned char *) task->in + offset_bytes,
           rest_bytes < block_bytes ? rest_bytes : block_bytes);
    task->staged += 1;
    /* Release: whoever sees the count sees the block. */
    __atomic_store_n(&task->group->segment[me]->published, published_value(task, task->staged),
                     __ATOMIC_RELEASE);
}

static arc_status_t staged_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;

    while (task->reduced < task->blocks) {
        /* One block ahead: block `reduced` + 1 is out before we wait for the peers. */
        while (task->staged < task->blocks && task->staged <= task->reduced + 1) {
            staged_publish(task);
        }
        for (; task->peer < task->group->ranks; ++task->peer) {
            if (task->peer != task->group->rank &&
                !staged_arrived(task, task->peer, task->reduced + 1)) {
                return ARC_IN_PROGRESS;
            }
        }
        const size_t first = task->reduced * task->block_elems;
        const size_t rest = task->count - first;
        combine_parts(task, staged_part, first * task->reducer->stride_bytes,
                      rest < task->block_elems ? rest : task->block_elems);
        task->reduced += 1;
        task->peer = 0;
        task->task.steps += 1;
    }
    return ARC_OK;
}

static bool staged_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    return !staged_arrived(task, rank, task->reduced + 1);
}

size_t lowlat_staged_max_bytes(const lowlat_group_t *group)
{
    return group->arena_bytes;
}

void lowlat_staged_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = staged_progress, .waits_for = staged_waits_for};
    const size_t stride_bytes = task->reducer->stride_bytes;
    const size_t block_bytes = task->group->block_bytes;

    task_begin(task, &ops);
    task->block_elems = block_bytes < stride_bytes ? 1 : block_bytes / stride_bytes;
    task->blocks = (task->count + task->block_elems - 1) / task->block_elems;
    task->staged = 0;
    task->reduced = 0;
    if (own_is_overwritten(task)) {
        task->own = arena_of(task, task->group->rank);
    }
    staged_publish(task);
}
