/*
 * Steps that the algorithms of coll_lowlat have in common: to enter an
 * operation, to set and to await flags, to find data in the segments.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_MEMORY_H
#define LOWLAT_MEMORY_H

#include <assert.h>
#include <string.h>

#include "cpu.h"
#include "lowlat.h"
#include "sizes.h"

/* Elements that fill whole cache lines, where elements of this stride can; else 1. */
static inline size_t lowlat_line_elems(size_t stride_bytes)
{
    return 0 == LOWLAT_CACHE_LINE_BYTES % stride_bytes ? LOWLAT_CACHE_LINE_BYTES / stride_bytes : 1;
}

/* Enter operation `task`, in which no flag counts beyond `pieces`. */
static inline void lowlat_task_begin(lowlat_task_t *task, const arc_task_ops_t *ops, size_t pieces)
{
    lowlat_group_t *group = task->group;

    task->task.ops = ops;
    task->task.steps = 0;
    task->task.memory_only = true;
    task->sequence = ++group->sequence;
    task->base = group->pieces;
    group->pieces += pieces;
    task->buffer_set = (unsigned) (task->sequence % LOWLAT_BUFFER_SETS);
    task->peer = 0;
    task->unfenced = false;
    /* Only for messages about missing ranks: it need not be seen before anything else. */
    __atomic_store_n(&group->segment[group->rank]->flag[LOWLAT_ENTERED].value, task->sequence,
                     __ATOMIC_RELAXED);
}

/* Has `rank` not yet made the call that we are in? */
static inline bool lowlat_is_absent(const lowlat_task_t *task, unsigned rank)
{
    return __atomic_load_n(&task->group->segment[rank]->flag[LOWLAT_ENTERED].value,
                           __ATOMIC_RELAXED) < task->sequence;
}

/*
 * Set our flag to n.  Release: whoever sees it sees all that we wrote before.  That holds for
 * ordinary stores; streaming ones are made visible first (copy.h).
 */
static inline void lowlat_flag_post(lowlat_task_t *task, lowlat_flag_t flag, size_t n)
{
    /* A higher flag would count as one of the next operation. */
    assert(task->base + n <= task->group->pieces);
    if (task->unfenced) {
        task->unfenced = false;
        task->group->streaming.fence();
    }
    __atomic_store_n(&task->group->segment[task->group->rank]->flag[flag].value, task->base + n,
                     __ATOMIC_RELEASE);
}

/* Has `rank` set its flag to n or more? */
static inline bool lowlat_flag_reached(const lowlat_task_t *task, unsigned rank, lowlat_flag_t flag,
                                       size_t n)
{
    return __atomic_load_n(&task->group->segment[rank]->flag[flag].value, __ATOMIC_ACQUIRE) >=
           task->base + n;
}

/* Have all peers done so?  Remembers which ones have, until all of them have. */
static inline bool lowlat_all_reached(lowlat_task_t *task, lowlat_flag_t flag, size_t n)
{
    for (; task->peer < task->group->ranks; ++task->peer) {
        if (task->peer != task->group->rank && !lowlat_flag_reached(task, task->peer, flag, n)) {
            return false;
        }
    }
    task->peer = 0;
    return true;
}

/* Let go of another's segment, for good.  Release: all that we read there, we have read before. */
static inline void lowlat_leave(lowlat_segment_t *segment)
{
    (void) __atomic_add_fetch(&segment->left, 1, __ATOMIC_RELEASE);
}

/* Others that have let go of ours.  Acquire: what they read there, they have read before. */
static inline uint64_t lowlat_left(const lowlat_segment_t *segment)
{
    return __atomic_load_n(&segment->left, __ATOMIC_ACQUIRE);
}

/* The arena of `rank` in our buffer set. */
static inline unsigned char *lowlat_arena(const lowlat_task_t *task, unsigned rank)
{
    return task->group->segment[rank]->arena + task->buffer_set * task->group->arena_bytes;
}

/* Fetch, for writing, what the next operation will write if it is like this one. */
static inline void lowlat_prefetch_other_set(const lowlat_task_t *task, size_t bytes)
{
    const lowlat_group_t *group = task->group;
    const unsigned char *arena = group->segment[group->rank]->arena +
                                 (LOWLAT_BUFFER_SETS - 1 - task->buffer_set) * group->arena_bytes;

    bytes = arc_min(bytes, group->arena_bytes);
    for (size_t offset = 0; offset < bytes; offset += LOWLAT_CACHE_LINE_BYTES) {
        arc_cpu_prefetch_for_write(arena + offset);
    }
}

