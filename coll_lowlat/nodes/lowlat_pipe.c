/*
 * Long messages between nodes.  Owner i of every node exchanges its part of each chunk with owner i
 * of the others; the chunks are those of the exchange, too (exchange_layout.h):
 *
 *   in the node     stage k, reduce k                                   publish k, gather k
 *   exchange              +-- allow k --> segments k of all shards --> complete k --+
 *
 * A chunk has a message of piece_bytes of numbers for each owner and node, or shorter ones where
 * the arenas have no room for that.  A window of the exchange has half of the chunks that fit into
 * an arena, so that the next ones can be staged meanwhile.
 *
 * Where no node has two ranks there is nothing to stage: the exchange reads `in` and writes `out`,
 * all chunks are available at once, and arenas bound nothing.
 *
 * Two algorithms differ in how partial sums travel (exchange_tree.h):
 *
 *   direct   Every part goes straight to the owner of its shard, who adds all of them in the
 *            order of recursive doubling (lowlat_order.h).  Totals go round a loop, from neighbour
 *            to neighbour.  Partial sums never travel, so those of 16-bit floats may be floats
 *            (lowlat_turn.h).  Above 32 nodes, where an owner would have too many connections, it
 *            is halving, whose sums are the same.
 *   ring     Partial sums go round the loop, too, so the order of the nodes is another one for each
 *            shard: the bits of an element depend on its place in the vector.  Networks have it
 *            easier when each node sends to one other, so who asks for it may have it.
 *
 *   cost     direct: N alpha + 2 (N-1)/N n beta
 *            ring:   2 (N-1) alpha + 2 (N-1)/N n beta; above 8 nodes half of the latencies
 *
 * A third exchange is not ours (exchange_fold.h): the node's sums are handed to it, and its totals
 * are gathered.
 *
 * Nobody waits for ever: a chunk becomes available by what is done in the node alone, as long as
 * its slot is free, which it is for all chunks of a window (lowlat_phases.h has the rest of the
 * argument, exchange_pipeline.h that of the exchange).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "lowlat_hierarchical.h"
#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_parts.h"
#include "lowlat_phases.h"
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
    const size_t places = net->loops ? 1 : lowlat_order_places(net->nodes);

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
    pipe->exchange =
        exchange_pipeline_init(&config, net->node, net->exchange[0].stream, &pipe->base,
                               (unsigned char *) memory + aligned_state_bytes());
    net->pipe = pipe;
}

/* ---- a call ---- */

static size_t own_elems(const lowlat_task_t *task, size_t part_elems)
{
    const lowlat_range_t last = lowlat_part(task, task->pieces - 1, task->group->rank);

    return (task->pieces - 1) * part_elems + (last.end - last.first);
}

/* Begin the exchange of our `elems` elements of all chunks, of which `at_once` fit. */
static void begin_exchange(lowlat_task_t *task, size_t elems, size_t chunks, size_t chunk_elems,
                           unsigned at_once)
{
    lowlat_pipe_t *pipe = task->group->net->pipe;
    exchange_operation_t operation = {
        .layout =
            {
                .count = elems,
                .shards = task->group->net->nodes,
                .row_elems = lowlat_line_elems(task->reducer->stride_bytes),
                .chunks = chunks,
                .chunk_elems = chunk_elems,
            },
        .collective = EXCHANGE_ALLREDUCE,
        .at_once = at_once,
    };

    pipe->task = task;
    pipe->running = true;
    if (NULL != pipe->fold) {
        pipe->parts = lowlat_pipe_parts(pipe, &operation);
        operation = pipe->fold->begin(pipe->fold, &pipe->parts);
    }
    exchange_pipeline_start(pipe->exchange, &operation);
}

/* NULL: the rank has no part of any chunk. */
static lowlat_pipe_t *pipe_of(const lowlat_task_t *task)
{
    return task->group->rank < task->owners ? task->group->net->pipe : NULL;
}

static arc_status_t drive_exchange(lowlat_task_t *task)
{
    lowlat_pipe_t *pipe = pipe_of(task);

    if (NULL == pipe || !pipe->running) {
        return ARC_OK;
    }
    const uint64_t steps = pipe->exchange->steps;
    const arc_status_t status = pipe->exchange->ops->progress(pipe->exchange);
    task->task.steps += pipe->exchange->steps - steps;
    pipe->running = ARC_IN_PROGRESS == status;
    return status;
}

