/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "sizes.h"

void arc_pool_init(arc_pool_t *pool, size_t first_bytes, unsigned multiplier,
                   arc_pool_left_fn_t left, void *context)
{
    memset(pool, 0, sizeof *pool);
    pool->first_bytes = first_bytes;
    pool->multiplier = multiplier;
    pool->left = left;
    pool->context = context;
}

void arc_pool_clear(arc_pool_t *pool)
{
    while (NULL != pool->first) {
        arc_pool_segment_t *segment = pool->first;
        pool->first = segment->after;
        free(segment);
    }
    arc_pool_init(pool, pool->first_bytes, pool->multiplier, pool->left, pool->context);
}

/* A free part of region `region`, put into the list at `at`.  NULL: no memory. */
static arc_pool_segment_t *new_part(arc_pool_segment_t **at, unsigned region, size_t offset_bytes,
                                    size_t bytes)
{
    arc_pool_segment_t *part = malloc(sizeof *part);

    if (NULL != part) {
        *part = (arc_pool_segment_t){.region = region,
                                     .state = ARC_POOL_FREE,
                                     .offset_bytes = offset_bytes,
                                     .bytes = bytes,
                                     .after = *at};
        *at = part;
    }
    return part;
}

/* Free what all have left, and join what is free with what is free before it. */
static void tidy(arc_pool_t *pool)
{
    arc_pool_segment_t *before = NULL;

    for (arc_pool_segment_t *part = pool->first, *after = NULL; NULL != part; part = after) {
        after = part->after;
        if (ARC_POOL_RETIRED == part->state && pool->left(pool->context, part)) {
            part->state = ARC_POOL_FREE;
        }
        if (NULL != before && ARC_POOL_FREE == part->state && ARC_POOL_FREE == before->state &&
            before->region == part->region) {
            before->bytes += part->bytes;
            before->after = after;
            free(part);
        } else {
            before = part;
        }
    }
}

void arc_pool_cut(arc_pool_segment_t *segment, size_t bytes)
{
    const size_t kept_bytes = arc_round_up(bytes, ARC_POOL_UNIT_BYTES);

    assert(ARC_POOL_TAKEN == segment->state && kept_bytes <= segment->bytes);
    if (kept_bytes < segment->bytes &&
        NULL != new_part(&segment->after, segment->region, segment->offset_bytes + kept_bytes,
                         segment->bytes - kept_bytes)) {
        segment->bytes = kept_bytes;
    }
}

arc_pool_segment_t *arc_pool_take(arc_pool_t *pool, size_t bytes)
{
    assert(0 < bytes);
    tidy(pool);
    for (arc_pool_segment_t *part = pool->first; NULL != part; part = part->after) {
        if (ARC_POOL_FREE == part->state && part->bytes >= bytes) {
            part->state = ARC_POOL_TAKEN;
            arc_pool_cut(part, bytes);
            return part;
        }
    }
    return NULL;
}

bool arc_pool_wish(const arc_pool_t *pool, size_t bytes, size_t *least, size_t *best)
{
    const size_t wanted = 0 == pool->regions ? pool->first_bytes : pool->multiplier * pool->bytes;

    if (ARC_POOL_REGIONS == pool->regions) {
        return false;
    }
    *least = ARC_POOL_UNIT_BYTES + arc_round_up(bytes, ARC_POOL_UNIT_BYTES);
    *best = wanted > *least ? arc_round_up(wanted, ARC_POOL_UNIT_BYTES) : *least;
    return true;
}

arc_status_t arc_pool_add(arc_pool_t *pool, size_t bytes)
{
    arc_pool_segment_t **end = &pool->first;

    assert(pool->regions < ARC_POOL_REGIONS && ARC_POOL_UNIT_BYTES < bytes);
    assert(0 == bytes % ARC_POOL_UNIT_BYTES);
    while (NULL != *end) {
        end = &(*end)->after;
    }
    if (NULL == new_part(end, pool->regions, ARC_POOL_UNIT_BYTES, bytes - ARC_POOL_UNIT_BYTES)) {
        return ARC_ERR_NO_MEMORY;
    }
    pool->regions += 1;
    pool->bytes += bytes;
    return ARC_OK;
}

bool arc_pool_is_used(const arc_pool_t *pool)
{
    const arc_pool_segment_t *part = pool->first;

    while (NULL != part && ARC_POOL_TAKEN != part->state) {
        part = part->after;
    }
    return NULL != part;
}

void arc_pool_retire(arc_pool_segment_t *segment, uint64_t users)
{
    assert(ARC_POOL_TAKEN == segment->state);
    segment->state = 0 == users ? ARC_POOL_FREE : ARC_POOL_RETIRED;
    segment->users = users;
}
