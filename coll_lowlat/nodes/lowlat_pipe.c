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
 *            order of recursive doubling (lowlat_order.h).  Totals go round a loop.
 *   ring     Partial sums go round the loop, too, so the bits of an element depend on its place.
 *
 *   cost     direct: N alpha + 2 (N-1)/N n beta
 *            ring:   2 (N-1) alpha + 2 (N-1)/N n beta; above 8 nodes half of the latencies
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_order.h"
#include "lowlat_piped.h"
#include "sizes.h"

enum {
    /* Segments under way: enough for the link, few enough for the cache; */
    DEPTH = 8,
    /* the most nodes of the ring as a full loop, which fills links better than a semi loop but has
     * twice its latencies (both: docs/benchmarks_nodes.md). */
    FULL_LOOP_NODES = 8,
};

/* The coder of exact numbers, and the exchange that it is for. */
typedef struct lowlat_pipe {
    exchange_coder_t base; /* first: the exchange is handed this */
    lowlat_piped_t piped;
    size_t message_bytes; /* of its buffers, and of a place for a partial sum */
    lowlat_order_t order; /* of direct */
    lowlat_task_t *task;  /* of the call */
    bool unstaged;        /* from `in` to `out`: no rank shares our node */
} lowlat_pipe_t;

/* ---- where the numbers are ---- */

static const unsigned char *own_at(const lowlat_pipe_t *pipe, const exchange_message_t *message)
{
    const size_t begin = message->span.begin;

    return pipe->unstaged ? lowlat_in(pipe->task, begin * pipe->task->reducer->stride_bytes)
                          : lowlat_own_at(pipe->task, begin);
}

static unsigned char *result_at(const lowlat_pipe_t *pipe, const exchange_message_t *message)
{
    const size_t begin = message->span.begin;

    return pipe->unstaged ? lowlat_out(pipe->task, begin * pipe->task->reducer->stride_bytes)
                          : lowlat_own_at(pipe->task, begin);
}

/* ---- exact numbers as the coder of an exchange (exchange_coder.h) ---- */

static size_t capacity(const exchange_coder_t *base, const exchange_message_t *message)
{
    const lowlat_pipe_t *pipe = (const lowlat_pipe_t *) base;
    const size_t bytes = message->span.elems * pipe->task->reducer->stride_bytes;

    assert(bytes <= pipe->message_bytes);
    return bytes;
}

static arc_status_t check(const exchange_coder_t *base, const exchange_message_t *message,
                          const void *buffer, size_t bytes)
{
    (void) buffer;
    return capacity(base, message) == bytes ? ARC_OK : ARC_ERR_PROTOCOL;
}

static size_t encode(exchange_coder_t *base, const exchange_message_t *message,
                     const exchange_sum_t *x, void *buffer)
{
    const size_t bytes = capacity(base, message);

    memcpy(buffer, NULL == x ? own_at((lowlat_pipe_t *) base, message) : x->numbers, bytes);
    return bytes;
}

/* What came is the left operand. */
static void add_in_loop(const lowlat_pipe_t *pipe, const exchange_message_t *message,
                        const void *buffer, const exchange_sum_t *x, void *sum)
{
    const arc_reducer_t *reducer = pipe->task->reducer;
    const void *parts[] = {buffer, NULL == x ? own_at(pipe, message) : x->numbers};

    reducer->reduce(parts, 2, sum, message->span.elems, reducer->context);
}

static void ring_add(exchange_coder_t *base, const exchange_message_t *message, const void *buffer,
                     const exchange_sum_t *x, exchange_sum_t *sum)
{
    add_in_loop((lowlat_pipe_t *) base, message, buffer, x, sum->numbers);
}

static size_t ring_hop(exchange_coder_t *base, const exchange_message_t *received,
                       const void *buffer, const exchange_sum_t *x, const exchange_message_t *sent,
                       void *to)
{
    add_in_loop((lowlat_pipe_t *) base, received, buffer, x, to);
    return capacity(base, sent);
}

/* The places for partial sums are in `numbers`. */
static void add_turn(const lowlat_pipe_t *pipe, const exchange_message_t *message,
                     const void *buffer, void *numbers, void *total)
{
    const lowlat_turn_t turn = {
        .order = &pipe->order,
        .number = message->round,
        .count = message->span.elems,
        .came = buffer,
        .own = own_at(pipe, message),
        .places = numbers,
        .place_bytes = pipe->message_bytes,
        .reducer = pipe->task->reducer,
        .widened = pipe->task->widened,
    };

    lowlat_turn_add(&turn, total);
}

static void direct_add(exchange_coder_t *base, const exchange_message_t *message,
                       const void *buffer, const exchange_sum_t *x, exchange_sum_t *sum)
{
    (void) x; /* the same as `sum`, or there is none yet */
    add_turn((lowlat_pipe_t *) base, message, buffer, sum->numbers, NULL);
}

