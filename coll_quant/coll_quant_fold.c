/*
 * hierarchical where the ranks of a node can share memory (quant_fold.h), which is our own, beside
 * that of coll_lowlat; elsewhere ranks exchange messages on the node, too
 * (exchange_tree.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant_call.h"
#include "mca_levels.h"
#include "reduce.h"
#include "settled.h"
#include "sizes.h"

enum {
    /*
     * The most that arenas grow to: room for chunks of 16 owners with messages of 64 KiB of
     * numbers, of 85 with a tile, 16 KiB, in each, or of 341 with the shortest ones, 4 KiB.
     */
    ARENA_BYTES_MAX = ARC_SETTLED(4 << 20, 256 << 10),
    /* Of all processes of the job on a node: room for such arenas of 47 ranks. */
    NODE_BYTES_MAX = 384 << 20,
};

/* Of one communicator with so many ranks on each node: half of it for more than 47, ... */
static size_t most_arena_bytes(unsigned per_node)
{
    size_t bytes = ARENA_BYTES_MAX;

    while (bytes > LOWLAT_MIN_ARENA_BYTES &&
           per_node * lowlat_segment_bytes(bytes) > NODE_BYTES_MAX) {
        bytes /= 2;
    }
    return bytes;
}

void coll_quant_fold_open(void)
{
    /* A region as large as its first segment: most communicators need none. */
    mca_pool_open(NODE_BYTES_MAX, 0);
}

/*
 * Arenas for an operation, doubled, so that they grow seldom; *least: without so much it is not
 * served.  0: it is not for that.  Of more ranks than there can be memory for, none is: the same
 * whether there is memory or not.
 */
static size_t arena_for(const quant_module_t *module, const quant_operation_t *operation,
                        size_t *least)
{
    const quant_config_t *config = &module->config;
    const size_t most = most_arena_bytes(config->per_node);
    size_t arena_bytes = LOWLAT_MIN_ARENA_BYTES;
    size_t best = 0;

    if (!quant_fold_takes(config, operation) ||
        quant_pipeline_is_doubling(module->pipeline, operation)) {
        return 0;
    }
    *least = quant_fold_arena_bytes(config, module->stream.base.ranks, operation, most, &best);
    /* Never less than what it needs: whether it is served must not depend on the calls before. */
    while (arena_bytes < *least || arena_bytes < arc_min(best, most)) {
        arena_bytes *= 2;
    }
    return arena_bytes <= most ? arena_bytes : 0;
}

static quant_fold_t *init(quant_module_t *module, arc_room_t *room)
{
    return quant_fold_init(&module->config, &module->fold.group,
                           arc_reduce_table(arc_cpu_isa(ARC_ISA_BEST)), &module->stream.base,
                           most_arena_bytes(module->config.per_node), room);
}

/* This rank's memory for the group, its levels, and the exchange. */
static bool make_exchange(quant_module_t *module, mca_facts_t *facts)
{
    lowlat_group_t *group = &module->fold.group;
    arc_room_t room = {.memory = NULL};

    *group = (lowlat_group_t){
        .rank = module->topology.local_rank,
        .ranks = module->topology.local_ranks,
        .stream_bytes = SIZE_MAX,
        .parts = calloc(module->topology.local_ranks, sizeof *group->parts),
    };
    (void) init(module, &room);
    module->fold.memory = malloc(room.used + ARC_ALIGN_BYTES - 1);
    if (NULL == module->fold.memory || NULL == group->parts ||
        !mca_levels_begin(module->settings.arc_levels, group, facts)) {
        return false;
    }
    room = (arc_room_t){.memory = arc_align(module->fold.memory)};
    module->fold.exchange = init(module, &room);
    return true;
}

