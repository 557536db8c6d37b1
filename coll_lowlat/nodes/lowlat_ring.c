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
 *   cost   2 (N-1) alpha + 2 (N-1)/N n beta; above 8 nodes half of the latencies
 *
 * Nobody waits for ever: a chunk becomes available by what is done in the node alone, as long as
 * its slot is free, which it is for all chunks of a window (lowlat_hierarchical.c has the rest of
 * the argument, exchange_pipeline.h that of the exchange).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "lowlat_hierarchical.h"
#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_parts.h"
#include "lowlat_ring.h"
#include "sizes.h"

enum {
    /* Segments under way: enough for the link, few enough for the cache; */
    DEPTH = 8,
    /* the most nodes of a full loop, which fills links better than a semi loop but has twice its
     * latencies (both: docs/benchmarks_nodes.md). */
    FULL_LOOP_NODES = 8,
};

static exchange_config_t config_of(unsigned nodes, size_t piece_bytes)
{
    /* Chunks are cut into parts, and these into pieces, of whole lines or elements. */
    const size_t message_bytes = piece_bytes + 2 * (size_t) LOWLAT_MAX_ELEMENT_BYTES;

    return (exchange_config_t){
        .tree = nodes <= FULL_LOOP_NODES ? &exchange_full_loop : &exchange_semi_loop,
        .shape = exchange_shape_flat(nodes),
        .depth = DEPTH,
        .message_bytes = message_bytes,
        .sum_bytes = message_bytes,
    };
}

/* ---- where the numbers are ---- */

/* Element `elem` of our parts, one chunk's after the other. */
static unsigned char *slot_at(const lowlat_ring_t *ring, size_t chunk, size_t elem)
{
    const lowlat_task_t *task = ring->task;
    const unsigned rank = task->group->rank;
    const size_t before = chunk * ring->part_elems;

    return lowlat_part_at(task, rank, chunk, lowlat_part(task, chunk, rank).first + elem - before);
}

static const unsigned char *own_at(const lowlat_ring_t *ring, const exchange_message_t *message)
{
    const size_t begin = message->span.begin;

    return ring->direct ? lowlat_in(ring->task, begin * ring->task->reducer->stride_bytes)
                        : slot_at(ring, message->segment, begin);
}

static unsigned char *result_at(const lowlat_ring_t *ring, const exchange_message_t *message)
{
    const size_t begin = message->span.begin;

    return ring->direct ? lowlat_out(ring->task, begin * ring->task->reducer->stride_bytes)
                        : slot_at(ring, message->segment, begin);
}

/* ---- the operations of exchange_coder.h ---- */

static size_t capacity(const exchange_coder_t *base, const exchange_message_t *message)
{
    const lowlat_ring_t *ring = (const lowlat_ring_t *) base;
    const size_t bytes = message->span.elems * ring->task->reducer->stride_bytes;

    assert(bytes <= ring->message_bytes);
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

    memcpy(buffer, NULL == x ? own_at((lowlat_ring_t *) base, message) : x->numbers, bytes);
    return bytes;
}

/* What came is the left operand. */
static void add_to(const lowlat_ring_t *ring, const exchange_message_t *message, const void *buffer,
                   const exchange_sum_t *x, void *sum)
{
    const arc_reducer_t *reducer = ring->task->reducer;
    const void *parts[] = {buffer, NULL == x ? own_at(ring, message) : x->numbers};

    reducer->reduce(parts, 2, sum, message->span.elems, reducer->context);
}

static void add(exchange_coder_t *base, const exchange_message_t *message, const void *buffer,
                const exchange_sum_t *x, exchange_sum_t *sum)
{
    add_to((lowlat_ring_t *) base, message, buffer, x, sum->numbers);
}

static size_t hop(exchange_coder_t *base, const exchange_message_t *received, const void *buffer,
                  const exchange_sum_t *x, const exchange_message_t *sent, void *to)
{
    add_to((lowlat_ring_t *) base, received, buffer, x, to);
    return capacity(base, sent);
}

static void store_total(exchange_coder_t *base, const exchange_message_t *message,
                        const void *buffer)
{
    memcpy(result_at((lowlat_ring_t *) base, message), buffer, capacity(base, message));
}

/*
 * From `in` to `out` nothing is copied.  Not in the node, where a slot is used again while a
 * total may still be sent from it, nor where `in` is `out`: a total would be awaited where the own
 * part still is.  Nor where a time limit may give messages up while the network still has them:
 * then they must be in memory of ours, which stays.
 */
static bool spares_copies(const lowlat_ring_t *ring)
{
    const lowlat_task_t *task = ring->task;
    return ring->direct && task->in != task->out && !task->group->net->gives_up;
}

static const void *part_at(const exchange_coder_t *base, const exchange_message_t *message)
{
    const lowlat_ring_t *ring = (const lowlat_ring_t *) base;
    return spares_copies(ring) ? own_at(ring, message) : NULL;
}

static void *total_at(const exchange_coder_t *base, const exchange_message_t *message)
{
    const lowlat_ring_t *ring = (const lowlat_ring_t *) base;
    return spares_copies(ring) ? result_at(ring, message) : NULL;
}

/* No store_sum: only whole allreduces. */
static const exchange_coder_ops_t coder_ops = {
    .capacity = capacity,
    .check = check,
    .encode = encode,
    .add = add,
    .hop = hop,
    .store_total = store_total,
    .part_at = part_at,
    .total_at = total_at,
};

/* ---- set-up ---- */

static size_t aligned_state_bytes(void)
{
    return arc_round_up(sizeof(lowlat_ring_t), EXCHANGE_ALIGN_BYTES);
}

