/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "lowlat_memory.h"
#include "mca_pool.h"
#include "sizes.h"

typedef struct mapping_key {
    opal_process_name_t owner;
    uint64_t identity;
} mapping_key_t;
_Static_assert(sizeof(mapping_key_t) == sizeof(opal_process_name_t) + sizeof(uint64_t),
               "no padding: the bytes of a key are compared");

struct mca_mapping {
    mca_mapping_t *next;
    mapping_key_t key;
    arc_region_t region;
    unsigned users; /* communicators */
};

/* Our regions of one kind. */
typedef struct source {
    arc_pool_t pool;
    arc_region_t region[ARC_POOL_REGIONS];
    arc_region_key_t key[ARC_POOL_REGIONS];
    bool lent; /* other ranks may have mapped some, and keep them */
} source_t;

/* Of this process and component. */
static struct {
    pthread_mutex_t lock; /* of all that follows */
    source_t source[ARC_REGION_KINDS];
    mca_mapping_t *mappings;
    opal_hash_table_t mapped; /* the same by process and identity */
} all;

/* What this process and component may have, and has. */
static struct budget {
    pthread_mutex_t lock;
    size_t most_bytes;
    size_t used_bytes;    /* of regions and windows */
    size_t request_bytes; /* of segments in them that persistent requests have */
} budget = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the limit ---- */

static size_t *used_of(mca_budget_t part)
{
    return MCA_BUDGET_REQUESTS == part ? &budget.request_bytes : &budget.used_bytes;
}

size_t mca_budget_take(mca_budget_t part, size_t least, size_t best)
{
    const size_t processes = 1 + (size_t) opal_process_info.num_local_peers;
    const size_t limit = budget.most_bytes / processes / (MCA_BUDGET_REGIONS == part ? 1 : 2);

    (void) pthread_mutex_lock(&budget.lock);
    const size_t used = *used_of(part);
    const size_t rest = limit > used ? limit - used : 0;
    size_t bytes = best <= rest ? best : rest - rest % LOWLAT_PAGE_BYTES;
    bytes = bytes < least ? 0 : bytes;
    *used_of(part) += bytes;
    (void) pthread_mutex_unlock(&budget.lock);
    return bytes;
}

void mca_budget_return(mca_budget_t part, size_t bytes)
{
    (void) pthread_mutex_lock(&budget.lock);
    *used_of(part) -= bytes;
    (void) pthread_mutex_unlock(&budget.lock);
}

/* ---- the pool ---- */

static lowlat_segment_t *segment_at(void *region, size_t offset_bytes)
{
    return (lowlat_segment_t *) ((unsigned char *) region + offset_bytes);
}

static lowlat_segment_t *own_segment(const source_t *source, const arc_pool_segment_t *segment)
{
    return segment_at(source->region[segment->region].base, segment->offset_bytes);
}

static bool all_left(void *context, const arc_pool_segment_t *segment)
{
    const uint64_t left = lowlat_left(own_segment(context, segment));

    assert(left <= segment->users);
    return left == segment->users;
}

void mca_pool_open(size_t most_bytes, size_t first_bytes)
{
    enum { FEW = 16, MULTIPLIER = 3 }; /* it grows */

    budget.most_bytes = most_bytes;
    budget.used_bytes = 0;
    budget.request_bytes = 0;
    memset(all.source, 0, sizeof all.source);
    all.mappings = NULL;
    (void) pthread_mutex_init(&all.lock, NULL);
    OBJ_CONSTRUCT(&all.mapped, opal_hash_table_t);
    (void) opal_hash_table_init(&all.mapped, FEW);
    for (int kind = 0; kind < ARC_REGION_KINDS; ++kind) {
        source_t *source = &all.source[kind];
        /*
         * Pages of System V memory that nobody has written cost nothing, but its ids are few; those
         * of a memfd are taken when it is made.
         */
        const bool ahead = ARC_REGION_SYSV == kind;
        arc_pool_init(&source->pool, ahead ? first_bytes : 0, ahead ? MULTIPLIER : 1, all_left,
                      source);
    }
}

static void mapping_free(mca_mapping_t *mapping)
{
    mca_mapping_t **at = &all.mappings;

    while (*at != mapping) {
        at = &(*at)->next;
    }
    *at = mapping->next;
    (void) opal_hash_table_remove_value_ptr(&all.mapped, &mapping->key, sizeof mapping->key);
    arc_region_release(&mapping->region);
    free(mapping);
}

/* Free what is mapped of others and not used, or all of it. */
static void free_mappings(bool used_too)
{
    for (mca_mapping_t *mapping = all.mappings; NULL != mapping;) {
        mca_mapping_t *next = mapping->next;
        if (used_too || 0 == mapping->users) {
            mapping_free(mapping);
        }
        mapping = next;
    }
}

/* Free all regions of ours; who has mapped them keeps them. */
static void free_regions(source_t *source)
{
    for (unsigned region = 0; region < source->pool.regions; ++region) {
        arc_region_release(&source->region[region]);
    }
    mca_budget_return(MCA_BUDGET_REGIONS, source->pool.bytes);
    arc_pool_clear(&source->pool);
}

void mca_pool_trim(void)
{
    (void) pthread_mutex_lock(&all.lock);
    free_mappings(false);
    for (int i = 0; i < ARC_REGION_KINDS; ++i) {
        if (!arc_pool_is_used(&all.source[i].pool) && !all.source[i].lent) {
            free_regions(&all.source[i]);
        }
    }
    (void) pthread_mutex_unlock(&all.lock);
}

