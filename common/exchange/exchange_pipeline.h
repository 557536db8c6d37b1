/*
 * The engine of every exchange between ranks or nodes: runs the schedule of a tree over messages,
 * many segments at a time, as a resumable task.  The coder (exchange_coder.h) says what the
 * messages are made of: exact numbers, or quantized ones.
 *
 * Order.  A shard has many segments.  W segments of every shard ("window") pass
 * all rounds of the schedule, then the next W.  Message (group, round, j) carries
 * segment group * W + j of that round's shard; the order of messages is
 * lexicographic, on every link and on every rank; empty segments are left out.
 * Consecutive rounds that send to one rank and receive from one, and of which none sends
 * what another one receives, are one message as far as there is room for it, a pack; below,
 * the round of a message is then all rounds of its pack.  So a binomial tree sends 2 log N messages
 * where segments are short.
 * A rank has two cursors that move through this order:
 *
 *   send      as soon as the receive cursor has passed all that goes into a
 *             message: encode the sum or the own part, or send kept bytes
 *   receive   in the first half of the rounds, decode and add to the sum of that
 *             segment, which starts with the own part; the root encodes the total
 *             and stores it.  In the second half, store the total; keep the bytes as
 *             long as they are to be forwarded
 *
 * All ranks store the same bytes of a total, the root too: equal results.  The
 * additions follow the schedule, never arrival: equal results in every run, for
 * every depth.  Partial sums are never stored as results.
 *
 * The invariant.  A rank acts on a received message only after it has sent its own messages up to
 * the same place in the order (can_act()).  So the sums that it has to send then, and the totals
 * that it has to forward, are those of the vertices that are open there (exchange_tree.h): for each
 * of the W segments no more than L, the most open vertices of the tree, or of the two trees.  So a
 * rank has at most H = W L sums at a time, and as many totals; both are asserted.
 *
 * Buffers.  There are H sums, and slots of one message each, in one of four states; at most A slots
 * are receiving, and at most A messages are being sent.  With D the depth of the configuration,
 *
 *   W = (D - 1)/2/L but at least 1,   A = D/2,   H + A + 1 slots
 *
 *   free --> receiving --> free, sending, or kept until the last forward is sent
 *        \-> sending   --> free
 *
 * One more buffer is spare: a total, or a sum that is the next message and can be sent now, is not
 * kept as a sum.  It goes from the received message to the spare buffer, which changes places with
 * the buffer of the slot.
 *
 * No deadlock, even if a send ends only when its receive is started.  Assume nothing moves but some
 * message is not delivered; take the first such, m, in the order above.  All before m are
 * delivered, so the invariant lets every rank act on all that it got before m.  Hence
 *   1. the sender has m ready, because a schedule sends only what earlier rounds completed.  None
 *      of its sends is under way, for it sends in order.  If m has to be made a slot is free: at
 *      most A receive, H are kept;
 *   2. if the receiver has receives started m is the oldest; if not a slot is free for it: at most
 *      A send, H are kept.
 * So m is sent and received: contradiction.
 *
 * Chunks (exchange_layout.h).  A segment whose own part is not yet available waits for it
 * (exchange_pipeline_allow()).  The proof holds if all segments of a window can be available before
 * the first one is complete: `at_once` of the operation bounds the window.
 *
 * Stages (docs/algorithms_quant.md) are half of the rounds each, on blocks (exchange_layout.h),
 * with the same buffers.
 *
 * In place (the same document).  A reduce-scatter stores the sum of the own block at the beginning
 * of the vector, which is block 0 of what is to be sent.  The sum of segment k of the own block is
 * complete in the last round, at x; the own part of segment k of block 0 went into a sum at a
 * receive before x, or went out, by the invariant, by a send up to x.
 *
 * Cost for n elements of b bytes on the wire, N ranks, tree of height h: 2 h alpha
 * + 2 (N - 1)/N n b beta + n gamma, gamma the time to decode, add and encode an element.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EXCHANGE_PIPELINE_H
#define EXCHANGE_PIPELINE_H

#include "exchange_coder.h"
#include "exchange_layout.h"
#include "exchange_tree.h"
#include "sizes.h"
#include "stream.h"
#include "task.h"

enum {
    /* The least depth that the proof allows; more than 64 messages in flight hide nothing more. */
    EXCHANGE_DEPTH_MIN = 3,
    EXCHANGE_DEPTH_MAX = 64,
};

/* Equal on all ranks but for `peer`. */
typedef struct exchange_config {
    const exchange_tree_t *tree;
    exchange_shape_t shape; /* of the ranks */
    unsigned depth;         /* how many segments are under way, and so the buffers */
    size_t message_bytes;   /* the largest capacity of any message */
    size_t sum_bytes;       /* of the longest partial sum */
    const unsigned *peer;   /* [ranks] number of a rank in the stream; NULL: the same */
} exchange_config_t;

/*
 * Takes its memory of `room`; the arrays of the configuration, the stream, the coder and the memory
 * outlive the task.  The task is part of the memory: nothing to free.  `rank`: of this process, in
 * the shape.  NULL: counted.
 */
arc_task_t *exchange_pipeline_init(const exchange_config_t *config, unsigned rank,
                                   arc_stream_t *stream, exchange_coder_t *coder, arc_room_t *room);

/* Make the task ready for a call; its progress does the work.  The call before is complete. */
void exchange_pipeline_start(arc_task_t *task, const exchange_operation_t *operation);

/* The own parts of the first `segments` segments are there; never fewer than before. */
void exchange_pipeline_allow(arc_task_t *task, size_t segments);

/* The number of segments, from the first on, that are stored as results. */
size_t exchange_pipeline_completed(const arc_task_t *task);

unsigned exchange_pipeline_ranks(const arc_task_t *task);

#endif