/* What is staged has a slot, and so has its sum. */
static bool has_room(const lowlat_task_t *task)
{
    (void) task;
    return true;
}

static void allow_chunk(lowlat_task_t *task, size_t chunk)
{
    lowlat_pipe_t *pipe = pipe_of(task);

    if (NULL != pipe) {
        exchange_pipeline_allow(pipe->exchange, chunk + 1);
    }
}

static size_t completed_chunks(const lowlat_task_t *task)
{
    const lowlat_pipe_t *pipe = pipe_of(task);

    /* Chunks in which we have no part are complete as soon as they are reduced. */
    return NULL == pipe || !pipe->running
               ? task->reduced
               : arc_min(task->reduced, exchange_pipeline_completed(pipe->exchange));
}

static arc_status_t staged_progress(arc_task_t *base)
{
    static const lowlat_between_t between = {.has_room = has_room,
                                             .begin = allow_chunk,
                                             .drive = drive_exchange,
                                             .completed = completed_chunks};

    return lowlat_phases_progress((lowlat_task_t *) base, &between);
}

static arc_status_t unstaged_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    const arc_status_t status = drive_exchange(task);

    task->gathered = ARC_OK == status;
    return status;
}

static unsigned awaits(const arc_task_t *base)
{
    const lowlat_net_t *net = ((const lowlat_task_t *) base)->group->net;
    const lowlat_pipe_t *pipe = net->pipe;
    unsigned node = 0;

    if (NULL == pipe || !pipe->running) {
        return net->nodes;
    }
    while (node < net->nodes && !pipe->exchange->ops->waits_for(pipe->exchange, node)) {
        ++node;
    }
    return node;
}

static void give_up(arc_task_t *base)
{
    lowlat_pipe_t *pipe = ((lowlat_task_t *) base)->group->net->pipe;

    if (NULL != pipe && pipe->running) {
        arc_task_abort(pipe->exchange);
        pipe->running = false;
    }
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

static void start_staged(lowlat_task_t *task, size_t elems, unsigned owners, size_t row_elems)
{
    static const arc_task_ops_t staged = {.progress = staged_progress,
                                          .waits_for = lowlat_parts_waits_for,
                                          .awaits = awaits,
                                          .abort = give_up};

    task->exchanged = 0;
    lowlat_parts_begin(task, &staged, elems * task->reducer->stride_bytes, owners, row_elems);
    lowlat_pipe_t *pipe = pipe_of(task);
    if (NULL != pipe) {
        const lowlat_range_t part = lowlat_part(task, 0, task->group->rank);
        pipe->unstaged = false;
        pipe->part_elems = part.end - part.first;
        begin_exchange(task, own_elems(task, pipe->part_elems), task->pieces, pipe->part_elems,
                       (unsigned) (task->slots + 1) / 2);
    }
}

static void start(lowlat_task_t *task)
{
    static const arc_task_ops_t unstaged = {.progress = unstaged_progress,
                                            .waits_for = lowlat_parts_waits_for,
                                            .awaits = awaits,
                                            .abort = give_up};
    const lowlat_net_t *net = task->group->net;

    if (is_unstaged(task)) {
        task->exchanged = 0;
        lowlat_task_begin(task, &unstaged, 1);
        task->task.memory_only = false;
        task->owners = 1;
        net->pipe->unstaged = true;
        const size_t elems = chunk_elems(task, 1);
        begin_exchange(task, task->count, arc_divide_up(task->count, elems), elems, 0);
        return;
    }
    const unsigned owners = task->span_bytes <= task->leader_bytes ? 1 : net->owners;
    start_staged(task, chunk_elems(task, owners), owners,
                 lowlat_line_elems(task->reducer->stride_bytes));
}

/* ---- the algorithms ---- */

void lowlat_direct_start(lowlat_task_t *task)
{
    const lowlat_net_t *net = task->group->net;

    assert(!net->loops);
    if (net->nodes > LOWLAT_ORDER_NODES) {
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

/* ---- an exchange that is not ours ---- */

void lowlat_fold_start(lowlat_task_t *task, lowlat_pipe_t *pipe, exchange_fold_t *fold)
{
    lowlat_net_t *net = task->group->net;

    assert(!net->single && net->owners == task->group->ranks);
    *pipe = (lowlat_pipe_t){.exchange = fold->exchange, .fold = fold};
    net->pipe = pipe;
    start_staged(task, fold->message_elems * net->owners * net->nodes, net->owners,
                 fold->row_elems);
}
