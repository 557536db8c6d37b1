/*
 * Butterfly: recursive halving and doubling through mapped memory.
 *
 *   cost      2 log2 P alpha + 2 (P-1)/P n beta + (P-1)/P n gamma
 *   good for  long n where a rank can only talk to one other at a time; in
 *             shared memory two-shot moves as much in two steps
 *
 * The pairing is that of lowlat_butterfly.h.  Before exchange s a position is
 * responsible for a range of the vector, at first for all of it:
 *
 *   range(position, 0)   = everything
 *   range(position, s+1) = the lower or upper half of range(position, s), as bit
 *                          s of the position is 0 or 1
 *
 *   halving, s = 0 .. k-1    stage range(partner, s+1) of the partial sums;
 *                            add the partner's range(own, s+1) to ours
 *   doubling, s = k-1 .. 0   stage what was obtained last; copy the partner's
 *                            range(partner, s+1) to `out`
 *
 * A vector offset is the same offset in the arena.  STAGED counts: halving s
 * is s+1, doubling s is 2k-s; a proxy announces the complete vector with 2k+1,
 * its extra its part with 1.
 *
 * Why the arena can be used for both.  Halving stages the ranges of the
 * partners, all disjoint, and never our last one.  Doubling stages our last
 * range first, and then range(partner, s+1) after we have copied it from the
 * partner of exchange s.  That one was its only reader in halving, and had
 * finished halving when it staged its results.
 *
 * A range may be empty; the flags are set and awaited all the same.
 *
 * Source: "Latency-optimal allreduce and cuda graph optimization"; R. Thakur,
 * R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", section 4.5 (there the halves are taken from far to
 * near, which does not keep the order of the ranks).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "lowlat_butterfly.h"
#include "lowlat_memory.h"
#include "sizes.h"

lowlat_range_t lowlat_butterfly_range(unsigned position, unsigned step, size_t elems,
                                      size_t line_elems)
{
    lowlat_range_t range = {0, elems};

    for (unsigned s = 0; s < step; ++s) {
        const size_t half_elems =
            arc_round_up(arc_divide_up(range.end - range.first, 2), line_elems);
        const size_t middle = arc_min(range.end, range.first + half_elems);
        if (position >> s & 1) {
            range.first = middle;
        } else {
            range.end = middle;
        }
    }
    return range;
}

static lowlat_range_t range_of(const lowlat_task_t *task, unsigned position, unsigned step)
{
    return lowlat_butterfly_range(position, step, task->count,
                                  lowlat_line_elems(task->reducer->stride_bytes));
}

static size_t offset_of(const lowlat_task_t *task, size_t elem)
{
    return elem * task->reducer->stride_bytes;
}

/* Stage a range of `from` and announce it as piece n. */
static void post_range(lowlat_task_t *task, const void *from, lowlat_range_t range, unsigned n)
{
    lowlat_stage(task, from, range.first, range.end, offset_of(task, range.first));
    lowlat_flag_post(task, LOWLAT_STAGED, n);
    task->posted = n;
}

/* out = left op right over `range`; one of them is `partial`, the other a peer's arena. */
static void add_range(lowlat_task_t *task, unsigned peer, lowlat_range_t range, bool peer_is_left)
{
    const arc_reducer_t *reducer = task->reducer;
    const size_t offset = offset_of(task, range.first);
    const void *own = (const unsigned char *) task->partial + offset;
    const void *peers = lowlat_arena(task, peer) + offset;
    const void *parts[] = {peer_is_left ? peers : own, peer_is_left ? own : peers};

    if (range.end > range.first) {
        reducer->reduce(parts, 2, lowlat_out(task, offset), range.end - range.first,
                        reducer->context);
    }
    task->partial = task->out;
    task->task.steps += 1;
}

static void copy_out(lowlat_task_t *task, unsigned peer, lowlat_range_t range)
{
    lowlat_copy_out(task, lowlat_arena(task, peer) + offset_of(task, range.first), range.first,
                    range.end);
    task->task.steps += 1;
}

