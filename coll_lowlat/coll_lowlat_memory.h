/*
 * Memory that all ranks of a communicator map: made, shared and given back
 * together.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_MEMORY_H
#define COLL_LOWLAT_MEMORY_H

#include "coll_lowlat.h"

/* What all ranks agree on besides, when they share memory for the first time. */
typedef struct lowlat_facts {
    bool cores_shared; /* some ranks have no core of their own */
    bool all_remember; /* how they stage */
} lowlat_facts_t;

/*
 * Share segments with arenas of `wish_bytes`, or of half of that, a quarter, ..., but of more than
 * `floor_bytes`: the most that all ranks have.  All ranks take part and all come to the same end:
 * ARC_OK, ARC_UNSUPPORTED (no such memory that all can map, or some rank is not `ready`), or an
 * error of the messages, which may have broken the module; then *share and *facts are as before.
 * A rank that is not ready needs no topology.  `facts` may be NULL, on all ranks alike.
 */
arc_status_t lowlat_share_make(lowlat_share_t *share, lowlat_module_t *module, bool ready,
                               size_t wish_bytes, size_t floor_bytes,
                               lowlat_facts_t *facts) ARC_MUST_CHECK;

/*
 * Give the memory back; nothing if there is none.  No barrier: a peer may still use our segment in
 * an operation that we have completed, so that the pool waits for it (coll_lowlat_pool.h).
 */
void lowlat_share_release(lowlat_share_t *share);

#endif
