/*
 * The set-up of a communicator: shared memory of a size that fits its messages,
 * and how to wait.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "coll_lowlat_book.h"
#include "coll_lowlat_choice.h"
#include "coll_lowlat_net.h"
#include "coll_lowlat_settled.h"
#include "hash.h"
#include "lowlat_staging.h"
#include "mca_levels.h"
#include "sizes.h"

/*
 * ---- staging (lowlat_staging.h): tried once for each group of processes on a node, remembered for
 * later communicators of the same group, tried again where cores have moved ----
 */

static uint64_t processes_of(const lowlat_module_t *module)
{
    uint64_t hash = ARC_HASH_EMPTY;

    for (unsigned i = 0; i < module->topology.local_ranks; ++i) {
        const opal_process_name_t name = ompi_group_get_proc_name(
            module->base.comm->c_local_group, (int) module->topology.members[i]);
        hash = arc_hash_add(arc_hash_add(hash, name.jobid), name.vpid);
    }
    return hash;
}

/* Does this rank remember how its group on the node stages?  Sets it then. */
static bool recall_staging(lowlat_module_t *module)
{
    lowlat_group_t *group = &module->group;
    lowlat_staged_t staged = {.processes = processes_of(module)};
    const bool known = lowlat_book_recall(LOWLAT_TOPIC_STAGING, &staged);

    if (known) {
        group->prefetch_bytes = staged.prefetch_bytes;
        group->stream_bytes = staged.stream_bytes;
        group->apart_ns = staged.apart_ns;
    }
    return known;
}

/* A task of a trial, of all ranks of the node or of the nearest ones.  May break the module. */
static arc_status_t run_task(void *context, lowlat_task_t *task)
{
    lowlat_module_t *module = context;
    const arc_status_t status = arc_wait_run(&module->base.wait, &task->task);

    if (ARC_OK != status) {
        (void) arc_module_fail(&module->base, ARC_SLOTS, &task->task, status);
    }
    return status;
}

/*
 * Find out what is fastest here, now, or agree on what each rank remembers of that: where trials
 * ran at the same time the books of ranks may differ.  All ranks together, between two operations.
 * May break the module.
 */
static void find_staging(lowlat_module_t *module, bool all_remember)
{
    lowlat_group_t *group = &module->group;
    const arc_status_t status =
        all_remember ? lowlat_staging_agree(group, lowlat_staging_way(group), run_task, module)
                     : lowlat_staging_try(group, run_task, module);

    if (ARC_OK == status && !all_remember) {
        arc_module_log(&module->base, ARC_LOG_CHOICE, "staging tried, neighbours %d ns apart",
                       group->apart_ns);
        const lowlat_staged_t staged = {processes_of(module), group->prefetch_bytes,
                                        group->stream_bytes, group->apart_ns};
        lowlat_book_remember(LOWLAT_TOPIC_STAGING, &staged);
    }
}

/*
 * As the user says, else as all ranks remember it, if all do, else as a trial tells; on several
 * nodes and on shared cores by ordinary stores.  All ranks together, between two operations, after
 * the recall.  May break the module.
 */
static void choose_staging(lowlat_module_t *module, bool all_remember)
{
    const lowlat_config_t *config = &mca_coll_lowlat_component.config;
    lowlat_group_t *group = &module->group;
    const bool is_open =
        LOWLAT_STAGING_AUTO == config->staging && !group->cores_shared && NULL == group->net;

    group->streaming = arc_copier_streaming(arc_cpu_isa(ARC_ISA_BEST));
    if (!is_open) {
        lowlat_staging_force(group, LOWLAT_STAGING_AUTO == config->staging
                                        ? LOWLAT_WAY_ORDINARY
                                        : (lowlat_way_t) (config->staging - 1));
        group->way = lowlat_staging_way(group);
    } else {
        find_staging(module, all_remember);
    }
    module->until_look = is_open ? LOWLAT_STAGING_CALLS : INT64_MAX;
}

/* ---- memory and waits ---- */

/* The longest message that algorithms carry in arenas of this size as they are meant to. */
static size_t enough_for(const lowlat_module_t *module, size_t arena_bytes)
{
    return arena_bytes >= module->max_arena_bytes ? SIZE_MAX : arena_bytes / LOWLAT_MIN_SLOTS;
}

/* Arenas for such a message: doubled, so that they grow only a few times. */
static size_t arena_for(const lowlat_module_t *module, size_t bytes)
{
    size_t arena_bytes = LOWLAT_MIN_ARENA_BYTES;

    while (bytes > enough_for(module, arena_bytes)) {
        arena_bytes *= 2;
    }
    return arc_min(arena_bytes, module->max_arena_bytes);
}

static void use_share(lowlat_module_t *module)
{
    const mca_share_t *share = &module->share;

    module->group.segment = share->segment;
    module->group.arena_bytes = share->arena_bytes;
    module->enough_bytes = enough_for(module, share->arena_bytes);
}

