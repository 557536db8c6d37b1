/*
 * The state of the pipeline: for exchange_pipeline_setup.c, which makes it ready,
 * exchange_pipeline_send.c, which knows the order of messages, makes and sends them, and
 * exchange_pipeline.c, which takes messages and runs it all.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EXCHANGE_PIPELINE_STATE_H
#define EXCHANGE_PIPELINE_STATE_H

#include <assert.h>
#include <stdint.h>

#include "exchange_coder.h"
#include "exchange_schedule.h"
#include "stream.h"
#include "task.h"

/* A message buffer. */
typedef struct slot {
    uint8_t *buffer;
    const void *message;          /* the buffer, or where the coder has it */
    size_t bytes;                 /* of a kept message */
    arc_stream_request_t receive; /* while it receives */
    unsigned users;    /* who took it; of a kept message also sends to come, or under way */
    unsigned forwards; /* of a kept message: sends to come */
} slot_t;

typedef struct sending {
    arc_stream_request_t request;
    unsigned peer;
    slot_t *slot; /* NULL: none is under way */
} sending_t;

/* What a rank has of one shard and one segment of the window. */
typedef struct cell {
    exchange_sum_t sum; /* of its subtree, as far as received */
    slot_t *kept;       /* the total, as long as it has to be sent on */
} cell_t;

/* How many of each thing a rank needs; equal on all ranks. */
typedef struct plan {
    unsigned ranks;  /* and shards */
    unsigned rounds; /* of an allreduce */
    unsigned window; /* segments of a shard that travel together, at most */
    unsigned flight; /* A: receives, and sends, at a time */
    unsigned kept;   /* H: at most so many totals wait for forwards, and sums */
    unsigned slots;
} plan_t;

typedef struct exchange_pipeline {
    arc_task_t task; /* first: the task is the pipeline */
    arc_stream_t *stream;
    const unsigned *peer; /* [ranks] of the stream; NULL: they are the same */
    exchange_coder_t *coder;
    size_t sum_bytes;
    plan_t plan;

    exchange_operation_t operation;
    exchange_layout_t layout;
    arc_status_t status;

    /* Of this call: */
    unsigned first;  /* round */
    unsigned rounds; /* from it on */
    unsigned window;
    size_t available;      /* segments whose own parts are there */
    uint64_t end;          /* messages, the empty ones included */
    uint64_t send_next;    /* the next one to send */
    uint64_t receive_next; /* the next one to act on */
    uint64_t start_next;   /* the next one to start to receive */

    unsigned receiving_head; /* of the queue */
    unsigned receiving;
    unsigned sendings;
    unsigned kept; /* totals with forwards to come */
    unsigned free_slots;
    unsigned free_sums;

    exchange_round_t *round; /* [rounds] */
    cell_t *cell;            /* [shards][window] */
    slot_t *slot;            /* [slots] */
    sending_t *sending;      /* [flight] */
    slot_t **receiving_at;   /* [flight], a queue in order */
    slot_t **free_slot;      /* [slots], a stack: what was used last is in the cache */
    void **free_sum;         /* [kept], a stack */
    uint8_t *sums;           /* [kept][sum_bytes] */
    uint8_t *spare;          /* a buffer: a hop writes here and swaps it for that of the slot */
} exchange_pipeline_t;

extern const arc_task_ops_t exchange_pipeline_ops;

/* Message number `index` in the order of a rank. */
typedef struct place {
    unsigned round;
    unsigned lane; /* of the window */
    size_t segment;
} place_t;

static inline bool exchange_pipeline_is_reduce(const exchange_pipeline_t *pipe, unsigned round)
{
    return round < pipe->plan.rounds / 2;
}

static inline cell_t *exchange_pipeline_cell(const exchange_pipeline_t *pipe, unsigned shard,
                                             unsigned lane)
{
    return &pipe->cell[(size_t) shard * pipe->plan.window + lane];
}

/* The stacks; the proof of exchange_pipeline.h says why they neither run out nor overflow. */
static inline void exchange_pipeline_free_slot(exchange_pipeline_t *pipe, slot_t *slot)
{
    assert(pipe->free_slots < pipe->plan.slots);
    pipe->free_slot[pipe->free_slots++] = slot;
}

static inline slot_t *exchange_pipeline_take_slot(exchange_pipeline_t *pipe)
{
    assert(pipe->free_slots > 0);
    slot_t *slot = pipe->free_slot[--pipe->free_slots];
    slot->message = slot->buffer;
    slot->users = 1;
    slot->forwards = 0;
    return slot;
}

/* Where the message's total is wanted; NULL: in a buffer first. */
static inline void *exchange_pipeline_total_at(const exchange_pipeline_t *pipe,
                                               const exchange_message_t *message)
{
    const exchange_coder_ops_t *ops = pipe->coder->ops;

    return message->partial || NULL == ops->total_at ? NULL : ops->total_at(pipe->coder, message);
}

static inline void exchange_pipeline_free_sum(exchange_pipeline_t *pipe, void *numbers)
{
    assert(pipe->free_sums < pipe->plan.kept);
    pipe->free_sum[pipe->free_sums++] = numbers;
}

static inline void *exchange_pipeline_take_sum(exchange_pipeline_t *pipe)
{
    assert(pipe->free_sums > 0);
    return pipe->free_sum[--pipe->free_sums];
}

/* ---- exchange_pipeline_send.c ---- */

place_t exchange_pipeline_place(const exchange_pipeline_t *pipe, uint64_t index);

/* The first message from `index` on that is not empty, of those that are sent, or received. */
uint64_t exchange_pipeline_skip(const exchange_pipeline_t *pipe, uint64_t index, bool sent);

/* The message of `shard` in a place. */
exchange_message_t exchange_pipeline_message(const exchange_pipeline_t *pipe, const place_t *place,
                                             unsigned shard, bool partial);

/* One user less; the last one frees the slot. */
void exchange_pipeline_release(exchange_pipeline_t *pipe, slot_t *slot);

/* The slot has a total, which is to be sent `forwards` times. */
void exchange_pipeline_keep(exchange_pipeline_t *pipe, slot_t *slot, size_t bytes,
                            unsigned forwards, cell_t *cell);

/* Send what the slot has, the next message. */
arc_status_t exchange_pipeline_start_send(exchange_pipeline_t *pipe, slot_t *slot,
                                          size_t bytes) ARC_MUST_CHECK;

/* ARC_IN_PROGRESS: the next message is not there yet, or has no room. */
arc_status_t exchange_pipeline_send_next(exchange_pipeline_t *pipe) ARC_MUST_CHECK;

/* All that can be sent now. */
arc_status_t exchange_pipeline_send_ready(exchange_pipeline_t *pipe) ARC_MUST_CHECK;

/* Free the slots of sends that are over. */
arc_status_t exchange_pipeline_reap_sends(exchange_pipeline_t *pipe) ARC_MUST_CHECK;

#endif
