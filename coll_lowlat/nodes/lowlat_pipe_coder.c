/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_pipe_coder.h"
#include "lowlat_turn.h"
#include "sizes.h"

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

/* ---- the operations of exchange_coder.h ---- */

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
static lowlat_turn_t turn_of(const lowlat_pipe_t *pipe, const exchange_message_t *message,
                             const void *buffer, void *numbers)
{
    return (lowlat_turn_t){
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
}

static void direct_add(exchange_coder_t *base, const exchange_message_t *message,
                       const void *buffer, const exchange_sum_t *x, exchange_sum_t *sum)
{
    const lowlat_turn_t turn = turn_of((lowlat_pipe_t *) base, message, buffer, sum->numbers);

    (void) x; /* the same as `sum`, or there is none yet */
    lowlat_turn_keep(&turn);
}

/* Only owners have the parts of others, so what an owner sends is the total. */
static size_t direct_hop(exchange_coder_t *base, const exchange_message_t *received,
                         const void *buffer, const exchange_sum_t *x,
                         const exchange_message_t *sent, void *to)
{
    const lowlat_turn_t turn =
        turn_of((lowlat_pipe_t *) base, received, buffer, NULL == x ? NULL : x->numbers);

    assert(!sent->partial);
    lowlat_turn_end(&turn, to);
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
const exchange_coder_ops_t lowlat_pipe_direct_ops = CODER_OPS(direct);
const exchange_coder_ops_t lowlat_pipe_ring_ops = CODER_OPS(ring);
