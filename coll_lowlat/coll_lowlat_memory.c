/*
 * How ranks come to map each other's segments:
 *
 *   1  allocate our segment, write a random number into it
 *   2  allgather { ok, random number, key, processors we have }
 *   3  attach every peer's segment and look for the peer's number there: a key
 *      from another IPC namespace can map somebody else's memory
 *   4  minimum of ok over all ranks: all use what they mapped, or nobody does
 *
 * Steps 2 and 4 go through the component below.  A failure is remembered and
 * not acted upon before step 4, so that no rank waits for one that has left.
 * One memory domain after the other is tried, the same on all ranks.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <sys/random.h>

#include "coll_lowlat.h"
#include "coll_lowlat_cores.h"

/* What a rank tells the others.  The same program on the same node: no byte order to care for. */
typedef struct card {
    uint64_t ok;
    uint64_t identity;
    ucx_key_t key;
    arc_cores_t cores;
} card_t;

const char *const lowlat_domain_names[LOWLAT_DOMAINS] = {"sysv", "posix"};

/* The memory domain, opened if this is its first use; NULL if there is none. */
static const ucx_domain_t *domain_get(lowlat_component_t *component, int domain)
{
    (void) pthread_mutex_lock(&component->base.lock);
    if (!component->domain_open[domain] && component->ucx_open) {
        component->domain_open[domain] =
            ARC_OK == ucx_domain_open(&component->domain[domain], &component->ucx,
                                      lowlat_domain_names[domain]);
    }
    const ucx_domain_t *opened = component->domain_open[domain] ? &component->domain[domain] : NULL;
    (void) pthread_mutex_unlock(&component->base.lock);
    return opened;
}

bool lowlat_budget_take(size_t bytes, lowlat_budget_t part)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;
    const size_t processes = 1 + (size_t) opal_process_info.num_local_peers;

    (void) pthread_mutex_lock(&component->base.lock);
    const bool fits =
        component->memory_bytes + bytes <= component->config.max_memory / processes / part;
    component->memory_bytes += fits ? bytes : 0;
    (void) pthread_mutex_unlock(&component->base.lock);
    return fits;
}

void lowlat_budget_return(size_t bytes)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;

    (void) pthread_mutex_lock(&component->base.lock);
    component->memory_bytes -= bytes;
    (void) pthread_mutex_unlock(&component->base.lock);
}

static void unmap_all(lowlat_share_t *share)
{
    for (unsigned rank = 0; NULL != share->mapping && rank < share->ranks; ++rank) {
        ucx_mapping_detach(&share->mapping[rank]);
    }
    ucx_segment_free(&share->own);
}

void lowlat_share_release(lowlat_share_t *share)
{
    unmap_all(share);
    lowlat_budget_return(share->counted_bytes);
    free(share->mapping);
    free(share->segment);
    memset(share, 0, sizeof *share);
}

/* Step 1.  Fills the card; card->ok stays 0 on any failure. */
static void offer_segment(lowlat_share_t *share, const ucx_domain_t *domain, card_t *card)
{
    memset(card, 0, sizeof *card);
    coll_lowlat_cores_get(&card->cores);
    if (NULL == domain || 0 == share->counted_bytes || NULL == share->mapping ||
        NULL == share->segment ||
        sizeof card->identity != getrandom(&card->identity, sizeof card->identity, 0) ||
        ARC_OK != ucx_segment_create(&share->own, domain, share->counted_bytes, &card->key)) {
        return;
    }
    lowlat_segment_t *own = ucx_segment_base(&share->own);
    own->identity = card->identity;
    card->ok = 1;
}

