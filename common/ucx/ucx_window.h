/*
 * window.h over UCX: memory that peers write into by ucp_put_nbx.
 *
 *   | hello, goodbye of peer 0 | ... of peer 1 | ... |  the window proper
 *     64 bytes each                                     base
 *
 * All peers of each other go through these steps, in the order of the functions below: create,
 * exchange cards, attach, greet, and at the end leave.  Between two steps of set-up
 * the ranks agree that all went well.
 *
 *   hello      a put to each peer; who has all peers' hellos knows that puts to it work
 *   proof      one more put, while nobody drives a worker: a network that writes memory by itself
 *              brings it, and UCX's emulation of puts, which needs the peer's program, does not.
 *              UCX tells no program which of them it uses.
 *   knock      one more hello every second while we wait: a network that gets no answer to it
 *              tells UCX, and UCX us, that the peer is gone.  Over shared memory UCX itself looks
 *              whether the peer's process lives (UCX_KEEPALIVE_INTERVAL, 20 seconds).
 *   goodbye    our last put to a peer, behind a fence: what a peer puts late, a credit that nobody
 *              waits for any more, comes before its goodbye.  Memory is given back after all
 *              goodbyes, not before.
 *
 * Fence: ucp_worker_fence.  Up to UCX 1.15 it costs some nanoseconds; from 1.16 on, with UCX's
 * second protocol layer, it waits until the network has acknowledged everything (a round trip).
 * Both are right here: the transports that ucx_worker.h allows acknowledge without the peer's
 * program.
 *
 *   What the cheap fence rests on.  All puts to a peer go through one lane of one endpoint, a
 *   queue pair that sends them in the order of our calls, those that UCX has queued first.  Where
 *   PCI Express may reorder what the network writes (UCX_IB_PCI_RELAXED_ORDERING, by default on
 *   some AMD and Fujitsu processors), UCX 1.13 marks the first put that goes out after the fence:
 *   only that one is written in order.  With queued puts that is one from before the fence, and
 *   with two endpoints on one queue pair (dc) one to somebody else.  So ucx_worker.c has our memory
 *   registered without relaxed ordering: then every put is written in order, marked or not.
 *
 * Words: a network writes whole words of an aligned put.  Over shared memory a put is a
 * memcpy, which moves aligned words whole in practice, on the machines this was tested on.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef UCX_WINDOW_H
#define UCX_WINDOW_H

#include <stdint.h>

#include "ucx_worker.h"
#include "window.h"

enum { UCX_CARD_ADDRESS_BYTES = 2048, UCX_CARD_KEY_BYTES = 512 };

/* What a peer needs to put into our window; plain data, another for each peer. */
typedef struct ucx_card {
    uint64_t magic; /* another byte order or layout: not ours */
    uint64_t base;  /* addresses in its owner: the window proper, */
    uint64_t words; /* ... hello and goodbye of this peer */
    uint64_t bytes;
    uint32_t number; /* of the peer, at the owner */
    uint32_t address_bytes;
    uint32_t key_bytes;
    unsigned char address[UCX_CARD_ADDRESS_BYTES];
    unsigned char key[UCX_CARD_KEY_BYTES];
} ucx_card_t;

typedef struct ucx_window {
    arc_window_t window; /* first: what the streams see */
    ucx_worker_t *worker;
    ucp_mem_h memory;
    unsigned char *words;          /* hello and goodbye of each peer */
    unsigned *number_at_peer;      /* [peers] */
    struct ucx_endpoint *endpoint; /* [peers] */
    int64_t knocked_ns;
} ucx_window_t;

/* The memory that ucx_window_create() takes for a window of `bytes` bytes. */
size_t ucx_window_memory_bytes(size_t bytes, unsigned peers);

/* A window of `bytes` zeros; without peers nothing needs memory.  ARC_ERR_NO_MEMORY. */
arc_status_t ucx_window_create(ucx_window_t *window, ucx_worker_t *worker, size_t bytes,
                               unsigned peers) ARC_MUST_CHECK;

/* The card for peer `peer`.  ARC_UNSUPPORTED: it does not fit. */
arc_status_t ucx_window_card(const ucx_window_t *window, unsigned peer,
                             ucx_card_t *card) ARC_MUST_CHECK;

/* Peer `peer` gave us `card`.  ARC_UNSUPPORTED: it cannot be reached. */
arc_status_t ucx_window_attach(ucx_window_t *window, unsigned peer,
                               const ucx_card_t *card) ARC_MUST_CHECK;

/*
 * Say hello to all peers; then, called again and again: have all of them said hello to us, and did
 * ours go out?  All ranks drive their workers meanwhile: connections need both ends.  A window that
 * is given up here must stay as it is: peers may still put into it, and UCX may not be asked what
 * became of ours (ucx_worker_close()).
 */
arc_status_t ucx_window_greet(ucx_window_t *window) ARC_MUST_CHECK;
arc_status_t ucx_window_greeted(ucx_window_t *window) ARC_MUST_CHECK;

/* A peer whose connection is broken, or as many as there are peers. */
unsigned ucx_window_lost(const ucx_window_t *window);

/*
 * When no rank drives its worker: put a word to all peers.  And when that is done everywhere, have
 * all of theirs come?  While nobody drives a worker they come only if puts need no program.
 */
arc_status_t ucx_window_prove(ucx_window_t *window) ARC_MUST_CHECK;
bool ucx_window_proved(const ucx_window_t *window);

/*
 * Say goodbye to all peers that are not lost.  Nothing is put after that, but the memory and the
 * sources of what was put must stay until all of them have left, too.
 */
void ucx_window_leave(ucx_window_t *window);

/* Have all peers left, and is all that we have put out?  Drives the worker. */
bool ucx_window_left(ucx_window_t *window);

/* Give all back, whatever is under way.  After any of the steps. */
void ucx_window_free(ucx_window_t *window);

#endif
