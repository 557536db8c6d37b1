/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lowlat_by_levels.h"
#include "lowlat_cut.h"
#include "lowlat_memory.h"
#include "sizes.h"

unsigned lowlat_cut_owners(lowlat_task_t *task, unsigned most)
{
    unsigned owners = 1;

    task->levels = lowlat_goes_by_levels(task) ? &task->group->levels : NULL;
    /* Of a packet of several lines a flat leader reads more lines than of arenas. */
    task->by_packets = NULL == task->group->sum_error &&
                       task->span_bytes <= (NULL == task->levels ? (size_t) LOWLAT_LINE_DATA_BYTES
                                                                 : LOWLAT_PACKET_DATA_BYTES);
    if (NULL == task->levels) {
        return most;
    }
    for (unsigned level = 0; level < task->levels->count; ++level) {
        owners *= task->levels->level[level].owners;
    }
    return (unsigned) arc_min(most, owners);
}

void lowlat_cut_pieces(lowlat_task_t *task, size_t max_bytes, size_t row_elems, size_t multiple)
{
    const size_t stride_bytes = task->reducer->stride_bytes;
    const size_t max_elems = max_bytes / (row_elems * stride_bytes) * row_elems;
    const bool fits = task->count * stride_bytes <= max_bytes;
    const size_t pieces = arc_round_up(fits ? 1 : arc_divide_up(task->count, max_elems), multiple);

    task->piece_elems = task->count;
    if (pieces > 1) {
        task->piece_elems = arc_round_up(arc_divide_up(task->count, pieces), row_elems);
    }
    task->pieces = arc_divide_up(task->count, task->piece_elems);
}

unsigned lowlat_levels_of(const lowlat_task_t *task)
{
    return NULL == task->levels ? 1 : task->levels->count;
}

lowlat_circle_t lowlat_circle_on(const lowlat_task_t *task, unsigned level)
{
    const lowlat_group_t *node = task->group;

    if (NULL == task->levels) {
        return (lowlat_circle_t){node->ranks, node->rank, node->ranks, NULL};
    }
    const lowlat_level_t *of = &task->levels->level[level];
    return (lowlat_circle_t){of->members, of->own, of->owners, of->rank};
}

/* Parts that a member has of those that its group has; behind the last owner: none. */
static size_t parts_each(const lowlat_task_t *task, unsigned level)
{
    return arc_divide_up(lowlat_range_elems(task->range[level]),
                         lowlat_circle_on(task, level).owners);
}

lowlat_range_t lowlat_share_of(const lowlat_task_t *task, unsigned level, unsigned member)
{
    const lowlat_range_t all = task->range[level];
    const size_t parts = parts_each(task, level);

    return (lowlat_range_t){arc_min(all.end, all.first + member * parts),
                            arc_min(all.end, all.first + (member + 1) * parts)};
}

lowlat_range_t lowlat_chunk_elems(const lowlat_task_t *task, size_t chunk)
{
    const size_t first = chunk * task->piece_elems;
    return (lowlat_range_t){first, arc_min(task->count, first + task->piece_elems)};
}

static size_t elems_of_part(const lowlat_task_t *task, lowlat_range_t chunk)
{
    return arc_round_up(arc_divide_up(lowlat_range_elems(chunk), task->owners), task->row_elems);
}

lowlat_range_t lowlat_elems_of(const lowlat_task_t *task, size_t chunk, lowlat_range_t parts)
{
    const lowlat_range_t all = lowlat_chunk_elems(task, chunk);
    const size_t part_elems = elems_of_part(task, all);

    return (lowlat_range_t){arc_min(all.end, all.first + parts.first * part_elems),
                            arc_min(all.end, all.first + parts.end * part_elems)};
}

size_t lowlat_sharers_of(const lowlat_task_t *task, size_t chunk, unsigned level)
{
    const lowlat_range_t elems = lowlat_chunk_elems(task, chunk);
    const lowlat_range_t parts = task->range[level];
    const size_t filled =
        arc_min(parts.end, arc_divide_up(lowlat_range_elems(elems), elems_of_part(task, elems)));

    return filled > parts.first ? arc_divide_up(filled - parts.first, parts_each(task, level)) : 0;
}

bool lowlat_owns_part(const lowlat_task_t *task)
{
    return lowlat_range_elems(task->range[lowlat_levels_of(task)]) > 0;
}

lowlat_range_t lowlat_own_part(const lowlat_task_t *task, size_t chunk)
{
    return lowlat_elems_of(task, chunk, task->range[lowlat_levels_of(task)]);
}

/* In a packet that the call does not use otherwise. */
float *lowlat_error_at(const lowlat_task_t *task, unsigned rank, size_t chunk, unsigned level)
{
    _Static_assert(LOWLAT_MAX_LEVELS * LOWLAT_MAX_SLOTS * sizeof(float) <= LOWLAT_PACKET_DATA_BYTES,
                   "a packet has room for all of them");
    float *errors = (float *) (void *) lowlat_packet(task, rank, 0)->data;

    return &errors[level * LOWLAT_MAX_SLOTS + chunk % LOWLAT_MAX_SLOTS];
}

size_t lowlat_part_offset(const lowlat_task_t *task, size_t chunk, size_t elem)
{
    const size_t in_chunk = elem - chunk * task->piece_elems;
    return (chunk % task->slots * task->piece_elems + in_chunk) * task->reducer->stride_bytes;
}

unsigned char *lowlat_part_at(const lowlat_task_t *task, unsigned rank, size_t chunk, size_t elem)
{
    return lowlat_arena(task, rank) + lowlat_part_offset(task, chunk, elem);
}