/*
 * `step` runs through 0 .. k-1 (halving) and k .. 2k-1 (doubling).  The piece
 * that a position stages at its beginning, and the number that announces it, is
 * step + 1.
 */
static void post_step(lowlat_task_t *task, const lowlat_role_t *role)
{
    const unsigned k = role->steps;

    if (task->step < k) {
        post_range(task, task->partial,
                   range_of(task, role->position ^ (1u << task->step), task->step + 1),
                   task->step + 1);
    } else if (task->step == k) {
        post_range(task, task->out, range_of(task, role->position, k), k + 1);
    } else {
        const unsigned last = 2 * k - task->step; /* the exchange that we got it in */
        post_range(task, task->out, range_of(task, role->position ^ (1u << last), last + 1),
                   task->step + 1);
    }
}

/* Whom we wait for next, and for which number of its flag. */
static unsigned awaited_peer(const lowlat_task_t *task, const lowlat_role_t *role, unsigned *n)
{
    if (role->is_extra) {
        *n = 2 * role->steps + 1;
        return task->group->rank - 1;
    }
    *n = task->step + 1;
    return task->folded ? lowlat_partner(role, lowlat_exchange_of(role, task->step))
                        : task->group->rank + 1;
}

/* What the peer staged has arrived: use it. */
static void take_range(lowlat_task_t *task, const lowlat_role_t *role, unsigned peer)
{
    const unsigned exchange = lowlat_exchange_of(role, task->step);

    if (!task->folded) {
        add_range(task, peer, (lowlat_range_t){0, task->count}, false);
        task->folded = true;
        return;
    }
    if (task->step < role->steps) {
        add_range(task, peer, range_of(task, role->position, exchange + 1),
                  lowlat_is_upper(role, exchange));
    } else {
        copy_out(task, peer, range_of(task, role->position ^ (1u << exchange), exchange + 1));
    }
    task->step += 1;
}

static arc_status_t butterfly_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    const lowlat_role_t role = lowlat_role(task->group->rank, task->group->ranks);
    unsigned n = 0;

    while (role.is_extra || task->step < 2 * role.steps) {
        if (!role.is_extra && task->folded && task->posted <= task->step) {
            post_step(task, &role);
        }
        const unsigned peer = awaited_peer(task, &role, &n);
        if (!lowlat_flag_reached(task, peer, LOWLAT_STAGED, n)) {
            return ARC_IN_PROGRESS;
        }
        if (role.is_extra) {
            copy_out(task, peer, (lowlat_range_t){0, task->count});
            return ARC_OK;
        }
        take_range(task, &role, peer);
    }
    if (role.is_proxy) {
        post_step(task, &role);
    }
    return ARC_OK;
}

static bool butterfly_waits_for(const arc_task_t *base, unsigned rank)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    const lowlat_role_t role = lowlat_role(task->group->rank, task->group->ranks);
    unsigned n = 0;
    const unsigned peer = awaited_peer(task, &role, &n);

    return peer == rank && !lowlat_flag_reached(task, peer, LOWLAT_STAGED, n);
}

size_t lowlat_butterfly_max_bytes(const lowlat_group_t *group)
{
    return lowlat_steps(group->ranks) <= LOWLAT_MAX_STEPS ? group->arena_bytes : 0;
}

void lowlat_butterfly_start(lowlat_task_t *task)
{
    static const arc_task_ops_t ops = {.progress = butterfly_progress,
                                       .waits_for = butterfly_waits_for};
    const lowlat_role_t role = lowlat_role(task->group->rank, task->group->ranks);

    assert(task->span_bytes <= lowlat_butterfly_max_bytes(task->group));
    task->partial = task->in;
    task->step = 0;
    task->posted = 0;
    task->folded = !role.is_proxy;
    lowlat_task_begin(task, &ops, 2 * role.steps + 1);
    if (role.is_extra) {
        post_range(task, task->in, (lowlat_range_t){0, task->count}, 1);
    } else if (task->folded) {
        post_step(task, &role);
    }
}
