/*
 * The engine of all algorithms: runs the schedule of a tree over quantized
 * messages, many segments at a time, as a resumable task.
 *
 * Order.  A shard has many segments.  W segments of every shard ("window") pass
 * all rounds of the schedule, then the next W.  Message (group, round, j) carries
 * segment group * W + j of that round's shard; the order of messages is
 * lexicographic, on every link and on every rank; empty segments are left out.
 * A rank has two cursors that move through this order independently:
 *
 *   receive   in the first half of the rounds, decode and add to the sum of that
 *             segment, which starts with the own part; the root encodes the total
 *             and decodes it to recv.  In the second half, decode to recv; keep the
 *             bytes as long as they are to be forwarded
 *   send      as soon as its receive cursor has passed all that goes into a
 *             message: encode the sum or the own part, or send kept bytes
 *
 * All ranks decode the same bytes of a total, the root too: equal results.  The
 * additions follow the schedule, never arrival: equal results in every run, for
 * every depth.  Partial sums are never written to recv.
 *
 * Buffers.  Slots of one message each, in one of four states:
 *
 *   free --> receiving (at most A) --> free, sending, or kept (at most H)
 *        \-> sending   (at most A) --> free             kept --> free
 *
 * H sums of one segment of floats, and one spare message.  A total, or a sum that is the next
 * message and can be sent now, is not kept as a sum: it goes, tile by tile, from the received
 * message to the spare one, which changes places with that of the slot.  With L the most open nodes
 * of the tree (quant_tree.h) and D the depth of the configuration,
 *
 *   W = (D - 1)/2/L but at least 1,   A = D/2,   H = W L,   H + A + 1 slots.
 *
 * With levels W is twice as large: half of the open nodes only collect sums on their machine, and
 * what is between machines should be as much as without.
 *
 * A message is received or sent at most A times at a time; kept bytes go to at
 * most H + A + 1 peers at a time.
 *
 * No deadlock, even if a send ends only when its receive is started.  Assume
 * nothing moves but some message is not delivered; take the first such, m, in
 * the order above.  Everything before m has been delivered.
 *   1. Every rank acts on all it has received before m.  Acting needs room only to
 *      keep a total or to open a sum.  What is kept or open when a rank acts on x
 *      before m belongs to a message not yet sent, or not yet delivered, so to one
 *      from m on, after x: it is open at x in the sense of quant_tree.h for one of W
 *      segments, at most W L with the new one.
 *   2. The sender has m ready, by 1 and because a schedule sends only what earlier
 *      rounds completed.  It sends in order, so none of its sends is under way.  If m
 *      has to be encoded a slot is free: at most A receive, H are kept.
 *   3. The receiver has acted on all before m.  If it has receives started, m is the
 *      oldest; if not, at most A slots send and H are kept: it starts one.
 * So m is sent and received: contradiction.
 *
 * Halves.  A reduce-scatter is the first half of the rounds, an allgather the second, on
 * blocks (quant_layout.h), with the same buffers.  The owner stores its sum as it is,
 * without coding it; in an allgather it encodes its own block as the total when that is
 * the next message, decodes it to recv, and keeps it.  In an allreduce a rank gets to the
 * next group only by totals into which its own sums went; of a half that is not so, so the
 * receive cursor waits for the send cursor (is_in_step()):
 *
 *   to open a sum     until all sends of the groups before are started: their sums may
 *                     be in the same place
 *   to keep a total   until the own totals of the group that come before it are sent, and
 *                     with them all sends of the groups before: kept totals of others
 *                     must not take the room of the own ones
 *
 * The proof holds.  When a rank acts on x before m, all messages up to x are delivered:
 * the send cursor is behind x, nothing above waits, and as the send cursor cannot pass a
 * forward of x, no total of a later group is kept.  And when m is an own total, what is kept
 * was opened before m, by the second rule: less than H.
 *
 * In place (send == recv).  A rank overwrites a segment of recv only with the
 * total of it, and a total exists only after every rank has sent, or as its root
 * added, its own part of that very segment: the own part has been read.  A reduce-scatter
 * in place writes the sum of the own block to the beginning of recv, which is block 0 of what
 * is to be sent.  The sum of segment k of the own block is complete in the last round, at x;
 * the own part of segment k of block 0 went into a sum at a receive before x, or goes
 * out by a send up to x: the receive waits for that.  Again nothing before m waits.
 *
 * Cost for n elements, N ranks, tree of height h: 2 h alpha + 2 (N - 1)/N n b beta
 * + n gamma, where b is 1.03 bytes (int8) instead of 4, gamma the time to decode
 * and encode an element.  With levels partial sums inside a machine are in fp32: which messages
 * these are follows from the round (quant_schedule.h), and so both ends know.  The error:
 * quant_error.h.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_PIPELINE_H
#define QUANT_PIPELINE_H

#include "quant_algos.h"
#include "stream.h"
#include "task.h"

/* The memory of one rank of `ranks`; the config is valid. */
size_t quant_pipeline_memory_bytes(const quant_algo_t *algo, const quant_config_t *config,
                                   unsigned ranks);

/*
 * `memory` is aligned to QUANT_MEMORY_ALIGN_BYTES and has as many bytes as the function above
 * says for the ranks of `stream`; algo, config's formats and kernels, the stream and the memory
 * outlive the task.  The task is part of the memory: nothing to free.
 */
arc_task_t *quant_pipeline_init(const quant_algo_t *algo, const quant_config_t *config,
                                arc_stream_t *stream, void *memory);

/* Make the task ready for a call; its progress does the work.  The call before is complete. */
void quant_pipeline_start(arc_task_t *task, const quant_operation_t *operation);

/*
 * After a call: no element of the result is farther from the exact sum than this, unless it is
 * infinity, which says nothing.  The same on all ranks, but of a reduce-scatter: there it is that
 * of the own block.
 */
float quant_pipeline_bound(const arc_task_t *task);

/* Give all started messages up: after a time limit.  After an error it has been done. */
void quant_pipeline_abort(arc_task_t *task);

#endif
