/*
 * The state of the pipeline: for exchange_pipeline_setup.c, which makes it ready,
 * exchange_pipeline.c, which makes, sends and takes messages, and exchange_pipeline_pack.c, which
 * does so where several are one.
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
    arc_stream_request_t receive; /* while it receives */
    unsigned users;               /* who took it; of kept totals also sends to come, or under way */
    unsigned forwards;            /* of kept totals: sends to come */
} slot_t;

typedef struct sending {
    arc_stream_request_t request;
    unsigned peer;
    slot_t *slot; /* NULL: none is under way */
} sending_t;

/* What a rank has of one shard and one segment of the window. */
typedef struct cell {
    exchange_sum_t sum; /* of its subtree, as far as received */
    slot_t *kept;       /* where the total is, as long as it has to be sent on */
    const void *total;
    size_t total_bytes;
} cell_t;

/* The rounds of one message: from the first one on, up to that of the next pack. */
typedef struct pack {
    unsigned round;
    int after; /* the pack whose receive completes what is sent; EXCHANGE_AFTER_NOTHING */
} pack_t;

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
    size_t message_bytes; /* of a buffer */
    plan_t plan;

    exchange_operation_t operation;
    arc_status_t status;

    /* Of this call: */
    unsigned first;  /* round */
    unsigned rounds; /* from it on */
    unsigned packs;  /* of these rounds */
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
    pack_t *pack;            /* [rounds + 1]; behind the last one their end */
    int *pack_of;            /* [rounds] */
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

/* Message number `index` in the order of a rank; with another round one part of it. */
typedef struct place {
    unsigned round; /* the first one of the pack */
    unsigned end;   /* behind the last one */
    int after;      /* as that of the pack */
    unsigned pack;
    unsigned lane; /* of the window */
    size_t segment;
} place_t;

static inline place_t exchange_pipeline_place(const exchange_pipeline_t *pipe, uint64_t index)
{
    const uint64_t row = index / pipe->window;
    const unsigned lane = (unsigned) (index % pipe->window);
    const unsigned number = (unsigned) (row % pipe->packs);
    const pack_t *pack = &pipe->pack[number];

    return (place_t){
        .round = pack[0].round,
        .end = pack[1].round,
        .after = pack->after,
        .pack = number,
        .lane = lane,
        .segment = (size_t) (row / pipe->packs * pipe->window + lane),
    };
}

static inline bool exchange_pipeline_is_pack(const place_t *place)
{
    return place->end - place->round > 1;
}

/* The first message from `index` on that is not empty, of those that are sent, or received. */
static inline uint64_t exchange_pipeline_skip(const exchange_pipeline_t *pipe, uint64_t index,
                                              bool sent)
{
    for (; index < pipe->end; ++index) {
        place_t place = exchange_pipeline_place(pipe, index);
        for (; place.round < place.end; ++place.round) {
            const exchange_round_t *round = &pipe->round[place.round];
            const unsigned shard = sent ? round->send_shard : round->receive_shard;
            if (0 != exchange_layout_segment(&pipe->operation.layout, shard, place.segment).elems) {
                return index;
            }
        }
    }
    return index;
}

#endif
