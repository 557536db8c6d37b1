/*
 * The set-up of a communicator: every rank makes a segment, tells the others
 * its key, and maps theirs.
 *
 *   1  allocate our segment, write a random number into it
 *   2  allgather { ok, random number, key, cores we may run on }
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

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "coll_lowlat.h"

/* What a rank tells the others.  The same program on the same node: no byte order to care for. */
typedef struct card {
    uint64_t ok;
    uint64_t identity;
    ucx_key_t key;
    cpu_set_t cores;
} card_t;

/* The memory domain, opened if this is its first use; NULL if there is none. */
static const ucx_domain_t *domain_get(lowlat_component_t *component, int domain)
{
    (void) pthread_mutex_lock(&component->base.lock);
    if (!component->domain_open[domain] && component->ucx_open) {
        component->domain_open[domain] =
            ARC_OK == ucx_domain_open(&component->domain[domain], &component->ucx,
                                      lowlat_memory_choices[1 + domain]);
    }
    const ucx_domain_t *opened = component->domain_open[domain] ? &component->domain[domain] : NULL;
    (void) pthread_mutex_unlock(&component->base.lock);
    return opened;
}

/* Step 1.  Fills the card; card->ok stays 0 on any failure. */
static void offer_segment(lowlat_module_t *module, const ucx_domain_t *domain, card_t *card)
{
    memset(card, 0, sizeof *card);
    (void) sched_getaffinity(0, sizeof card->cores, &card->cores);
    if (NULL == domain ||
        sizeof card->identity != getrandom(&card->identity, sizeof card->identity, 0) ||
        ARC_OK != ucx_segment_create(&module->segment, domain,
                                     lowlat_segment_bytes(module->group.arena_bytes), &card->key)) {
        return;
    }
    lowlat_segment_t *own = ucx_segment_base(&module->segment);
    own->identity = card->identity;
    card->ok = 1;
}

/* Step 3.  True if every segment is mapped and is the one it should be. */
static bool attach_peers(lowlat_module_t *module, const ucx_domain_t *domain, const card_t *cards)
{
    lowlat_group_t *group = &module->group;

    for (unsigned rank = 0; rank < group->ranks; ++rank) {
        if (!cards[rank].ok) {
            return false;
        }
    }
    for (unsigned rank = 0; rank < group->ranks; ++rank) {
        if (rank == group->rank) {
            group->segment[rank] = ucx_segment_base(&module->segment);
            continue;
        }
        if (ARC_OK != ucx_mapping_attach(&module->mappings[rank], domain, &cards[rank].key)) {
            return false;
        }
        group->segment[rank] = module->mappings[rank].base;
        if (cards[rank].identity != group->segment[rank]->identity) {
            return false;
        }
    }
    return true;
}

static void release_memory(lowlat_module_t *module)
{
    for (unsigned rank = 0; NULL != module->mappings && rank < module->group.ranks; ++rank) {
        ucx_mapping_detach(&module->mappings[rank]);
    }
    ucx_segment_free(&module->segment);
}

/*
 * Are there fewer cores than ranks of this communicator?  Only a matter of speed.
 * The lock: Open MPI's setting can be read only by changing it for a moment.
 */
static bool cores_are_shared(const lowlat_module_t *module, const card_t *cards)
{
    pthread_mutex_t *lock = &mca_coll_lowlat_component.base.lock;
    cpu_set_t all;

    CPU_ZERO(&all);
    for (unsigned rank = 0; rank < module->group.ranks; ++rank) {
        CPU_OR(&all, &all, &cards[rank].cores);
    }
    /* mpirun tells Open MPI to yield when there are more processes than slots on the node. */
    (void) pthread_mutex_lock(lock);
    bool yields = opal_progress_set_yield_when_idle(false);
    (void) opal_progress_set_yield_when_idle(yields);
    (void) pthread_mutex_unlock(lock);
    return yields || (unsigned) CPU_COUNT(&all) < module->group.ranks;
}

/* Count this communicator, if there is room for one more. */
static bool communicator_enter(lowlat_module_t *module)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;

    (void) pthread_mutex_lock(&component->base.lock);
    module->counted = component->communicators < component->config.max_communicators;
    component->communicators += module->counted;
    (void) pthread_mutex_unlock(&component->base.lock);
    return module->counted;
}

static void communicator_leave(lowlat_module_t *module)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;

    (void) pthread_mutex_lock(&component->base.lock);
    component->communicators -= module->counted;
    module->counted = false;
    (void) pthread_mutex_unlock(&component->base.lock);
}

static void choose_wait(lowlat_module_t *module, bool shared)
{
    const lowlat_config_t *config = &mca_coll_lowlat_component.config;

    module->wait.progress = mca_compat_progress;
    module->wait.spins = (unsigned) (shared ? config->spins_shared_cores : config->spins);
    module->wait.timeout_seconds = config->timeout;
}

