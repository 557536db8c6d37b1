/*
 * stream.h over puts into windows (window.h): several streams between a rank and its peers.
 *
 * A message is cut into fragments of at most half of the slots; put_ring.h carries them.
 *
 *   cost   of a message of n bytes up to fused_bytes: alpha + 2 n beta, one put;
 *          longer: a put for each slot_bytes, and a fence and a put for each fragment.  The reader
 *          copies once.
 *
 * A send ends when its fragments are put and the buffer is not needed any more: a message that is
 * longer than all slots waits for the receiver.  Who waits has the window look for peers that are
 * gone, and ends with an error if one is.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_PUT_STREAM_H
#define ARC_PUT_STREAM_H

#include "put_ring.h"
#include "stream.h"

enum { ARC_PUT_OPERATIONS = 64 }; /* under way on a stream, at most; exchanges have 8 */

typedef struct arc_put_streams arc_put_streams_t;

/* The window that a rank with `peers` peers needs. */
size_t arc_put_window_bytes(const arc_put_config_t *config, unsigned peers);

/*
 * config->streams streams of rank `rank` of `ranks` over `window`.  Peer i of the window is rank
 * rank_of[i]; messages with others are a fault of the caller.  The window, with all zeros, stays
 * the caller's and must live longer; config and rank_of are copied.  ARC_ERR_NO_MEMORY: nothing is
 * allocated.
 */
arc_status_t arc_put_streams_new(arc_put_streams_t **streams, arc_window_t *window,
                                 const arc_put_config_t *config, const unsigned *rank_of,
                                 unsigned rank, unsigned ranks) ARC_MUST_CHECK;

/* Only when the window puts nothing any more: what it puts is partly in here. */
void arc_put_streams_free(arc_put_streams_t *streams);

arc_stream_t *arc_put_streams_get(arc_put_streams_t *streams, unsigned number);

/* The rank that is peer `peer` of the window. */
unsigned arc_put_streams_rank(const arc_put_streams_t *streams, unsigned peer);

#endif
