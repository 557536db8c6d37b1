/*
 * The seam between an exchange and its numbers: what a message is made of, and what is done
 * with one that came.  exchange_pipeline.c says when and where; a coder knows the numbers, where
 * they are, how they are added, and the bytes of a message.
 *
 * There are two coders: exact sums of any type (coll_lowlat), and quantized ones (coll_quant).
 *
 * What a coder must keep.  Both ends of a message know its exchange_message_t before it exists, and
 * compute the same capacity for it.  The own part of a segment is read when a message is made of it
 * or added to it, and never after the total of that segment has been stored: in place, a total
 * takes its memory.  All ranks that decode a total store the same bytes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EXCHANGE_CODER_H
#define EXCHANGE_CODER_H

#include "exchange_layout.h"
#include "status.h"

/* Which message it is. */
typedef struct exchange_message {
    bool partial;   /* of a partial sum; else of a total */
    bool inside;    /* of a partial sum: it stays on its node (exchange_tree.h) */
    unsigned round; /* of a partial sum: in which it travels; of a total: the number of rounds */
    unsigned shard;
    exchange_span_t span; /* what the shard's segment covers of the vector; not empty */
} exchange_message_t;

/* A partial sum that waits for more. */
typedef struct exchange_sum {
    void *numbers; /* memory of the exchange: the longest sum of the configuration */
    float error;   /* the coder's: how far the numbers may be off */
} exchange_sum_t;

typedef struct exchange_coder exchange_coder_t;

/*
 * Without copies.  A coder whose messages are the numbers themselves may spare the buffers:
 * `part_at` tells where the own part is, which is then sent from there; `total_at` tells where the
 * result of a total is, which is then summed there, received there, and sent on from there.  Both
 * places must stay as they are until the call is over, and must not overlap.
 *
 * `x` is the partial sum to add, or NULL for the own part.  Buffers of messages have at least the
 * capacity of the message and are aligned to 16 bytes; one in a pack (exchange_pipeline_pack.h)
 * goes by way of a buffer in any case.
 */
typedef struct exchange_coder_ops {
    /* Bytes that the message has at most. */
    size_t (*capacity)(const exchange_coder_t *coder, const exchange_message_t *message);

    /* Is what came, `bytes` long, this message?  Called before anything else is done with it. */
    arc_status_t (*check)(const exchange_coder_t *coder, const exchange_message_t *message,
                          const void *buffer, size_t bytes) ARC_MUST_CHECK;

    /* Write the message of `x`, or of a total that of the own block; returns its bytes. */
    size_t (*encode)(exchange_coder_t *coder, const exchange_message_t *message,
                     const exchange_sum_t *x, void *buffer);

    /* *sum = what came + x; `sum` may be `x`. */
    void (*add)(exchange_coder_t *coder, const exchange_message_t *message, const void *buffer,
                const exchange_sum_t *x, exchange_sum_t *sum);

    /* Write the message `sent` of what came + x to another buffer; returns its bytes. */
    size_t (*hop)(exchange_coder_t *coder, const exchange_message_t *received, const void *buffer,
                  const exchange_sum_t *x, const exchange_message_t *sent, void *to);

    /* Of a reduce-scatter: what came + x is the result. */
    void (*store_sum)(exchange_coder_t *coder, const exchange_message_t *message,
                      const void *buffer, const exchange_sum_t *x);

    /* What came, or was made here, is the total: the result.  Not called if it is there already. */
    void (*store_total)(exchange_coder_t *coder, const exchange_message_t *message,
                        const void *buffer);

    /* Both may be NULL, or return NULL: the message then goes by way of a buffer. */
    const void *(*part_at)(const exchange_coder_t *coder, const exchange_message_t *message);
    void *(*total_at)(const exchange_coder_t *coder, const exchange_message_t *message);
} exchange_coder_ops_t;

/* Embedded as the first member of an implementation. */
struct exchange_coder {
    const exchange_coder_ops_t *ops;
};

#endif