/* Steps 1 to 4 with one memory domain.  ARC_UNSUPPORTED: not on all ranks; try another. */
static arc_status_t share_memory(lowlat_module_t *module, int domain_index, card_t *cards)
{
    struct ompi_communicator_t *comm = module->base.comm;
    const ucx_domain_t *domain = domain_get(&mca_coll_lowlat_component, domain_index);
    card_t own;

    offer_segment(module, domain, &own);
    module->base.nested = true;
    int gathered = comm->c_coll->coll_allgather(&own, (int) sizeof own, &ompi_mpi_byte.dt, cards,
                                                (int) sizeof own, &ompi_mpi_byte.dt, comm,
                                                comm->c_coll->coll_allgather_module);
    module->base.nested = false;
    uint64_t ok = OMPI_SUCCESS == gathered && attach_peers(module, domain, cards);
    arc_status_t status = arc_module_min(&module->base, &ok, 1);
    if (ARC_OK == status && ok) {
        return ARC_OK;
    }
    release_memory(module);
    return ARC_OK == status ? ARC_UNSUPPORTED : status;
}

/* Try the domains that the configuration allows; *used is the one that worked. */
static arc_status_t try_domains(lowlat_module_t *module, card_t *cards, int *used)
{
    const int wanted = mca_coll_lowlat_component.config.shared_memory;
    arc_status_t status = ARC_UNSUPPORTED;

    for (int domain = 0; domain < LOWLAT_DOMAINS && ARC_UNSUPPORTED == status; ++domain) {
        if (LOWLAT_MEMORY_AUTO == wanted || 1 + domain == wanted) {
            status = share_memory(module, domain, cards);
            *used = domain;
        }
    }
    return status;
}

static void log_ready(const lowlat_module_t *module, int domain, bool shared)
{
    enum { TEXT_BYTES = 256 };
    char text[TEXT_BYTES];

    if (0 == module->group.rank) {
        lowlat_map_describe(&module->map, text, sizeof text);
        arc_module_log(
            &module->base, ARC_LOG_CHOICE, "%s; %s memory, %zu bytes a rank, %s kernels%s", text,
            lowlat_memory_choices[1 + domain], lowlat_segment_bytes(module->group.arena_bytes),
            arc_isa_name(arc_cpu_isa((arc_isa_t) mca_coll_lowlat_component.config.isa)),
            shared ? ", cores are shared" : "");
    }
}

/* What this rank needs before it can take part.  The reason if something is missing. */
static arc_reason_t make_ready(lowlat_module_t *module, card_t **cards)
{
    lowlat_group_t *group = &module->group;

    if (ompi_group_have_remote_peers(module->base.comm->c_local_group)) {
        return ARC_REASON_NOT_ONE_NODE;
    }
    if (!communicator_enter(module)) {
        return ARC_REASON_TOO_MANY;
    }
    *cards = calloc(group->ranks, sizeof **cards);
    group->segment = calloc(group->ranks, sizeof *group->segment);
    module->mappings = calloc(group->ranks, sizeof *module->mappings);
    return NULL != *cards && NULL != group->segment && NULL != module->mappings
               ? ARC_REASONS
               : ARC_REASON_NO_SETUP;
}

void coll_lowlat_setup(lowlat_module_t *module)
{
    arc_module_t *base = &module->base;
    card_t *cards = NULL;
    int domain = 0;

    base->phase = ARC_PHASE_DECLINED;
    base->declined = make_ready(module, &cards);
    uint64_t ok = ARC_REASONS == base->declined;
    if (ok) {
        base->declined = ARC_REASON_NO_SETUP;
    }
    if (ARC_OK != arc_module_min(base, &ok, 1) || !ok) {
        goto err_free;
    }
    arc_status_t status = try_domains(module, cards, &domain);
    if (ARC_OK != status) {
        if (0 == module->group.rank) {
            arc_module_log(base, ARC_LOG_CHOICE, "not used: no memory that all ranks can map%s%s",
                           mca_coll_lowlat_component.ucx_open ? "" : "; ",
                           mca_coll_lowlat_component.why_no_ucx);
        }
        goto err_free;
    }
    bool shared = cores_are_shared(module, cards);
    free(cards);
    choose_wait(module, shared);
    base->phase = ARC_PHASE_READY;
    log_ready(module, domain, shared);
    return;

err_free:
    free(cards);
    coll_lowlat_teardown(module);
}

/*
 * No barrier: a peer may still read our segment in an operation that we have
 * completed, but it reads through a mapping of its own, which stays.
 */
void coll_lowlat_teardown(lowlat_module_t *module)
{
    release_memory(module);
    free(module->mappings);
    module->mappings = NULL;
    free(module->group.segment);
    module->group.segment = NULL;
    communicator_leave(module);
}
