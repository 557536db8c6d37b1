/*
 * Memory that all ranks of a communicator map: made, shared and given back
 * together.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_MEMORY_H
#define COLL_LOWLAT_MEMORY_H

#include "lowlat.h"
#include "ucx_memory.h"

struct lowlat_module;

/* Windows may take the first half of the limit only: without segments nothing is served. */
typedef enum lowlat_budget { LOWLAT_BUDGET_WHOLE = 1, LOWLAT_BUDGET_HALF } lowlat_budget_t;

/* Count `bytes` of memory of this process, if that stays below its part of the node's limit. */
bool lowlat_budget_take(size_t bytes, lowlat_budget_t part);
void lowlat_budget_return(size_t bytes);

/* One segment per rank of a node.  Zero-initialised: none. */
typedef struct lowlat_share {
    unsigned ranks;
    size_t arena_bytes;
    size_t counted_bytes; /* in the component's `memory_bytes` */
    int domain;           /* which one worked */
    ucx_segment_t own;
    ucx_mapping_t *mapping;     /* [ranks] the peers' */
    lowlat_segment_t **segment; /* [ranks] */
} lowlat_share_t;

/*
 * Share segments with arenas of `arena_bytes`.  All ranks take part and all come
 * to the same end: ARC_OK, ARC_ERR_NO_MEMORY (the limit of some rank is reached: ask
 * for less), ARC_UNSUPPORTED (no memory that all can map), or an error of the component below;
 * then `share` is as before.  *cores_shared: may it be that
 * some rank of our node has no processor of its own (arc_cores_are_shared())?  Set in any case.
 */
arc_status_t lowlat_share_make(lowlat_share_t *share, struct lowlat_module *module,
                               size_t arena_bytes, bool *cores_shared) ARC_MUST_CHECK;

/*
 * Give the memory back; nothing if there is none.  No barrier: a peer may still
 * read our segment in an operation that we have completed, but it reads through
 * a mapping of its own, which stays.
 */
void lowlat_share_release(lowlat_share_t *share);

#endif
