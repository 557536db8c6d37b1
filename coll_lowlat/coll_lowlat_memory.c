/*
 * How the ranks of a node come to use each other's segments:
 *
 *   1  take a segment from our pool, the largest that it has, up to what is wished
 *   2  gather, on the node, cards { bytes, place, processors we have }
 *   3  map every peer's region, unless an earlier communicator has, and look for the peer's
 *      random number there: a key from another IPC namespace can map somebody else's memory
 *   4  minimum over all ranks of the bytes: all use what they mapped, or nobody does
 *
 * Step 4 is an agreement (agreement.h).  A failure is 0 bytes and not acted upon before step 4,
 * so that no rank waits for one that has left.  Until then nobody reads or writes a segment, so
 * after a failure it is free at once.  One kind of memory after the other is tried, the same
 * on all ranks.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "coll_lowlat_cores.h"
#include "coll_lowlat_memory.h"
#include "coll_lowlat_staging.h"
#include "mca_gather.h"
#include "sizes.h"

/* What a rank tells the others.  The same program on the same node: no byte order to care for. */
typedef struct card {
    uint64_t arena_bytes; /* 0: it has no memory */
    lowlat_place_t place;
    arc_cores_t cores;
} card_t;

static lowlat_pool_t *pool_get(void)
{
    return &mca_coll_lowlat_component.pool;
}

static void unmap_all(lowlat_share_t *share)
{
    for (unsigned rank = 0; NULL != share->mapping && rank < share->ranks; ++rank) {
        if (NULL != share->mapping[rank]) {
            lowlat_pool_unmap(pool_get(), share->mapping[rank]);
            share->mapping[rank] = NULL;
        }
    }
}

static void free_lists(lowlat_share_t *share)
{
    free(share->mapping);
    free(share->segment);
    memset(share, 0, sizeof *share);
}

void lowlat_share_release(lowlat_share_t *share)
{
    if (NULL == share->own) {
        return;
    }
    for (unsigned rank = 0; rank < share->ranks; ++rank) {
        if (rank != share->rank) {
            /* Release: all that we have read there, we have read before. */
            (void) __atomic_add_fetch(&share->segment[rank]->left, 1, __ATOMIC_RELEASE);
        }
    }
    unmap_all(share);
    lowlat_pool_retire(pool_get(), share->kind, share->own, share->ranks - 1);
    free_lists(share);
}

/* Step 1.  Fills our card; 0 bytes if there is no memory. */
static void offer_segment(lowlat_share_t *share, size_t wish_bytes, size_t floor_bytes,
                          card_t *card)
{
    size_t arena_bytes = wish_bytes;

    memset(card, 0, sizeof *card);
    coll_lowlat_cores_get(&card->cores);
    share->own = lowlat_pool_take(pool_get(), share->kind, arena_bytes, &card->place);
    while (NULL == share->own && arena_bytes / 2 > floor_bytes) {
        arena_bytes /= 2;
        share->own = lowlat_pool_take(pool_get(), share->kind, arena_bytes, &card->place);
    }
    card->arena_bytes = NULL == share->own ? 0 : arena_bytes;
}

static mca_circle_t circle_of(const lowlat_module_t *module)
{
    const arc_topology_t *topology = &module->topology;

    return (mca_circle_t){topology->members, topology->local_ranks, topology->local_rank};
}

/* Step 3.  The least bytes on our node; 0 if not every segment is mapped. */
static uint64_t attach_peers(lowlat_share_t *share, const lowlat_module_t *module,
                             const card_t *cards)
{
    const arc_topology_t *topology = &module->topology;
    const mca_circle_t node = circle_of(module);
    uint64_t least = UINT64_MAX;

    /* All first: where a rank has no memory nothing need be attached. */
    for (unsigned i = 0; i < share->ranks; ++i) {
        least = arc_min(least, cards[i].arena_bytes);
    }
    for (unsigned i = 0; 0 != least && i < share->ranks; ++i) {
        if (i == share->rank) {
            share->segment[i] = lowlat_pool_segment(pool_get(), share->kind, share->own);
            continue;
        }
        share->mapping[i] = lowlat_pool_map(
            pool_get(), share->kind,
            ompi_group_get_proc_name(module->base.comm->c_local_group, (int) topology->members[i]),
            &cards[mca_gather_place(&node, i)].place, &share->segment[i]);
        least = NULL == share->mapping[i] ? 0 : least;
    }
    return least;
}

