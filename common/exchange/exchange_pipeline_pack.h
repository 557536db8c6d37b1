/*
 * What the pipeline keeps, and what is in a message of several rounds, a pack:
 *
 *   | bytes of each part, 4 each | part | part | ...       all at multiples of 16 bytes
 *
 * A part is the message that its round would have alone; an empty one has no bytes.  Both ends know
 * from the schedule and the layout which rounds are in a pack.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EXCHANGE_PIPELINE_PACK_H
#define EXCHANGE_PIPELINE_PACK_H

#include "exchange_pipeline_state.h"

/* A pack of so many parts of up to `bytes` bytes has at most. */
size_t exchange_pack_bytes(unsigned parts, size_t bytes);

/* Write the parts of `place` to the slot; their bytes. */
size_t exchange_pack_make(exchange_pipeline_t *pipe, const place_t *place, slot_t *slot);

/* ARC_ERR_PROTOCOL: what came in the slot is not that pack. */
arc_status_t exchange_pack_check(const exchange_pipeline_t *pipe, const place_t *place,
                                 const slot_t *slot, size_t bytes) ARC_MUST_CHECK;

/* Add what came in the slot to the sums; or keep the totals, to be forwarded; or store these. */
void exchange_pack_add(exchange_pipeline_t *pipe, const place_t *place, slot_t *slot);
void exchange_pack_keep(exchange_pipeline_t *pipe, const place_t *place, slot_t *slot);
void exchange_pack_store(exchange_pipeline_t *pipe, const place_t *place, slot_t *slot);

/* ---- of one part, or one message ---- */

bool exchange_keep_is_reduce(const exchange_pipeline_t *pipe, unsigned round);
cell_t *exchange_keep_cell(const exchange_pipeline_t *pipe, unsigned shard, unsigned lane);

/* The message of `shard` in a place, and that which arrives there. */
exchange_message_t exchange_keep_message(const exchange_pipeline_t *pipe, const place_t *place,
                                         unsigned shard, bool partial);
exchange_message_t exchange_keep_received(const exchange_pipeline_t *pipe, const place_t *place);

/* Slots and sums; the proof of exchange_pipeline.h says why they neither run out nor overflow. */
void exchange_keep_free_slot(exchange_pipeline_t *pipe, slot_t *slot);
void exchange_keep_free_sum(exchange_pipeline_t *pipe, void *numbers);

/* One user less; the last one frees the slot. */
void exchange_keep_release(exchange_pipeline_t *pipe, slot_t *slot);

/* The slot has the total of a shard, which is to be sent as often as the round of `place` says. */
void exchange_keep_total(exchange_pipeline_t *pipe, slot_t *slot, const void *total, size_t bytes,
                         const place_t *place, unsigned shard);

/* One of its totals is sent, or where it will be sent from. */
void exchange_keep_forwarded(exchange_pipeline_t *pipe, slot_t *slot);

/* Add what came to the sum of the round's shard, which begins with the own part. */
void exchange_keep_add(exchange_pipeline_t *pipe, const place_t *place,
                       const exchange_message_t *message, const void *buffer);

/*
 * The sum that the round of a place sends; NULL: the own part.  Free for the next one already: it
 * is to be read before anything else happens.
 */
const exchange_sum_t *exchange_keep_sent(exchange_pipeline_t *pipe, const place_t *place);

#endif
