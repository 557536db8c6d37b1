/*
 * Long messages between nodes: the pipeline of lowlat_piped.h, with exact numbers.
 *
 * A chunk has a message of piece_bytes of numbers for each owner and node, or shorter ones where
 * the arenas have no room for that.
 *
 * Where no node has two ranks there is nothing to stage: the exchange reads `in` and writes `out`,
 * all chunks are available at once, and arenas bound nothing.
 *
 * Two algorithms differ in how partial sums travel (exchange_tree.h):
 *
 *   direct   Every part goes straight to the owner of its shard, who adds all of them in the
 *            order of recursive doubling (lowlat_order.h).  Totals go round a loop, from neighbour
 *            to neighbour.  Partial sums never travel, so those of 16-bit floats may be floats
 *            (lowlat_turn.h).  On more nodes than an owner has connections for it is halving,
 *            whose sums are the same.
 *   ring     Partial sums go round the loop, too, so the order of the nodes is another one for each
 *            shard: the bits of an element depend on its place in the vector.  Networks have it
 *            easier when each node sends to one other, so who asks for it may have it.
 *
 *   cost     direct: N alpha + 2 (N-1)/N n beta
 *            ring:   2 (N-1) alpha + 2 (N-1)/N n beta; above 8 nodes half of the latencies
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "lowlat_hierarchical.h"
#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_parts.h"
#include "lowlat_pipe.h"
#include "sizes.h"

enum {
    /* Segments under way: enough for the link, few enough for the cache; */
    DEPTH = 8,
    /* the most nodes of the ring as a full loop, which fills links better than a semi loop but has
     * twice its latencies (both: docs/benchmarks_nodes.md). */
    FULL_LOOP_NODES = 8,
};

static const exchange_tree_t *tree_of(const lowlat_net_t *net)
{
    return !net->loops                     ? &exchange_direct_loop
           : net->nodes <= FULL_LOOP_NODES ? &exchange_full_loop
                                           : &exchange_semi_loop;
}

static exchange_config_t config_of(const lowlat_net_t *net)
{
    /* Chunks are cut into parts, and these into pieces, of whole lines or elements. */
    const size_t message_bytes = arc_round_up(
        net->piece_bytes + 2 * (size_t) LOWLAT_MAX_ELEMENT_BYTES, EXCHANGE_ALIGN_BYTES);
    const size_t places = net->loops ? 1 : net->places;

    return (exchange_config_t){
        .tree = tree_of(net),
        .shape = exchange_shape_flat(net->nodes),
        .depth = DEPTH,
        .message_bytes = message_bytes,
        .sum_bytes = places * message_bytes,
    };
}

/* ---- set-up ---- */

static size_t aligned_state_bytes(void)
{
    return arc_round_up(sizeof(lowlat_pipe_t), EXCHANGE_ALIGN_BYTES);
}

void lowlat_pipe_prepare(lowlat_net_t *net)
{
    net->direct_nodes = LOWLAT_ORDER_NODES;
    net->places = net->nodes <= LOWLAT_ORDER_NODES ? lowlat_order_places(net->nodes) : 0;
}

size_t lowlat_pipe_memory_bytes(const lowlat_net_t *net)
{
    if (!net->loops && net->nodes > LOWLAT_ORDER_NODES) {
        return 0;
    }
    const exchange_config_t config = config_of(net);
    return aligned_state_bytes() + exchange_pipeline_memory_bytes(&config);
}

void lowlat_pipe_init(lowlat_net_t *net, void *memory)
{
    exchange_config_t config = config_of(net);
    lowlat_pipe_t *pipe = memory;

    config.peer = net->peer;
    *pipe =
        (lowlat_pipe_t){.base.ops = net->loops ? &lowlat_pipe_ring_ops : &lowlat_pipe_direct_ops,
                        .message_bytes = config.message_bytes};
    if (!net->loops) {
        lowlat_order_init(&pipe->order, net->node, net->nodes);
    }
    pipe->piped.exchange =
        exchange_pipeline_init(&config, net->node, net->exchange[0].stream, &pipe->base,
                               (unsigned char *) memory + aligned_state_bytes());
    net->pipe = pipe;
}