/* Step 3.  True if every segment of our node is mapped and is the one it should be. */
static bool attach_peers(lowlat_share_t *share, const arc_topology_t *topology,
                         const ucx_domain_t *domain, const card_t *cards)
{
    /* All first, our own too: without a domain nothing can be attached. */
    for (unsigned i = 0; i < share->ranks; ++i) {
        if (!cards[topology->members[i]].ok) {
            return false;
        }
    }
    for (unsigned i = 0; i < share->ranks; ++i) {
        const card_t *card = &cards[topology->members[i]];
        if (i == topology->local_rank) {
            share->segment[i] = ucx_segment_base(&share->own);
            continue;
        }
        if (ARC_OK != ucx_mapping_attach(&share->mapping[i], domain, &card->key)) {
            return false;
        }
        share->segment[i] = share->mapping[i].base;
        if (card->identity != share->segment[i]->identity) {
            return false;
        }
    }
    return true;
}

/* Steps 1 to 4 with one memory domain.  ARC_UNSUPPORTED: not on all ranks; try another. */
static arc_status_t try_domain(lowlat_share_t *share, lowlat_module_t *module, card_t *cards)
{
    struct ompi_communicator_t *comm = module->base.comm;
    const ucx_domain_t *domain = domain_get(&mca_coll_lowlat_component, share->domain);
    card_t own;

    offer_segment(share, domain, &own);
    module->base.nested = true;
    int gathered = comm->c_coll->coll_allgather(&own, (int) sizeof own, &ompi_mpi_byte.dt, cards,
                                                (int) sizeof own, &ompi_mpi_byte.dt, comm,
                                                comm->c_coll->coll_allgather_module);
    module->base.nested = false;
    uint64_t ok = OMPI_SUCCESS == gathered && attach_peers(share, &module->topology, domain, cards);
    arc_status_t status = arc_module_min(&module->base, &ok, 1);
    if (ARC_OK == status && ok) {
        return ARC_OK;
    }
    unmap_all(share);
    return ARC_OK == status ? ARC_UNSUPPORTED : status;
}

/* Try the domains, until all ranks can map each other's segments of one. */
static arc_status_t try_domains(lowlat_share_t *share, lowlat_module_t *module, card_t *cards)
{
    arc_status_t status = ARC_UNSUPPORTED;

    for (int domain = 0; domain < LOWLAT_DOMAINS && ARC_UNSUPPORTED == status; ++domain) {
        share->domain = domain;
        status = try_domain(share, module, cards);
    }
    return status;
}

/* By the cards of our node; without memory for that, yes. */
static bool are_cores_shared(const arc_topology_t *topology, const card_t *cards)
{
    arc_cores_t *all = calloc(topology->local_ranks, sizeof *all);
    bool shared = true;

    if (NULL != all) {
        for (unsigned i = 0; i < topology->local_ranks; ++i) {
            all[i] = cards[topology->members[i]].cores;
        }
        shared = arc_cores_are_shared(all, topology->local_ranks);
    }
    free(all);
    return shared;
}

arc_status_t lowlat_share_make(lowlat_share_t *share, struct lowlat_module *module,
                               size_t arena_bytes, bool *cores_shared)
{
    const unsigned ranks = module->topology.local_ranks;
    card_t *cards = calloc((size_t) ompi_comm_size(module->base.comm), sizeof *cards);
    lowlat_share_t made = {.ranks = ranks,
                           .arena_bytes = arena_bytes,
                           .mapping = calloc(ranks, sizeof *made.mapping),
                           .segment = calloc(ranks, sizeof(lowlat_segment_t *))};
    /* The cards are needed even to take part in the failure. */
    const size_t bytes = lowlat_segment_bytes(arena_bytes);
    uint64_t ok = NULL != cards && lowlat_budget_take(bytes, LOWLAT_BUDGET_WHOLE);

    made.counted_bytes = ok ? bytes : 0;
    arc_status_t status = arc_module_min(&module->base, &ok, 1);
    if (ARC_OK == status) {
        status = ok ? try_domains(&made, module, cards) : ARC_ERR_NO_MEMORY;
    }
    *cores_shared = ARC_OK != status || are_cores_shared(&module->topology, cards);
    free(cards);
    if (ARC_OK == status) {
        *share = made;
    } else {
        lowlat_share_release(&made);
    }
    return status;
}