/* Of flat algorithms: those of level 0. */
static inline lowlat_packet_t *lowlat_packet(const lowlat_task_t *task, unsigned rank,
                                             unsigned level)
{
    return &task->group->segment[rank]->packet[task->buffer_set][level];
}

/*
 * First the data, then the number.  Release: whoever sees the number sees the data.  The data in
 * the line of the number come last: peers poll that line, and take it away from a rank that has not
 * yet written all of it.
 */
static inline void lowlat_packet_post(const lowlat_task_t *task, unsigned level, const void *data,
                                      size_t bytes)
{
    lowlat_packet_t *packet = lowlat_packet(task, task->group->rank, level);
    const size_t head_bytes = arc_min(bytes, LOWLAT_LINE_DATA_BYTES);

    assert(bytes <= LOWLAT_PACKET_DATA_BYTES && level < LOWLAT_PACKETS);
    if (bytes > head_bytes) {
        memcpy(packet->data + head_bytes, (const unsigned char *) data + head_bytes,
               bytes - head_bytes);
    }
    memcpy(packet->data, data, head_bytes);
    __atomic_store_n(&packet->sequence, task->sequence, __ATOMIC_RELEASE);
}

/*
 * Equal, not "not before": by the two buffer sets (lowlat.h) the packet cannot have
 * been written for a later operation.
 */
static inline bool lowlat_packet_arrived(const lowlat_task_t *task, unsigned rank, unsigned level)
{
    return __atomic_load_n(&lowlat_packet(task, rank, level)->sequence, __ATOMIC_ACQUIRE) ==
           task->sequence;
}

/*
 * The same as lowlat_prefetch_other_set(), for a packet of `data_bytes`: of one line, or where it
 * pays.
 */
static inline void lowlat_prefetch_other_packet(const lowlat_task_t *task, unsigned level,
                                                size_t data_bytes)
{
    const lowlat_group_t *group = task->group;
    const lowlat_segment_t *own = group->segment[group->rank];
    const unsigned char *packet =
        (const unsigned char *) &own->packet[LOWLAT_BUFFER_SETS - 1 - task->buffer_set][level];
    const size_t bytes = LOWLAT_SEQUENCE_BYTES + data_bytes;

    if (bytes > LOWLAT_CACHE_LINE_BYTES && bytes > group->prefetch_bytes) {
        return;
    }
    for (size_t offset = 0; offset < bytes; offset += LOWLAT_CACHE_LINE_BYTES) {
        arc_cpu_prefetch_for_write(packet + offset);
    }
}

static inline const unsigned char *lowlat_in(const lowlat_task_t *task, size_t offset_bytes)
{
    return (const unsigned char *) task->in + offset_bytes;
}

static inline unsigned char *lowlat_out(const lowlat_task_t *task, size_t offset_bytes)
{
    return (unsigned char *) task->out + offset_bytes;
}

/* Bytes of `elems` elements of which the last one is element `end` - 1 of the vector. */
static inline size_t lowlat_piece_bytes(const lowlat_task_t *task, size_t elems, size_t end)
{
    const arc_reducer_t *reducer = task->reducer;
    const size_t padding = end == task->count ? reducer->stride_bytes - reducer->last_bytes : 0;
    return 0 == elems ? 0 : elems * reducer->stride_bytes - padding;
}

/* Make elements [first, end) of the vector at `from` readable in our arena at `offset_bytes`. */
static inline void lowlat_stage(lowlat_task_t *task, const void *from, size_t first, size_t end,
                                size_t offset_bytes)
{
    const lowlat_group_t *group = task->group;
    unsigned char *to = lowlat_arena(task, group->rank) + offset_bytes;
    const unsigned char *part = (const unsigned char *) from + first * task->reducer->stride_bytes;
    const size_t bytes = lowlat_piece_bytes(task, end - first, end);

    assert(offset_bytes + bytes <= group->arena_bytes);
    if (task->span_bytes < group->stream_bytes) {
        memcpy(to, part, bytes);
    } else {
        group->streaming.copy(to, part, bytes);
        task->unfenced = NULL != group->streaming.fence;
    }
}

/* Elements [first, end) of the result are at `from`.  Padding in `out` is left alone. */
static inline void lowlat_copy_out(const lowlat_task_t *task, const void *from, size_t first,
                                   size_t end)
{
    const arc_reducer_t *reducer = task->reducer;
    unsigned char *out = lowlat_out(task, first * reducer->stride_bytes);

    if (!reducer->has_gaps) {
        memcpy(out, from, (end - first) * reducer->stride_bytes);
    } else {
        reducer->reduce(&from, 1, out, end - first, reducer->context);
    }
}

#endif