/* Only owners have the parts of others, so what an owner sends is the total. */
static size_t direct_hop(exchange_coder_t *base, const exchange_message_t *received,
                         const void *buffer, const exchange_sum_t *x,
                         const exchange_message_t *sent, void *to)
{
    assert(!sent->partial);
    add_turn((lowlat_pipe_t *) base, received, buffer, NULL == x ? NULL : x->numbers, to);
    return capacity(base, sent);
}

static void store_total(exchange_coder_t *base, const exchange_message_t *message,
                        const void *buffer)
{
    memcpy(result_at((lowlat_pipe_t *) base, message), buffer, capacity(base, message));
}

/*
 * From `in` to `out` nothing is copied.  Not in the node, where a slot is used again while a
 * total may still be sent from it, nor where `in` is `out`: a total would be awaited where the own
 * part still is.  Nor where a time limit may give messages up while the network still has them:
 * then they must be in memory of ours, which stays.
 */
static bool spares_copies(const lowlat_pipe_t *pipe)
{
    const lowlat_task_t *task = pipe->task;
    return pipe->unstaged && task->in != task->out && !task->group->net->gives_up;
}

static const void *part_at(const exchange_coder_t *base, const exchange_message_t *message)
{
    const lowlat_pipe_t *pipe = (const lowlat_pipe_t *) base;
    return spares_copies(pipe) ? own_at(pipe, message) : NULL;
}

static void *total_at(const exchange_coder_t *base, const exchange_message_t *message)
{
    const lowlat_pipe_t *pipe = (const lowlat_pipe_t *) base;
    return spares_copies(pipe) ? result_at(pipe, message) : NULL;
}

/* No store_sum: only whole allreduces. */
#define CODER_OPS(_algorithm)                                                            \
    {                                                                                    \
        .capacity = capacity, .check = check, .encode = encode, .add = _algorithm##_add, \
        .hop = _algorithm##_hop, .store_total = store_total, .part_at = part_at,         \
        .total_at = total_at,                                                            \
    }
static const exchange_coder_ops_t direct_ops = CODER_OPS(direct);
static const exchange_coder_ops_t ring_ops = CODER_OPS(ring);

/* ---- set-up ---- */

void lowlat_pipe_prepare(lowlat_net_t *net)
{
    net->direct_nodes = LOWLAT_ORDER_NODES;
    net->places = net->nodes <= LOWLAT_ORDER_NODES ? lowlat_order_places(net->nodes) : 0;
}

void lowlat_pipe_init(lowlat_net_t *net, arc_room_t *room)
{
    if (!net->loops && net->nodes > LOWLAT_ORDER_NODES) {
        return;
    }
    /* Chunks are cut into parts, and these into pieces, of whole lines or elements. */
    const size_t message_bytes =
        arc_round_up(net->piece_bytes + 2 * (size_t) LOWLAT_MAX_ELEMENT_BYTES, ARC_ALIGN_BYTES);
    const exchange_config_t config = {
        .tree = !net->loops                     ? &exchange_direct_loop
                : net->nodes <= FULL_LOOP_NODES ? &exchange_full_loop
                                                : &exchange_semi_loop,
        .shape = exchange_shape_flat(net->nodes),
        .depth = DEPTH,
        .message_bytes = message_bytes,
        .sum_bytes = (net->loops ? 1 : net->places) * message_bytes,
        .peer = net->peer,
    };
    lowlat_pipe_t *pipe = arc_room_take(room, sizeof *pipe);
    arc_task_t *exchange = exchange_pipeline_init(&config, net->node, net->exchange[0].stream,
                                                  (exchange_coder_t *) pipe, room);
    if (NULL == pipe) {
        return;
    }
    *pipe = (lowlat_pipe_t){.base.ops = net->loops ? &ring_ops : &direct_ops,
                            .message_bytes = config.message_bytes,
                            .piped.exchange = exchange};
    if (!net->loops) {
        lowlat_order_init(&pipe->order, net->node, net->nodes);
    }
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

/* All of `in` is there at once. */
static void start_unstaged(lowlat_task_t *task, lowlat_pipe_t *pipe)
{
    static const arc_task_ops_t ops = {.progress = lowlat_piped_drive,
                                       .waits_for = lowlat_parts_waits_for,
                                       .awaits = lowlat_piped_awaits,
                                       .abort = lowlat_piped_abort};
    exchange_operation_t operation = operation_of(task, task->count);

    operation.layout.chunk_elems = chunk_elems(task, 1);
    operation.layout.chunks = arc_divide_up(task->count, operation.layout.chunk_elems);
    lowlat_task_begin(task, &ops, 1);
    task->task.memory_only = false;
    task->piped = &pipe->piped;
    pipe->piped.running = true;
    exchange_pipeline_start(pipe->piped.exchange, &operation);
}

static void start(lowlat_task_t *task)
{
    const lowlat_net_t *net = task->group->net;
    const unsigned owners = lowlat_net_owners(task);
    lowlat_pipe_t *pipe = net->pipe;
    const bool unstaged = lowlat_net_is_unstaged(task);

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
