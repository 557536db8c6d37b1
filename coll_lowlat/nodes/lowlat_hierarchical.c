/*
 * Allreduce over N nodes of G ranks, in three phases that are pipelined by chunk;
 * lowlat_parts.h has the first and the last, lowlat_net.h the second:
 *
 *   stage k, reduce k      the node's sum of its part, in the slot of each owner
 *   exchange k             owner i of every node with owner i of the others
 *   publish k, gather k    the result
 *
 *   cost   2 alpha_i + 2 (G-1)/G n beta_i + the exchange of n/G; see lowlat_net.h
 *
 * Up to E exchanges are under way while further chunks are staged and reduced.  Short
 * messages have one owner in each node: one message instead of G.
 *
 * Whatever can be done is done, in no fixed order.  Why nobody waits for ever: take
 * the least chunk c that some rank has not gathered.  All have gathered all before,
 * so c can be staged everywhere (its slot is free), then reduced (an exchange is
 * free: those of c-1 and before are over), and the exchanges of c have all partners
 * started; a schedule has no circular wait when all its nodes run it.
 *
 * The theorem of the two buffer sets (lowlat.h) holds across nodes: a rank completes only
 * after the owners of its node had messages that depend on all ranks of the others.
 * What is left of an operation is in a scratch of our own or in our set of the
 * arena; messages of one exchange are in order, those of others have other streams.
 *
 * All ranks have the same bits: an owner's sum is copied within the node, and the
 * owners of a part get the same one by the schedule.
 *
 * Source: S. Singhania et al., "Understanding and Improving Communication Performance
 * in Multi-node LLM Inference", section 4, algorithm 1 (its NVRAR has the same phases).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "lowlat_hierarchical.h"
#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_parts.h"

static lowlat_exchange_t *exchange_of(const lowlat_task_t *task, size_t chunk)
{
    return &task->group->net->exchange[chunk % LOWLAT_EXCHANGES];
}

/* ---- the phases in the node ---- */

static bool reduce_and_begin(lowlat_task_t *task, const lowlat_between_t *between)
{
    const size_t chunk = task->reduced;

    task->peer = 0;
    if (!lowlat_parts_reduce(task)) {
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
        lowlat_parts_publish(task, task->exchanged);
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
        moved = try_action(task, lowlat_parts_stage) || moved;
    }
    if (task->reduced < task->staged && between->has_room(task)) {
        moved = reduce_and_begin(task, between) || moved;
    }
    if (task->gathered < task->exchanged) {
        moved = try_action(task, lowlat_parts_gather) || moved;
    }
    return moved;
}

arc_status_t lowlat_hierarchical_progress(lowlat_task_t *task, const lowlat_between_t *between)
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

/* ---- schedules: some exchanges of a chunk each at a time ---- */

static bool has_room(const lowlat_task_t *task)
{
    return task->reduced < task->exchanged + LOWLAT_EXCHANGES;
}

static void begin_exchange(lowlat_task_t *task, size_t chunk)
{
    const unsigned rank = task->group->rank;
    const lowlat_range_t part = lowlat_part(task, chunk, rank);

    if (lowlat_range_elems(part) > 0) {
        lowlat_exchange_begin(exchange_of(task, chunk),
                              lowlat_part_at(task, rank, chunk, part.first),
                              lowlat_range_elems(part));
    }
}

static arc_status_t drive_exchanges(lowlat_task_t *task, lowlat_schedule_fn_t schedule)
{
    const lowlat_net_t *net = task->group->net;
    arc_status_t all = ARC_OK;

    for (size_t chunk = task->exchanged; chunk < task->reduced; ++chunk) {
        lowlat_exchange_t *exchange = exchange_of(task, chunk);
        if (NULL != exchange->vector) {
            const unsigned step = exchange->step;
            arc_status_t status = lowlat_exchange_progress(net, exchange, schedule, task->reducer);
            task->task.steps += exchange->step - step;
            if (ARC_OK != status && ARC_IN_PROGRESS != status) {
                return status;
            }
            all = ARC_IN_PROGRESS == status ? status : all;
        }
    }
    return all;
}

static size_t completed_chunks(const lowlat_task_t *task)
{
    size_t chunk = task->exchanged;

    while (chunk < task->reduced && NULL == exchange_of(task, chunk)->vector) {
        ++chunk;
    }
    return chunk;
}

static void start_phases(lowlat_task_t *task, const arc_task_ops_t *ops)
{
    const lowlat_net_t *net = task->group->net;

    lowlat_parts_begin(task, ops, net->chunk_bytes,
                       task->span_bytes <= task->leader_bytes ? 1 : net->owners,
                       lowlat_line_elems(task->reducer->stride_bytes));
    task->exchanged = 0;
}

static unsigned awaits(const arc_task_t *base)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;
    const lowlat_net_t *net = task->group->net;
    unsigned node = net->nodes;

    for (size_t chunk = task->exchanged; chunk < task->reduced && node == net->nodes; ++chunk) {
        node = lowlat_exchange_awaited(net, exchange_of(task, chunk));
    }
    return node;
}

static void give_up(arc_task_t *base)
{
    lowlat_net_abort(((lowlat_task_t *) base)->group->net);
}

/* ---- the algorithms: one for each schedule ---- */

#define ALGORITHM(_schedule)                                                     \
    static arc_status_t _schedule##_drive(lowlat_task_t *task)                   \
    {                                                                            \
        return drive_exchanges(task, lowlat_schedule_##_schedule);               \
    }                                                                            \
    static arc_status_t _schedule##_progress(arc_task_t *base)                   \
    {                                                                            \
        static const lowlat_between_t between = {.has_room = has_room,           \
                                                 .begin = begin_exchange,        \
                                                 .drive = _schedule##_drive,     \
                                                 .completed = completed_chunks}; \
        return lowlat_hierarchical_progress((lowlat_task_t *) base, &between);   \
    }                                                                            \
    void lowlat_##_schedule##_start(lowlat_task_t *task)                         \
    {                                                                            \
        static const arc_task_ops_t ops = {.progress = _schedule##_progress,     \
                                           .waits_for = lowlat_parts_waits_for,  \
                                           .awaits = awaits,                     \
                                           .abort = give_up};                    \
        start_phases(task, &ops);                                                \
    }

ALGORITHM(doubling)
ALGORITHM(halving)
