/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>

#include "coll_lowlat_budget.h"
#include "coll_lowlat_pool.h"
#include "coll_lowlat_settled.h"
#include "peek.h"
#include "sizes.h"

/*
 * How a pool grows.  Pages of System V memory that nobody has written cost nothing, but its ids
 * are few; those of a memfd are taken when it is made.
 */
static const struct {
    size_t first_bytes;
    unsigned multiplier;
} growth[ARC_REGION_KINDS] = {
    [ARC_REGION_SYSV] = {LOWLAT_FIRST_REGION_BYTES, 3},
    [ARC_REGION_MEMFD] = {0, 1},
};

/* The first page of a region. */
typedef struct region_head {
    uint64_t identity;
} region_head_t;

typedef struct mapping_key {
    opal_process_name_t owner;
    uint64_t identity;
} mapping_key_t;
_Static_assert(sizeof(mapping_key_t) == sizeof(opal_process_name_t) + sizeof(uint64_t),
               "no padding: the bytes of a key are compared");

struct lowlat_mapping {
    lowlat_mapping_t *next;
    mapping_key_t key;
    arc_region_t region;
    unsigned users; /* communicators */
};

static lowlat_segment_t *segment_at(void *region, size_t offset_bytes)
{
    return (lowlat_segment_t *) ((unsigned char *) region + offset_bytes);
}

static lowlat_segment_t *own_segment(const lowlat_source_t *source,
                                     const arc_pool_segment_t *segment)
{
    return segment_at(source->region[segment->region].base, segment->offset_bytes);
}

/* Acquire: what they have read, they have read before we write. */
static bool all_left(void *context, const arc_pool_segment_t *segment)
{
    const uint64_t left = __atomic_load_n(&own_segment(context, segment)->left, __ATOMIC_ACQUIRE);

    assert(left <= segment->users);
    return left == segment->users;
}

void lowlat_pool_open(lowlat_pool_t *pool)
{
    enum { FEW = 16 }; /* it grows */

    memset(pool->source, 0, sizeof pool->source);
    pool->mappings = NULL;
    (void) pthread_mutex_init(&pool->lock, NULL);
    OBJ_CONSTRUCT(&pool->mapped, opal_hash_table_t);
    (void) opal_hash_table_init(&pool->mapped, FEW);
    for (int i = 0; i < ARC_REGION_KINDS; ++i) {
        arc_pool_init(&pool->source[i].pool, growth[i].first_bytes, growth[i].multiplier, all_left,
                      &pool->source[i]);
    }
}

static void mapping_free(lowlat_pool_t *pool, lowlat_mapping_t *mapping)
{
    lowlat_mapping_t **at = &pool->mappings;

    while (*at != mapping) {
        at = &(*at)->next;
    }
    *at = mapping->next;
    (void) opal_hash_table_remove_value_ptr(&pool->mapped, &mapping->key, sizeof mapping->key);
    arc_region_release(&mapping->region);
    free(mapping);
}

/* Free what is mapped of others and not used, or all of it. */
static void free_mappings(lowlat_pool_t *pool, bool all)
{
    for (lowlat_mapping_t *mapping = pool->mappings; NULL != mapping;) {
        lowlat_mapping_t *next = mapping->next;
        if (all || 0 == mapping->users) {
            mapping_free(pool, mapping);
        }
        mapping = next;
    }
}

/* Free all regions of ours; who has mapped them keeps them. */
static void free_regions(lowlat_source_t *source)
{
    for (unsigned region = 0; region < source->pool.regions; ++region) {
        arc_region_release(&source->region[region]);
    }
    lowlat_budget_return(source->pool.bytes);
    arc_pool_clear(&source->pool);
}

void lowlat_pool_trim(lowlat_pool_t *pool)
{
    (void) pthread_mutex_lock(&pool->lock);
    free_mappings(pool, false);
    for (int i = 0; i < ARC_REGION_KINDS; ++i) {
        if (!arc_pool_is_used(&pool->source[i].pool)) {
            free_regions(&pool->source[i]);
        }
    }
    (void) pthread_mutex_unlock(&pool->lock);
}

void lowlat_pool_close(lowlat_pool_t *pool)
{
    free_mappings(pool, true);
    OBJ_DESTRUCT(&pool->mapped);
    for (int i = 0; i < ARC_REGION_KINDS; ++i) {
        free_regions(&pool->source[i]);
    }
    (void) pthread_mutex_destroy(&pool->lock);
}

/* A region of `bytes` bytes; false: there is no such memory. */
static bool make_region(lowlat_source_t *source, arc_region_kind_t kind, size_t bytes)
{
    const unsigned number = source->pool.regions;
    uint64_t *identity = &source->identity[number];

    if (sizeof *identity != getrandom(identity, sizeof *identity, 0) ||
        ARC_OK != arc_region_create(&source->region[number], kind, bytes, &source->key[number])) {
        return false;
    }
    if (ARC_OK != arc_pool_add(&source->pool, LOWLAT_PAGE_BYTES, bytes)) {
        arc_region_release(&source->region[number]);
        return false;
    }
    region_head_t *head = source->region[number].base;
    head->identity = *identity;
    return true;
}

