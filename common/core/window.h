/*
 * THE SEAM of puts: memory of ours that peers write into, and theirs that we write into.
 *
 * Contract
 *   words      an aligned 8-byte word that one put writes is seen as it was or as it will be,
 *              never half of each.  Nothing is written twice, and nothing beside the bytes put.
 *   order      none: not between puts, not between the words of one, unless there is a fence
 *              between them.  To see a word of a put says nothing about its other words.
 *   progress   peers need do nothing for a put to become visible to them.  We may have to call
 *              progress until the request of a put has ended.
 *   blocking   nothing waits for a peer's program.
 *   death      a put to a peer that is gone may end all the same, and nothing else tells of it:
 *              who waits for a peer must look now and then.
 *   errors     after any error the window is dead: nothing that was put counts.
 *
 * Peers are numbered from 0; `number_at_peer` tells under which number each knows us.
 *
 * Two implementations: UCX (common/ucx/ucx_window.c) and a simulated one for tests
 * (tests/sim/sim_window.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WINDOW_H
#define ARC_WINDOW_H

#include <stddef.h>

#include "status.h"

typedef struct arc_window arc_window_t;

/* A put under way.  Zero-initialised, or NULL in it: none. */
typedef struct arc_window_request {
    void *handle;
} arc_window_request_t;

typedef struct arc_window_ops {
    /*
     * Write `bytes` > 0 bytes to `offset` in the window of `peer`.  `source` belongs to the
     * window until the request has ended, which may be before this returns.
     */
    arc_status_t (*put)(arc_window_t *window, unsigned peer, size_t offset, const void *source,
                        size_t bytes, arc_window_request_t *request) ARC_MUST_CHECK;

    /* Puts from now on become visible to a peer only after all that were put to it before. */
    arc_status_t (*fence)(arc_window_t *window) ARC_MUST_CHECK;

    /*
     * Of a request whose handle is not NULL: ARC_IN_PROGRESS, ARC_OK (the source is ours again, the
     * handle NULL), or an error.
     */
    arc_status_t (*test)(arc_window_t *window, arc_window_request_t *request) ARC_MUST_CHECK;

    /* Give up a request whose handle is not NULL: nobody asks for it any more. */
    void (*drop)(arc_window_t *window, arc_window_request_t *request);

    /* Drive what was put. */
    void (*progress)(arc_window_t *window);

    /* The same, and look whether all peers are there: an error if one is gone. */
    arc_status_t (*look)(arc_window_t *window) ARC_MUST_CHECK;
} arc_window_ops_t;

/* Embedded as the first member of an implementation. */
struct arc_window {
    const arc_window_ops_t *ops;
    unsigned char *base; /* our memory: a multiple of 64, zeros at the start */
    size_t bytes;
    unsigned peers;
    const unsigned *number_at_peer; /* [peers] */
};

/* Has the put of this request ended, if there was one? */
static inline ARC_MUST_CHECK arc_status_t arc_window_test(arc_window_t *window,
                                                          arc_window_request_t *request)
{
    return NULL == request->handle ? ARC_OK : window->ops->test(window, request);
}

#endif