/* ---- a call ---- */

/* Of our `elems` elements; cut by whoever starts it. */
static exchange_operation_t operation_of(const lowlat_task_t *task, size_t elems)
{
    return (exchange_operation_t){
        .layout =
            {
                .count = elems,
                .shards = task->group->net->nodes,
                .row_elems = lowlat_line_elems(task->reducer->stride_bytes),
            },
        .collective = EXCHANGE_ALLREDUCE,
    };
}

/* Elements of a chunk that has a piece, of floats if these are added, for each owner and node. */
static size_t chunk_elems(const lowlat_task_t *task, unsigned owners)
{
    const lowlat_net_t *net = task->group->net;
    const size_t stride_bytes = task->reducer->stride_bytes;
    const size_t line_elems = lowlat_line_elems(stride_bytes);
    const size_t sum_bytes = NULL != task->widened ? sizeof(float) : stride_bytes;
    const size_t lines = net->piece_bytes / (line_elems * sum_bytes);

    return (lines > 0 ? lines : 1) * line_elems * owners * net->nodes;
}

/* Bytes between elements must stay as they are: a staged call leaves them alone. */
static bool is_unstaged(const lowlat_task_t *task)
{
    return task->group->net->single && task->reducer->stride_bytes == task->reducer->last_bytes;
}

/* All of `in` is there at once. */
static arc_status_t unstaged_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    const arc_status_t status = lowlat_piped_drive(task);

    task->gathered = ARC_OK == status;
    return status;
}

static void start_unstaged(lowlat_task_t *task, lowlat_pipe_t *pipe)
{
    static const arc_task_ops_t ops = {.progress = unstaged_progress,
                                       .waits_for = lowlat_parts_waits_for,
                                       .awaits = lowlat_piped_awaits,
                                       .abort = lowlat_piped_abort};
    exchange_operation_t operation = operation_of(task, task->count);

    operation.layout.chunk_elems = chunk_elems(task, 1);
    operation.layout.chunks = arc_divide_up(task->count, operation.layout.chunk_elems);
    task->exchanged = 0;
    lowlat_task_begin(task, &ops, 1);
    task->task.memory_only = false;
    task->owners = 1;
    task->piped = &pipe->piped;
    pipe->piped.running = true;
    exchange_pipeline_start(pipe->piped.exchange, &operation);
}

static void start(lowlat_task_t *task)
{
    const lowlat_net_t *net = task->group->net;
    const unsigned owners = task->span_bytes <= task->leader_bytes ? 1 : net->owners;
    lowlat_pipe_t *pipe = net->pipe;
    const bool unstaged = is_unstaged(task);

    if (NULL != pipe) {
        pipe->task = task;
        pipe->unstaged = unstaged;
    }
    if (unstaged) {
        start_unstaged(task, pipe);
        return;
    }
    lowlat_piped_begin(task, NULL == pipe ? NULL : &pipe->piped,
                       chunk_elems(task, owners) * task->reducer->stride_bytes, owners,
                       lowlat_line_elems(task->reducer->stride_bytes));
    if (NULL != task->piped) {
        lowlat_piped_start(task, operation_of(task, lowlat_own_elems(task)));
    }
}

/* ---- the algorithms ---- */

void lowlat_direct_start(lowlat_task_t *task)
{
    const lowlat_net_t *net = task->group->net;

    assert(!net->loops);
    if (net->nodes > net->direct_nodes) {
        lowlat_halving_start(task);
    } else {
        start(task);
    }
}

void lowlat_ring_start(lowlat_task_t *task)
{
    assert(task->group->net->loops);
    start(task);
}