/* One more region with room for a segment; as large as it should be, or as it can be. */
static bool add_region(lowlat_source_t *source, arc_region_kind_t kind, size_t segment_bytes)
{
    size_t least = 0;
    size_t best = 0;

    if (!arc_pool_wish(&source->pool, LOWLAT_PAGE_BYTES, segment_bytes, &least, &best)) {
        return false;
    }
    for (;;) {
        const size_t bytes = lowlat_budget_take(least, best, LOWLAT_BUDGET_WHOLE);
        if (0 == bytes) {
            return false;
        }
        if (make_region(source, kind, bytes)) {
            return true;
        }
        lowlat_budget_return(bytes);
        if (bytes == least) {
            return false;
        }
        best = bytes / 2 > least ? bytes / 2 : least;
    }
}

arc_pool_segment_t *lowlat_pool_take(lowlat_pool_t *pool, arc_region_kind_t kind,
                                     size_t arena_bytes, lowlat_place_t *place)
{
    const size_t bytes = lowlat_segment_bytes(arena_bytes);
    lowlat_source_t *source = &pool->source[kind];

    (void) pthread_mutex_lock(&pool->lock);
    arc_pool_segment_t *segment = arc_pool_take(&source->pool, bytes);
    if (NULL == segment && add_region(source, kind, bytes)) {
        segment = arc_pool_take(&source->pool, bytes);
    }
    if (NULL != segment) {
        *place = (lowlat_place_t){.identity = source->identity[segment->region],
                                  .offset_bytes = segment->offset_bytes,
                                  .key = source->key[segment->region]};
        /* All but the arenas.  Peers see it once they have got our card. */
        memset(own_segment(source, segment), 0, sizeof(lowlat_segment_t));
    }
    (void) pthread_mutex_unlock(&pool->lock);
    return segment;
}

lowlat_segment_t *lowlat_pool_segment(const lowlat_pool_t *pool, arc_region_kind_t kind,
                                      const arc_pool_segment_t *segment)
{
    return own_segment(&pool->source[kind], segment);
}

void lowlat_pool_cut(lowlat_pool_t *pool, arc_region_kind_t kind, arc_pool_segment_t *segment,
                     size_t arena_bytes)
{
    (void) pthread_mutex_lock(&pool->lock);
    arc_pool_cut(&pool->source[kind].pool, segment, lowlat_segment_bytes(arena_bytes));
    (void) pthread_mutex_unlock(&pool->lock);
}

void lowlat_pool_return(lowlat_pool_t *pool, arc_region_kind_t kind, arc_pool_segment_t *segment)
{
    (void) pthread_mutex_lock(&pool->lock);
    arc_pool_return(&pool->source[kind].pool, segment);
    (void) pthread_mutex_unlock(&pool->lock);
}

void lowlat_pool_retire(lowlat_pool_t *pool, arc_region_kind_t kind, arc_pool_segment_t *segment,
                        unsigned users)
{
    (void) pthread_mutex_lock(&pool->lock);
    arc_pool_retire(&pool->source[kind].pool, segment, users);
    (void) pthread_mutex_unlock(&pool->lock);
}

/* Map what has not been mapped; NULL if that cannot be, or is not what it should be. */
static lowlat_mapping_t *mapping_new(lowlat_pool_t *pool, arc_region_kind_t kind,
                                     const mapping_key_t *key, const lowlat_place_t *place)
{
    lowlat_mapping_t *mapping = malloc(sizeof *mapping);

    if (NULL == mapping || ARC_OK != arc_region_attach(&mapping->region, kind, &place->key)) {
        free(mapping);
        return NULL;
    }
    mapping->key = *key;
    mapping->users = 0;
    mapping->next = pool->mappings;
    pool->mappings = mapping;
    const region_head_t *head = mapping->region.base;
    uint64_t identity = 0;
    if (!arc_peek(&identity, &head->identity, sizeof identity) || place->identity != identity ||
        OPAL_SUCCESS != opal_hash_table_set_value_ptr(&pool->mapped, key, sizeof *key, mapping)) {
        mapping_free(pool, mapping);
        return NULL;
    }
    return mapping;
}

lowlat_mapping_t *lowlat_pool_map(lowlat_pool_t *pool, arc_region_kind_t kind,
                                  opal_process_name_t owner, const lowlat_place_t *place,
                                  lowlat_segment_t **segment)
{
    const mapping_key_t key = {.owner = owner, .identity = place->identity};
    void *found = NULL;

    (void) pthread_mutex_lock(&pool->lock);
    lowlat_mapping_t *mapping =
        OPAL_SUCCESS == opal_hash_table_get_value_ptr(&pool->mapped, &key, sizeof key, &found)
            ? found
            : mapping_new(pool, kind, &key, place);
    if (NULL != mapping) {
        mapping->users += 1;
        *segment = segment_at(mapping->region.base, place->offset_bytes);
    }
    (void) pthread_mutex_unlock(&pool->lock);
    return mapping;
}

void lowlat_pool_unmap(lowlat_pool_t *pool, lowlat_mapping_t *mapping)
{
    (void) pthread_mutex_lock(&pool->lock);
    mapping->users -= 1;
    /* Of our own job there are only so many processes. */
    if (0 == mapping->users && OPAL_PROC_MY_NAME.jobid != mapping->key.owner.jobid) {
        mapping_free(pool, mapping);
    }
    (void) pthread_mutex_unlock(&pool->lock);
}
