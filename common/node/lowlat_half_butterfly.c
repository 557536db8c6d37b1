/*
 * Half-butterfly: recursive doubling through mapped memory.
 *
 *   cost      log2 P (alpha + n beta + n gamma)
 *   good for  short n and many ranks: a rank reads log2 P vectors, not P - 1
 *
 * A rank writes the sum of its group before exchange s into slot s of its own
 * memory and reads slot s of its partner:
 *
 *   extra      slot 0: its part                         then slot k of its proxy
 *   proxy      slot 0 of its extra, added               finally slot k: the result
 *   position   slot s: sum of 2^s positions, exchanged, s = 0 .. k-1
 *
 * A slot is a cache line with the sequence number in it for up to 56 bytes, as
 * in one-shot; above, a piece of the arena, announced by the flag STAGED.
 * Every slot is written once in an operation, so that only operations must be
 * kept apart; that is done by the two buffer sets (lowlat.h).  An extra waits for
 * the result, which depends on all ranks.
 *
 * Source: "Latency-optimal allreduce and cuda graph optimization", where it is
 * the algorithm of choice on PCIe; the pairing for other numbers of ranks than
 * powers of two is that of R. Thakur, R. Rabenseifner, W. Gropp, "Optimization
 * of collective communication operations in MPICH", section 4.5.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "lowlat_butterfly.h"
#include "lowlat_memory.h"

static bool is_inline(const lowlat_task_t *task)
{
    return task->span_bytes <= LOWLAT_LINE_DATA_BYTES;
}

static size_t slot_bytes(const lowlat_group_t *group)
{
    const size_t bytes = group->arena_bytes / (lowlat_steps(group->ranks) + 1);
    return bytes / LOWLAT_CACHE_LINE_BYTES * LOWLAT_CACHE_LINE_BYTES;
}

/* Make `partial` readable in `slot`. */
static void post_partial(lowlat_task_t *task, unsigned slot)
{
    if (is_inline(task)) {
        lowlat_line_post(task, slot, task->partial);
    } else {
        lowlat_stage(task, task->partial, 0, task->count, slot * slot_bytes(task->group));
        lowlat_flag_post(task, LOWLAT_STAGED, slot + 1);
    }
    task->posted = slot + 1;
}

static bool has_arrived(const lowlat_task_t *task, unsigned rank, unsigned slot)
{
    return is_inline(task) ? lowlat_line_arrived(task, rank, slot)
                           : lowlat_flag_reached(task, rank, LOWLAT_STAGED, slot + 1);
}

static const void *data_of(const lowlat_task_t *task, unsigned rank, unsigned slot)
{
    return is_inline(task) ? lowlat_line(task, rank, slot)->data
                           : lowlat_arena(task, rank) + slot * slot_bytes(task->group);
}

/* Whom we wait for next, and for which of its slots. */
static unsigned awaited_peer(const lowlat_task_t *task, const lowlat_role_t *role, unsigned *slot)
{
    *slot = role->is_extra ? role->steps : task->step;
    if (role->is_extra) {
        return task->group->rank - 1;
    }
    return task->folded ? lowlat_partner(role, task->step) : task->group->rank + 1;
}

/* out = left op right, of which one is `partial` and the other the slot of a peer. */
static void add_slot(lowlat_task_t *task, const void *peers, bool peer_is_left)
{
    const arc_reducer_t *reducer = task->reducer;
    const void *parts[] = {peer_is_left ? peers : task->partial,
                           peer_is_left ? task->partial : peers};

    reducer->reduce(parts, 2, task->out, task->count, reducer->context);
    task->partial = task->out;
    task->task.steps += 1;
}

static arc_status_t half_butterfly_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    const lowlat_role_t role = lowlat_role(task->group->rank, task->group->ranks);
    unsigned slot = 0;

    while (role.is_extra || task->step < role.steps) {
        if (task->folded && task->posted <= task->step) {
            post_partial(task, task->step);
        }
        const unsigned peer = awaited_peer(task, &role, &slot);
        if (!has_arrived(task, peer, slot)) {
            return ARC_IN_PROGRESS;
        }
        if (role.is_extra) {
            lowlat_copy_out(task, data_of(task, peer, slot), 0, task->count);
            return ARC_OK;
        }
        add_slot(task, data_of(task, peer, slot),
                 task->folded && lowlat_is_upper(&role, task->step));
        task->step += task->folded;
        task->folded = true;
    }
    if (role.is_proxy) {
        post_partial(task, role.steps);
    }
    return ARC_OK;
}

static bool half_butterfly_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    const lowlat_role_t role = lowlat_role(task->group->rank, task->group->ranks);
    unsigned slot = 0;
    const unsigned peer = awaited_peer(task, &role, &slot);

    return peer == rank && !has_arrived(task, peer, slot);
}

size_t lowlat_half_butterfly_max_bytes(const lowlat_group_t *group)
{
    return lowlat_steps(group->ranks) <= LOWLAT_MAX_STEPS ? slot_bytes(group) : 0;
}

void lowlat_half_butterfly_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = half_butterfly_progress,
                                       .waits_for = half_butterfly_waits_for};
    const lowlat_role_t role = lowlat_role(task->group->rank, task->group->ranks);

    assert(task->span_bytes <= lowlat_half_butterfly_max_bytes(task->group));
    task->partial = task->in;
    task->step = 0;
    task->posted = 0;
    task->folded = !role.is_proxy;
    lowlat_task_begin(task, &ops, role.steps + 1);
    if (task->folded) {
        post_partial(task, 0);
    }
}
