/*
 * Which part of a process's shared memory is whose: an allocator that never looks into the memory.
 *
 * A pool has regions, numbered from 0, and cuts segments from them:
 *
 *   region 0  | head | taken | free   | retired | taken |
 *   region 1  | head | taken | free                     |
 *
 * All parts of all regions form one list, in the order of their place.  A segment that its owner
 * has retired may still be used by others.  It becomes free when nobody does, which is asked when
 * memory is wanted; free neighbours of a region join then.
 *
 *   cost   take: all parts; retire: constant
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_POOL_H
#define ARC_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum {
    ARC_POOL_UNIT_BYTES = 4096, /* segments begin and end on a page; a region's head has one */
    ARC_POOL_REGIONS = 16,      /* at most; each costs an id or a file */
};

typedef enum arc_pool_state { ARC_POOL_FREE, ARC_POOL_TAKEN, ARC_POOL_RETIRED } arc_pool_state_t;

/* A part of a region; whoever has taken it reads its place, and writes nothing here. */
typedef struct arc_pool_segment {
    unsigned region;
    arc_pool_state_t state;
    size_t offset_bytes; /* in the region */
    size_t bytes;
    uint64_t users; /* others, whose leaving a retired segment waits for */
    struct arc_pool_segment *after;
} arc_pool_segment_t;

/* Have all `users` of the retired segment left it? */
typedef bool (*arc_pool_left_fn_t)(void *context, const arc_pool_segment_t *segment);

typedef struct arc_pool {
    arc_pool_left_fn_t left;
    void *context;
    unsigned regions;
    size_t bytes;        /* of all regions, heads included */
    size_t first_bytes;  /* of the first region, at least */
    unsigned multiplier; /* of what there is, for the next one */
    arc_pool_segment_t *first;
} arc_pool_t;

/* An empty pool.  The regions after the first one have `multiplier` times the bytes of all before.
 */
void arc_pool_init(arc_pool_t *pool, size_t first_bytes, unsigned multiplier,
                   arc_pool_left_fn_t left, void *context);

/* Forget all regions, whoever uses them: the pool is empty as it was at first. */
void arc_pool_clear(arc_pool_t *pool);

/* A segment of at least `bytes` bytes, > 0; NULL: no region has so much in one piece. */
arc_pool_segment_t *arc_pool_take(arc_pool_t *pool, size_t bytes);

/*
 * Bytes that the next region should have so that it has room for a segment of `bytes` bytes behind
 * its head: *least, and better *best.  False: the pool may have no more regions.
 */
bool arc_pool_wish(const arc_pool_t *pool, size_t bytes, size_t *least, size_t *best);

/*
 * There is one more region, of `bytes` bytes, whole units, of which the first is never handed out.
 * Its number is that of regions before.  ARC_ERR_NO_MEMORY: then there is not.
 */
arc_status_t arc_pool_add(arc_pool_t *pool, size_t bytes) ARC_MUST_CHECK;

/* Only the first `bytes` bytes of what was taken are needed; without memory it stays as it is. */
void arc_pool_cut(arc_pool_segment_t *segment, size_t bytes);

/* Has somebody taken a segment and not yet given it back? */
bool arc_pool_is_used(const arc_pool_t *pool);

/* Give it back once so many `users` have left it; at once if nobody else has used it. */
void arc_pool_retire(arc_pool_segment_t *segment, uint64_t users);

#endif
