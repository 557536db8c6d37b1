/*
 * Memory that all ranks of a communicator map: made, shared and given back
 * together.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_MEMORY_H
#define COLL_LOWLAT_MEMORY_H

#include "coll_lowlat_pool.h"

struct lowlat_module;

/* Windows may take the first half of the limit only: without segments nothing is served. */
typedef enum lowlat_budget { LOWLAT_BUDGET_WHOLE = 1, LOWLAT_BUDGET_HALF } lowlat_budget_t;

/*
 * Count memory of this process: `best` bytes, or as many whole pages as its part of the node's
 * limit leaves, but not less than `least`.  Returns how many; 0: none.
 */
size_t lowlat_budget_take(size_t least, size_t best, lowlat_budget_t part);
void lowlat_budget_return(size_t bytes);

/*
 * A segment of `bytes` bytes for a persistent request, out of half of the limit: a program may keep
 * any number of them, and communicators to come need memory, too.  False: that is used up.
 */
bool lowlat_budget_take_for_request(size_t bytes);
void lowlat_budget_return_of_request(size_t bytes);

/* One segment per rank of a node.  Zero-initialised: none. */
typedef struct lowlat_share {
    unsigned rank; /* on the node */
    unsigned ranks;
    size_t arena_bytes;
    arc_region_kind_t kind;     /* which one worked */
    arc_pool_segment_t *own;    /* in our pool */
    lowlat_mapping_t **mapping; /* [ranks] the peers' regions; NULL: our own */
    lowlat_segment_t **segment; /* [ranks] */
} lowlat_share_t;

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
arc_status_t lowlat_share_make(lowlat_share_t *share, struct lowlat_module *module, bool ready,
                               size_t wish_bytes, size_t floor_bytes,
                               lowlat_facts_t *facts) ARC_MUST_CHECK;

/*
 * Give the memory back; nothing if there is none.  No barrier: a peer may still use our segment in
 * an operation that we have completed, so that the pool waits for it (coll_lowlat_pool.h).
 */
void lowlat_share_release(lowlat_share_t *share);

#endif