size_t lowlat_ring_memory_bytes(unsigned nodes, size_t piece_bytes)
{
    const exchange_config_t config = config_of(nodes, piece_bytes);
    return aligned_state_bytes() + exchange_pipeline_memory_bytes(&config);
}

void lowlat_ring_init(lowlat_net_t *net, void *memory)
{
    exchange_config_t config = config_of(net->nodes, net->piece_bytes);
    lowlat_ring_t *ring = memory;

    config.peer = net->peer;
    *ring = (lowlat_ring_t){.base.ops = &coder_ops, .message_bytes = config.message_bytes};
    ring->exchange =
        exchange_pipeline_init(&config, net->node, net->exchange[0].stream, &ring->base,
                               (unsigned char *) memory + aligned_state_bytes());
    net->ring = ring;
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
    lowlat_ring_t *ring = task->group->net->ring;
    const exchange_operation_t operation = {
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

    ring->task = task;
    ring->running = true;
    exchange_pipeline_start(ring->exchange, &operation);
}

/* NULL: the rank has no part of any chunk. */
static lowlat_ring_t *ring_of(const lowlat_task_t *task)
{
    return task->group->rank < task->owners ? task->group->net->ring : NULL;
}

static arc_status_t drive_exchange(lowlat_task_t *task)
{
    lowlat_ring_t *ring = ring_of(task);

    if (NULL == ring || !ring->running) {
        return ARC_OK;
    }
    const uint64_t steps = ring->exchange->steps;
    const arc_status_t status = ring->exchange->ops->progress(ring->exchange);
    task->task.steps += ring->exchange->steps - steps;
    ring->running = ARC_IN_PROGRESS == status;
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
    lowlat_ring_t *ring = ring_of(task);

    if (NULL != ring) {
        exchange_pipeline_allow(ring->exchange, chunk + 1);
    }
}

static size_t completed_chunks(const lowlat_task_t *task)
{
    const lowlat_ring_t *ring = ring_of(task);

    /* Chunks in which we have no part are complete as soon as they are reduced. */
    return NULL == ring || !ring->running
               ? task->reduced
               : arc_min(task->reduced, exchange_pipeline_completed(ring->exchange));
}

static arc_status_t staged_progress(arc_task_t *base)
{
    static const lowlat_between_t between = {.has_room = has_room,
                                             .begin = allow_chunk,
                                             .drive = drive_exchange,
                                             .completed = completed_chunks};

    return lowlat_hierarchical_progress((lowlat_task_t *) base, &between);
}

static arc_status_t direct_progress(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    const arc_status_t status = drive_exchange(task);

    task->gathered = ARC_OK == status;
    return status;
}

static bool waits_for(const arc_task_t *base, unsigned rank)
{
    return lowlat_parts_waits_for((const lowlat_task_t *) base, rank);
}

static bool waits_for_nobody(const arc_task_t *base, unsigned rank)
{
    (void) base;
    (void) rank;
    return false;
}

size_t lowlat_ring_max_bytes(const lowlat_group_t *group)
{
    return NULL != group->net ? SIZE_MAX : 0;
}

/* Elements of a chunk that has a piece for each owner and node. */
static size_t chunk_elems(const lowlat_task_t *task, unsigned owners)
{
    const lowlat_net_t *net = task->group->net;
    const size_t stride_bytes = task->reducer->stride_bytes;
    const size_t line_elems = lowlat_line_elems(stride_bytes);
    const size_t lines = net->piece_bytes / (line_elems * stride_bytes);

    return (lines > 0 ? lines : 1) * line_elems * owners * net->nodes;
}

/* Bytes between elements must stay as they are: a staged call leaves them alone. */
static bool is_direct(const lowlat_task_t *task)
{
    return task->group->net->single && task->reducer->stride_bytes == task->reducer->last_bytes;
}

void lowlat_ring_start(lowlat_task_t *task)
{
    static const arc_task_ops_t staged = {.progress = staged_progress, .waits_for = waits_for};
    static const arc_task_ops_t direct = {.progress = direct_progress,
                                          .waits_for = waits_for_nobody};
    const lowlat_net_t *net = task->group->net;

    task->exchanged = 0;
    if (is_direct(task)) {
        lowlat_task_begin(task, &direct, 1);
        task->task.memory_only = false;
        task->reduced = 0; /* no exchange of a schedule is under way */
        task->owners = 1;
        net->ring->direct = true;
        const size_t elems = chunk_elems(task, 1);
        begin_exchange(task, task->count, arc_divide_up(task->count, elems), elems, 0);
        return;
    }
    const unsigned owners = task->span_bytes <= net->leader_bytes ? 1 : net->owners;
    lowlat_parts_begin(task, &staged, chunk_elems(task, owners) * task->reducer->stride_bytes,
                       owners);
    if (NULL != ring_of(task)) {
        const lowlat_range_t part = lowlat_part(task, 0, task->group->rank);
        net->ring->direct = false;
        net->ring->part_elems = part.end - part.first;
        begin_exchange(task, own_elems(task, net->ring->part_elems), task->pieces,
                       net->ring->part_elems, (unsigned) (task->slots + 1) / 2);
    }
}

unsigned lowlat_ring_awaits(const lowlat_task_t *task)
{
    const lowlat_net_t *net = task->group->net;
    const lowlat_ring_t *ring = net->ring;
    unsigned node = 0;

    if (NULL == ring || !ring->running) {
        return net->nodes;
    }
    while (node < net->nodes && !ring->exchange->ops->waits_for(ring->exchange, node)) {
        ++node;
    }
    return node;
}

void lowlat_ring_abort(const lowlat_net_t *net)
{
    if (NULL != net->ring && net->ring->running) {
        exchange_pipeline_abort(net->ring->exchange);
        net->ring->running = false;
    }
}