/* The selection, for the memory that there may be once it is needed. */
static void compile_map(lowlat_module_t *module)
{
    lowlat_group_t group = module->group;

    group.arena_bytes = module->max_arena_bytes;
    const lowlat_shape_t shape = lowlat_shape_of(&group);
    lowlat_map_init(&module->map, &mca_coll_lowlat_component.config,
                    &mca_coll_lowlat_component.rules, &shape, &group);
}

/* Every rank for itself. */
static void choose_wait(lowlat_module_t *module)
{
    const bool shared = module->group.cores_shared;
    /* Messages between nodes do not move while a rank only spins; what is put does. */
    const bool must_progress = shared || (NULL != module->group.net && !module->over_puts);

    module->base.wait.spins = must_progress ? 0 : LOWLAT_SPINS;
    module->base.wait.yields = shared ? LOWLAT_YIELDS : 0;
}

static void announce(const lowlat_module_t *module)
{
    enum { TEXT_BYTES = 256 };
    char text[TEXT_BYTES];
    char staging[TEXT_BYTES];
    char levels[TEXT_BYTES];
    char net[TEXT_BYTES];

    lowlat_map_describe(&module->map, text, sizeof text);
    lowlat_staging_describe(&module->group, staging, sizeof staging);
    mca_levels_describe(&module->group.levels, levels, sizeof levels);
    lowlat_net_describe(module, net, sizeof net);
    arc_module_log(&module->base, ARC_LOG_CHOICE,
                   "%s; %s%s memory, %zu bytes a rank, processors %s, %s, %s kernels, %s", text,
                   net, arc_region_kind_names[module->share.kind],
                   lowlat_segment_bytes(module->share.arena_bytes),
                   module->group.cores_shared ? "shared" : "own", levels,
                   arc_isa_name(arc_cpu_isa(ARC_ISA_BEST)), staging);
    coll_lowlat_show(module);
}

/*
 * By what all ranks know alike: less where they are many on one node, and the least where no node
 * has two ranks: there only types with gaps are staged.
 */
static void bound_arenas(lowlat_module_t *module)
{
    const size_t share = LOWLAT_NODE_BYTES / LOWLAT_NODE_COMMUNICATORS / module->group.ranks;

    if (1 == module->topology.largest) {
        module->max_arena_bytes = LOWLAT_MIN_ARENA_BYTES;
    }
    while (1 == module->topology.nodes && module->max_arena_bytes > LOWLAT_MIN_ARENA_BYTES &&
           lowlat_segment_bytes(module->max_arena_bytes) > share) {
        module->max_arena_bytes /= 2;
    }
}

/* Find the nodes, and what this rank needs to take part.  The reason if something is missing. */
static arc_reason_t begin_setup(lowlat_module_t *module, mca_facts_t *facts)
{
    const unsigned declared = (unsigned) mca_coll_lowlat_component.config.arc_ranks_per_node;
    lowlat_group_t *group = &module->group;
    const arc_topology_t *topology = &module->topology;

    module->base.phase = ARC_PHASE_DECLINED;
    if (ARC_OK != mca_nodes_find(&module->base, declared, &module->topology)) {
        return ARC_REASON_NO_SETUP;
    }
    group->rank = topology->local_rank;
    group->ranks = topology->local_ranks;
    bound_arenas(module);
    if (topology->nodes > 1 &&
        LOWLAT_ALGORITHM_NONE == mca_coll_lowlat_component.config.algorithm) {
        return ARC_REASON_NOT_ONE_NODE;
    }
    group->parts = calloc(group->ranks, sizeof *group->parts);
    bool has_all = NULL != group->parts &&
                   lowlat_levels_by_pairs(&group->pairs, group->rank, group->ranks) &&
                   mca_levels_begin(mca_coll_lowlat_component.config.arc_levels, group, facts);
    if (topology->nodes > 1) {
        has_all = has_all && lowlat_net_make(module);
        if (LOWLAT_NOT_FORCED == lowlat_forced(&mca_coll_lowlat_component.config, true)) {
            module->choice = calloc(1, sizeof *module->choice);
            has_all = has_all && NULL != module->choice;
        }
    }
    return has_all ? ARC_REASON_NONE : ARC_REASON_NO_SETUP;
}

/*
 * Share memory with arenas of `wish_bytes`, or of less, but of more than `floor_bytes`.  What was
 * not granted is not asked for again.
 */
static arc_status_t get_memory(lowlat_module_t *module, bool ready, size_t wish_bytes,
                               size_t floor_bytes, mca_facts_t *facts)
{
    arc_status_t status = mca_share_make(&module->share, &module->base, &module->topology, ready,
                                         wish_bytes, floor_bytes, facts);
    if (ARC_OK == status) {
        const size_t arena_bytes = module->share.arena_bytes;
        module->max_arena_bytes = arena_bytes < wish_bytes ? arena_bytes : module->max_arena_bytes;
    } else {
        module->max_arena_bytes = module->group.arena_bytes;
    }
    return status;
}