/* Share arenas of so many bytes, or of half of that, ..., but larger than before.  Collective. */
static arc_status_t share(quant_module_t *module, bool ready, size_t arena_bytes,
                          mca_facts_t *facts)
{
    lowlat_group_t *group = &module->fold.group;
    const size_t floor_bytes = NULL == facts ? group->arena_bytes : LOWLAT_MIN_ARENA_BYTES - 1;
    const arc_status_t status =
        mca_share_make(&module->fold.share, &module->base, &module->topology, ready, arena_bytes,
                       floor_bytes, facts);

    module->fold.asked_bytes = arena_bytes;
    if (ARC_OK == status) {
        group->segment = module->fold.share.segment;
        group->arena_bytes = module->fold.share.arena_bytes;
    }
    return status;
}

/* The ranks share memory: their levels.  Collective; may break the module. */
static void choose_levels(quant_module_t *module, mca_facts_t *facts)
{
    enum { TEXT_BYTES = 256 };
    char text[TEXT_BYTES];
    lowlat_group_t *group = &module->fold.group;

    mca_levels_end(&module->base, &module->topology, module->settings.arc_levels,
                   MCA_LEVELS_CROWDED(facts), facts, group);
    mca_levels_describe(&group->levels, text, sizeof text);
    arc_module_log(&module->base, ARC_LOG_CHOICE,
                   "adds up on each node, in shared memory, %zu bytes a rank, %s",
                   lowlat_segment_bytes(group->arena_bytes), text);
}

int coll_quant_fold_look(quant_module_t *module, const quant_operation_t *operation)
{
    mca_facts_t facts = {0};
    size_t least = 0;
    const size_t arena_bytes = module->fold.looked ? 0 : arena_for(module, operation, &least);

    if (0 == arena_bytes) {
        return MPI_SUCCESS;
    }
    const arc_status_t status = share(module, make_exchange(module, &facts), arena_bytes, &facts);
    module->base.wait.yields = facts.cores_shared ? LOWLAT_YIELDS : 0;
    if (ARC_OK == status) {
        choose_levels(module, &facts);
    } else if (ARC_UNSUPPORTED == status) {
        coll_quant_fold_release(module);
    }
    free(facts.seats);
    module->fold.looked = true;
    return ARC_PHASE_BROKEN == module->base.phase ? arc_module_broken_error() : MPI_SUCCESS;
}

int coll_quant_fold_check(quant_module_t *module, const quant_operation_t *operation, bool *folds)
{
    const lowlat_group_t *group = &module->fold.group;
    size_t least = 0;
    const size_t arena_bytes =
        NULL == module->fold.share.own ? 0 : arena_for(module, operation, &least);

    *folds = false;
    if (0 == arena_bytes) {
        return MPI_SUCCESS;
    }
    /* What was not granted is not asked for again. */
    if (arena_bytes > module->fold.asked_bytes && arena_bytes > group->arena_bytes) {
        if (ARC_OK == share(module, true, arena_bytes, NULL)) { /* without it is slower */
            arc_module_log(&module->base, ARC_LOG_CHOICE,
                           "memory of the nodes grows, %zu bytes a rank",
                           lowlat_segment_bytes(group->arena_bytes));
        }
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
    }
    *folds = least <= group->arena_bytes;
    return MPI_SUCCESS;
}

/* Drive a task of all ranks to its end. */
static int run(quant_module_t *module, const quant_call_t *call, lowlat_task_t *task)
{
    const arc_status_t status = arc_wait_run(&module->base.wait, &task->task);

    return ARC_OK == status
               ? MPI_SUCCESS
               : arc_module_fail(&module->base, arc_call_slot(call->said), &task->task, status);
}

int coll_quant_fold_run(quant_module_t *module, quant_call_t *call)
{
    quant_fold_t *exchange = module->fold.exchange;
    const int status = run(module, call, quant_fold_start(exchange, &call->operation));

    return MPI_SUCCESS == status ? run(module, call, quant_fold_start_bound(exchange, &call->bound))
                                 : status;
}

void coll_quant_fold_release(quant_module_t *module)
{
    /* Messages may still be made of what a broken module has. */
    if (ARC_PHASE_BROKEN != module->base.phase) {
        mca_share_release(&module->fold.share);
        free(module->fold.memory);
        free(module->fold.group.parts);
    }
    memset(&module->fold, 0, sizeof module->fold);
}