void mca_pool_close(void)
{
    free_mappings(true);
    OBJ_DESTRUCT(&all.mapped);
    for (int i = 0; i < ARC_REGION_KINDS; ++i) {
        free_regions(&all.source[i]);
    }
    (void) pthread_mutex_destroy(&all.lock);
}

/* A region of `bytes` bytes; false: there is no such memory. */
static bool make_region(source_t *source, arc_region_kind_t kind, size_t bytes)
{
    const unsigned number = source->pool.regions;
    arc_region_t *region = &source->region[number];

    if (ARC_OK != arc_region_create(region, kind, bytes, &source->key[number])) {
        return false;
    }
    if (ARC_OK != arc_pool_add(&source->pool, bytes)) {
        arc_region_release(region);
        return false;
    }
    return true;
}

/* One more region with room for a segment; as large as it should be, or as it can be. */
static bool add_region(source_t *source, arc_region_kind_t kind, size_t segment_bytes)
{
    size_t least = 0;
    size_t best = 0;

    if (!arc_pool_wish(&source->pool, segment_bytes, &least, &best)) {
        return false;
    }
    for (;;) {
        const size_t bytes = mca_budget_take(MCA_BUDGET_REGIONS, least, best);
        if (0 == bytes) {
            return false;
        }
        if (make_region(source, kind, bytes)) {
            return true;
        }
        mca_budget_return(MCA_BUDGET_REGIONS, bytes);
        if (bytes == least) {
            return false;
        }
        const size_t half = arc_round_up(bytes / 2, LOWLAT_PAGE_BYTES);
        best = half > least ? half : least;
    }
}

arc_pool_segment_t *mca_pool_take(arc_region_kind_t kind, size_t arena_bytes, mca_place_t *place)
{
    const size_t bytes = lowlat_segment_bytes(arena_bytes);
    source_t *source = &all.source[kind];

    (void) pthread_mutex_lock(&all.lock);
    arc_pool_segment_t *segment = arc_pool_take(&source->pool, bytes);
    if (NULL == segment && add_region(source, kind, bytes)) {
        segment = arc_pool_take(&source->pool, bytes);
    }
    if (NULL != segment) {
        *place = (mca_place_t){source->key[segment->region], segment->offset_bytes};
        /* All but the arenas.  Peers see it once they have got our card. */
        memset(own_segment(source, segment), 0, sizeof(lowlat_segment_t));
    }
    (void) pthread_mutex_unlock(&all.lock);
    return segment;
}

lowlat_segment_t *mca_pool_segment(arc_region_kind_t kind, const arc_pool_segment_t *segment)
{
    return own_segment(&all.source[kind], segment);
}

void mca_pool_lend(arc_region_kind_t kind, arc_pool_segment_t *segment, size_t arena_bytes)
{
    (void) pthread_mutex_lock(&all.lock);
    all.source[kind].lent = true;
    arc_pool_cut(segment, lowlat_segment_bytes(arena_bytes));
    (void) pthread_mutex_unlock(&all.lock);
}

void mca_pool_retire(arc_pool_segment_t *segment, unsigned users)
{
    (void) pthread_mutex_lock(&all.lock);
    arc_pool_retire(segment, users);
    (void) pthread_mutex_unlock(&all.lock);
}

/* Map what has not been mapped; NULL if that cannot be. */
static mca_mapping_t *mapping_new(arc_region_kind_t kind, const mapping_key_t *key,
                                  const arc_region_key_t *region)
{
    mca_mapping_t *mapping = malloc(sizeof *mapping);

    if (NULL == mapping || ARC_OK != arc_region_attach(&mapping->region, kind, region)) {
        free(mapping);
        return NULL;
    }
    mapping->key = *key;
    mapping->users = 0;
    mapping->next = all.mappings;
    all.mappings = mapping;
    if (OPAL_SUCCESS != opal_hash_table_set_value_ptr(&all.mapped, key, sizeof *key, mapping)) {
        mapping_free(mapping);
        return NULL;
    }
    return mapping;
}

mca_mapping_t *mca_pool_map(arc_region_kind_t kind, opal_process_name_t owner,
                            const mca_place_t *place, lowlat_segment_t **segment)
{
    const mapping_key_t key = {.owner = owner, .identity = place->key.identity};
    void *found = NULL;

    (void) pthread_mutex_lock(&all.lock);
    mca_mapping_t *mapping =
        OPAL_SUCCESS == opal_hash_table_get_value_ptr(&all.mapped, &key, sizeof key, &found)
            ? found
            : mapping_new(kind, &key, &place->key);
    if (NULL != mapping) {
        mapping->users += 1;
        *segment = segment_at(mapping->region.base, place->offset_bytes);
    }
    (void) pthread_mutex_unlock(&all.lock);
    return mapping;
}

void mca_pool_unmap(mca_mapping_t *mapping)
{
    (void) pthread_mutex_lock(&all.lock);
    mapping->users -= 1;
    /* Of our own job there are only so many processes. */
    if (0 == mapping->users && OPAL_PROC_MY_NAME.jobid != mapping->key.owner.jobid) {
        mapping_free(mapping);
    }
    (void) pthread_mutex_unlock(&all.lock);
}
