/*
 * The state of the pipeline: for quant_pipeline_setup.c, which makes it ready,
 * quant_pipeline_send.c, which makes and sends messages, and quant_pipeline.c, which
 * takes messages and runs it all.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_PIPELINE_STATE_H
#define QUANT_PIPELINE_STATE_H

#include "quant_cut.h"
#include "quant_layout.h"
#include "quant_pipeline.h"
#include "quant_schedule.h"
#include "quant_wire.h"

/* A message buffer. */
typedef struct slot {
    uint8_t *message;
    size_t bytes;                 /* of a kept message */
    arc_stream_request_t receive; /* while it receives */
    unsigned users;               /* sends to come or under way, and the decoder */
    bool kept;
} slot_t;

typedef struct sending {
    arc_stream_request_t request;
    unsigned peer;
    slot_t *slot;
} sending_t;

/* What a rank has of one shard and one segment of the window. */
typedef struct cell {
    void *sum;    /* of its subtree, as far as received */
    float error;  /* of the sum: how far it may be off */
    slot_t *kept; /* the coded total, as long as it has to be sent on */
} cell_t;

/* How much of what a rank of `ranks` needs; equal on all ranks. */
typedef struct plan {
    unsigned rounds; /* of an allreduce */
    unsigned shards;
    unsigned window; /* segments of a shard that travel together, at most */
    unsigned flight; /* A: slots that receive, and slots that send, at a time */
    unsigned kept;   /* H */
    unsigned slots;
    unsigned sums;
} plan_t;

typedef struct quant_pipeline {
    arc_task_t task; /* first: the task is the pipeline */
    quant_config_t config;
    arc_stream_t *stream;
    plan_t plan;

    quant_operation_t operation;
    quant_layout_t layout;
    unsigned block_rows; /* of the call's tiles */
    arc_status_t status;
    float bound; /* of the totals that are complete */

    /* Of this call: */
    unsigned first;  /* round */
    unsigned rounds; /* from it on */
    size_t own;      /* where the own block begins; 0: the vector has no blocks */
    unsigned window;
    uint64_t end;          /* messages, the empty ones included */
    uint64_t send_next;    /* the next one to send */
    uint64_t receive_next; /* the next one to act on */
    uint64_t start_next;   /* the next one to start to receive */

    unsigned receiving_head; /* of the queue */
    unsigned receiving;
    unsigned coded; /* slots with an encoded sum or own part under way */
    unsigned kept;
    unsigned sendings;
    unsigned free_slots;
    unsigned free_sums;

    quant_round_t *round;           /* [rounds] */
    cell_t *cell;                   /* [shards][window] */
    slot_t *slot;                   /* [slots] */
    sending_t *sending;             /* [slots] */
    sending_t **sending_at;         /* [slots], of them the first `sendings` are under way */
    slot_t **receiving_at;          /* [flight], a queue in order */
    slot_t **free_slot;             /* [slots], a stack: what was used last is in the cache */
    void **free_sum;                /* [sums], a stack */
    uint8_t *sums;                  /* [sums][segment_elems] */
    const quant_numbers_t *numbers; /* of the call */
    quant_scratch_t scratch; /* numbers: a segment of what is to be encoded, NULL without need */
    uint8_t *spare;          /* a message: a hop writes here and swaps it for that of the slot */
} quant_pipeline_t;

extern const arc_task_ops_t quant_pipeline_ops;

/* Message number `index` in the order of a rank. */
typedef struct place {
    unsigned round;
    unsigned lane; /* of the window */
    size_t segment;
} place_t;

place_t quant_pipeline_place(const quant_pipeline_t *pipe, uint64_t index);

/* What the rank sends, and what it receives, in a place. */
quant_span_t quant_pipeline_sent(const quant_pipeline_t *pipe, const place_t *place);
quant_span_t quant_pipeline_received(const quant_pipeline_t *pipe, const place_t *place);

/* The first message from `index` on that is not empty, of those of one of the functions above. */
uint64_t quant_pipeline_skip(const quant_pipeline_t *pipe, uint64_t index,
                             quant_span_t (*span_at)(const quant_pipeline_t *, const place_t *));

/* Bytes of a number of the program. */
static inline size_t quant_pipeline_bytes(const quant_pipeline_t *pipe)
{
    return NULL == pipe->operation.outer ? pipe->numbers->bytes : pipe->operation.outer->bytes;
}

/* Number `index` of an array of the program's. */
static inline const void *quant_pipeline_at(const quant_pipeline_t *pipe, const void *numbers,
                                            size_t index)
{
    return (const uint8_t *) numbers + index * quant_pipeline_bytes(pipe);
}

static inline void *quant_pipeline_into(const quant_pipeline_t *pipe, void *numbers, size_t index)
{
    return (uint8_t *) numbers + index * quant_pipeline_bytes(pipe);
}

/* ---- quant_pipeline_send.c ---- */

bool quant_pipeline_is_reduce(const quant_pipeline_t *pipe, unsigned round);
cell_t *quant_pipeline_cell(const quant_pipeline_t *pipe, unsigned shard, unsigned lane);

/*
 * A message of `shard` in the place, of a partial sum or of a total; of a total any place of its
 * segment will do.
 */
quant_wire_segment_t quant_pipeline_segment(const quant_pipeline_t *pipe, bool partial,
                                            const place_t *place, unsigned shard,
                                            const quant_span_t *span);

/* The own part of a segment, with what it lacked in the call before; *error: how far it is off. */
const void *quant_pipeline_own_part(quant_pipeline_t *pipe, const quant_span_t *span, float *error);

/* `message` was made of `value`: keep what it lacks for the next call. */
void quant_pipeline_keep_residual(const quant_pipeline_t *pipe, const quant_wire_segment_t *segment,
                                  const quant_span_t *span, const void *value, const void *message);

/* One user less; the last one frees the slot. */
void quant_pipeline_release(quant_pipeline_t *pipe, slot_t *slot);

/* The slot has a total, which `forwards` sends are to come of. */
void quant_pipeline_keep(quant_pipeline_t *pipe, slot_t *slot, size_t bytes, unsigned forwards,
                         cell_t *cell);

void quant_pipeline_decode_total(const quant_pipeline_t *pipe, const quant_wire_segment_t *segment,
                                 const slot_t *slot, const quant_format_t *format,
                                 const quant_span_t *span);

/* Send what the slot has, the next message. */
arc_status_t quant_pipeline_start_send(quant_pipeline_t *pipe, slot_t *slot, size_t bytes,
                                       unsigned peer) ARC_MUST_CHECK;

/* ARC_IN_PROGRESS: the next message is not there yet, or has no room. */
arc_status_t quant_pipeline_send_next(quant_pipeline_t *pipe) ARC_MUST_CHECK;

/* All that can be sent now. */
arc_status_t quant_pipeline_send_ready(quant_pipeline_t *pipe) ARC_MUST_CHECK;

/* Free the slots of sends that are over. */
arc_status_t quant_pipeline_reap_sends(quant_pipeline_t *pipe) ARC_MUST_CHECK;

#endif