/* Nobody uses the component on this communicator.  That is said aloud where it breaks a promise. */
static void decline_communicator(lowlat_module_t *module, arc_reason_t reason)
{
    if (ARC_PHASE_BROKEN == module->base.phase) {
        return; /* a rank did not come */
    }
    const bool promised = mca_coll_lowlat_component.config.reproducible;
    char text[ARC_SHOWN_BYTES];

    module->base.declined = reason;
    (void) snprintf(text, sizeof text, "not used: %s", arc_reason_text(reason));
    arc_module_show(&module->base, text);
    arc_module_log(&module->base, promised ? ARC_LOG_WARN : ARC_LOG_CHOICE, "not used: %s%s",
                   ARC_REASON_NO_SETUP == reason ? "no memory that all ranks can map, or "
                                                   "coll_arc_max_memory is reached"
                                                 : arc_reason_text(reason),
                   promised ? "; sums are not reproducible here" : "");
    coll_lowlat_teardown(module);
}

void coll_lowlat_grow(lowlat_module_t *module, size_t bytes)
{
    const size_t arena_bytes = arena_for(module, bytes);
    const arc_status_t status =
        get_memory(module, true, arena_bytes, module->group.arena_bytes, NULL);

    if (ARC_PHASE_BROKEN == module->base.phase) {
        return;
    }
    /* The same on all ranks.  The algorithms work with what there is, or decline. */
    use_share(module);
    compile_map(module);
    coll_lowlat_show(module);
    arc_module_log(&module->base, ARC_LOG_CHOICE, "%s %zu bytes of shared memory a rank%s",
                   ARC_OK == status ? "grows to" : "stays at",
                   lowlat_segment_bytes(module->share.arena_bytes),
                   ARC_OK == status ? "" : ": no more for all ranks");
}

void coll_lowlat_setup(lowlat_module_t *module, size_t bytes)
{
    arc_module_t *base = &module->base;
    mca_facts_t facts = {.seats = NULL};
    const arc_reason_t reason = begin_setup(module, &facts);
    const size_t arena_bytes = arena_for(module, bytes);
    /* A persistent request's memory is counted; there may be no more of it. */
    const bool counts = ARC_REASON_NONE == reason && NULL != base->of;
    const size_t counted_bytes = counts ? lowlat_segment_bytes(arena_bytes) : 0;
    module->request_bytes = mca_budget_take(MCA_BUDGET_REQUESTS, counted_bytes, counted_bytes);
    const bool ready = ARC_REASON_NONE == reason && module->request_bytes == counted_bytes;

    facts.all_remember = ready && recall_staging(module);
    facts.all_duplex = mca_compat_is_duplex();
    if (ARC_OK != get_memory(module, ready, arena_bytes, LOWLAT_MIN_ARENA_BYTES - 1, &facts)) {
        free(facts.seats);
        decline_communicator(module, ARC_REASON_NONE == reason ? ARC_REASON_NO_SETUP : reason);
        return;
    }
    if (NULL != module->group.net) {
        module->net.long_chunk_bytes = facts.all_duplex ? module->net.long_chunk_bytes : 0;
        lowlat_net_connect(module);
    }
    use_share(module);
    module->group.cores_shared = facts.cores_shared;
    mca_levels_end(base, &module->topology, mca_coll_lowlat_component.config.arc_levels,
                   MCA_LEVELS_CROWDED(&facts), &facts, &module->group);
    choose_wait(module);
    if (ARC_PHASE_BROKEN != base->phase) {
        choose_staging(module, facts.all_remember);
    }
    if (ARC_PHASE_BROKEN == base->phase) {
        return;
    }
    compile_map(module);
    coll_lowlat_choice_begin(module);
    if (ARC_PHASE_BROKEN != base->phase) {
        base->phase = ARC_PHASE_READY;
        announce(module);
    }
}

int coll_lowlat_look(lowlat_module_t *module)
{
    if (!module->looked) {
        lowlat_staging_look(&module->group);
        module->looked = true;
        module->until_look = 0; /* read what all have told after the next call */
        return MPI_SUCCESS;
    }
    module->looked = false;
    module->until_look = LOWLAT_STAGING_CALLS;
    if (lowlat_staging_changed(&module->group)) {
        find_staging(module, false);
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
        compile_map(module);
        announce(module);
    }
    return MPI_SUCCESS;
}

void coll_lowlat_teardown(lowlat_module_t *module)
{
    /* A broken module's buffers may still belong to a send that cannot be taken back. */
    const bool keeps = ARC_PHASE_BROKEN == module->base.phase && NULL != module->group.net;

    if (!keeps) {
        mca_share_release(&module->share);
        mca_budget_return(MCA_BUDGET_REQUESTS, module->request_bytes);
        module->request_bytes = 0;
    }
    lowlat_net_release(module, keeps);
    free(module->choice);
    module->choice = NULL;
    free(module->group.parts);
    module->group.parts = NULL;
    module->group.segment = NULL;
    module->group.net = NULL;
    arc_topology_free(&module->topology);
}