/* By the cards of our node; without memory for that, yes. */
static bool are_cores_shared(const card_t *cards, unsigned ranks)
{
    arc_cores_t *all = calloc(ranks, sizeof *all);
    bool shared = true;

    if (NULL != all) {
        for (unsigned i = 0; i < ranks; ++i) {
            all[i] = cards[i].cores;
        }
        shared = arc_cores_are_shared(all, ranks);
    }
    free(all);
    return shared;
}

/* Steps 1 to 4 with one kind of memory.  ARC_UNSUPPORTED: not on all ranks; try another. */
static arc_status_t try_kind(lowlat_share_t *share, lowlat_module_t *module, size_t wish_bytes,
                             size_t floor_bytes, card_t *cards, lowlat_facts_t *facts)
{
    uint64_t all[] = {0, 0, 0}; /* the least bytes, and facts */

    offer_segment(share, wish_bytes, floor_bytes, &cards[0]);
    const mca_circle_t node = circle_of(module);
    arc_status_t status = mca_gather(&module->base, &node, cards, sizeof cards[0]);
    if (ARC_OK != status) {
        return status;
    }
    all[0] = attach_peers(share, module, cards);
    if (NULL != facts) {
        all[1] = !are_cores_shared(cards, share->ranks);
        all[2] = coll_lowlat_staging_recall(module);
    }
    status = arc_module_min(&module->base, all, sizeof all / sizeof all[0]);
    if (ARC_OK == status && 0 != all[0]) {
        share->arena_bytes = (size_t) all[0];
        lowlat_pool_cut(pool_get(), share->kind, share->own, share->arena_bytes);
        if (NULL != facts) {
            *facts = (lowlat_facts_t){.cores_shared = !all[1], .all_remember = all[2]};
        }
        return ARC_OK;
    }
    unmap_all(share);
    if (ARC_OK == status && NULL != share->own) {
        lowlat_pool_return(pool_get(), share->kind, share->own);
    }
    share->own = NULL;
    return ARC_OK == status ? ARC_UNSUPPORTED : status; /* with an error others may go on */
}

arc_status_t lowlat_share_make(lowlat_share_t *share, struct lowlat_module *module, bool ready,
                               size_t wish_bytes, size_t floor_bytes, lowlat_facts_t *facts)
{
    const unsigned ranks = module->topology.local_ranks;
    card_t *cards = ready ? calloc(ranks, sizeof *cards) : NULL;
    lowlat_share_t made = {.rank = module->topology.local_rank,
                           .ranks = ranks,
                           .mapping = ready ? calloc(ranks, sizeof *made.mapping) : NULL,
                           .segment = ready ? calloc(ranks, sizeof *made.segment) : NULL};
    /* All that is needed even to take part in a failure. */
    uint64_t ok = NULL != cards && NULL != made.mapping && NULL != made.segment;

    arc_status_t status = arc_module_min(&module->base, &ok, 1);
    if (ARC_OK == status) {
        status = ARC_UNSUPPORTED;
    }
    for (arc_region_kind_t kind = 0; ok && ARC_UNSUPPORTED == status && kind < ARC_REGION_KINDS;
         ++kind) {
        made.kind = kind;
        status = try_kind(&made, module, wish_bytes, floor_bytes, cards, facts);
    }
    arc_module_free(&module->base, cards);
    if (ARC_OK == status) {
        *share = made;
    } else {
        free_lists(&made);
    }
    return status;
}
