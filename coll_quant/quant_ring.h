/*
 * Full-loop ring allreduce over quantized messages, as a resumable task.
 *
 * Rank r of N receives from r - 1 and sends to r + 1.  In step s of 0 .. 2N - 3
 * it sends shard r - s and receives shard r - s - 1 (modulo N); what it received
 * in step s it sends, changed or not, in step s + 1:
 *
 *   step              what a rank does with what it received in it
 *   0    .. N - 3     decode, add the own part, encode, send      reduce-scatter
 *   N - 2             the same, and the encoded total is the result of this
 *                     shard: decode it to recv, send it            owner
 *   N - 1 .. 2N - 4   send the very same bytes, decode to recv     allgather
 *   2N - 3            decode to recv
 *
 * All ranks decode the same bytes of a total, the owner too: equal results.
 * The additions follow the ring, never arrival: equal results in every run, for
 * every depth.  fp32 totals are never written to recv.
 *
 * Order of messages on a link.  A shard has many segments.  Were a step sent as
 * a whole, a rank would have to keep half a shard; so W segments of each shard
 * ("window") make the whole loop, then the next W.  Message (group, step, j) is
 * segment group * W + j of that step's shard; the order is lexicographic, empty
 * segments are left out.  A rank acts in this order, one after the other:
 *
 *   send (0, 0, j) for all j                                       own shard
 *   for all groups g, steps s, j:
 *       if s is the last step: send (g + 1, 0, j)                  own shard
 *       receive (g, s, j), act on it, send (g, s + 1, j)
 *
 * Buffers.  D slots; a slot is free, receiving or sending.  A received message
 * is changed in its slot and sent from it.  At most A slots receive at a time,
 *
 *   W = (D - 1) / 2,  A = D - 1 - W,  so D >= 3,  W >= 1,  A >= 1,  D = A + W + 1.
 *
 * No deadlock.  Assume nothing moves, but some rank is not finished.  Take the
 * rank r whose next action is earliest in the order above.
 *   1. What r has sent and r + 1 has not received: r + 1 has done every action
 *      before r's next one.  Between them lie at most W messages, those of
 *      (s, >= j) and (s + 1, < j).  So at most W slots of r are sending.
 *   2. The next action is a send of the own shard: it needs a free slot.  At
 *      most A receive and W send, D = A + W + 1: there is one.
 *   3. The next action is a receive: r - 1 has done every action before it,
 *      among them sending this message.  If r has a receive started, the oldest
 *      one matches it and completes.  If not, at most W of D slots are in use:
 *      r starts one.
 * Either way r moves: contradiction.  A finished rank has only sends left; all
 * their receives get started by the same argument.
 *
 * In place (send == recv).  Rank r overwrites segment j of shard i of recv only
 * with the total of it, and a total exists only after every rank, r among them,
 * has sent its partial sum with its own part of that very segment.  So the own
 * part has been read before.  Nothing else is written to recv.
 *
 * Cost for n elements, N ranks:  2 (N - 1) alpha + 2 (N - 1)/N n b beta
 * + n gamma, where b is 1.03 bytes (int8) instead of 4, gamma the time to decode
 * and encode an element.  Not for short vectors: 2 (N - 1) latencies.  The error
 * grows with N (N + 1)/2 quantizations (quant_error.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_RING_H
#define QUANT_RING_H

#include "quant_algos.h"

/* Contracts: see quant_algo_t. */
size_t quant_ring_memory_bytes(const quant_config_t *config);
arc_task_t *quant_ring_init(const quant_config_t *config, arc_stream_t *stream, void *memory);
void quant_ring_start(arc_task_t *task, const quant_operation_t *operation);
void quant_ring_abort(arc_task_t *task);
double quant_ring_reduce_growth(unsigned ranks);

#endif
