/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "coll_lowlat_settled.h"
#include "coll_lowlat_staging.h"
#include "lowlat_staging.h"

/* What was found for a group of processes on a node. */
typedef struct lowlat_staged {
    struct lowlat_staged *next;
    size_t prefetch_bytes; /* lowlat_group_t has these fields, too */
    size_t stream_bytes;
    int apart_ns;
    unsigned way;
    unsigned ranks;
    opal_process_name_t name[]; /* of the processes, in the order of the group */
} lowlat_staged_t;

static opal_process_name_t name_of(const lowlat_module_t *module, unsigned i)
{
    return ompi_group_get_proc_name(module->base.comm->c_local_group,
                                    (int) module->topology.members[i]);
}

/* Under the lock: what is remembered of the processes of this group, or NULL. */
static lowlat_staged_t *find_staged(const lowlat_module_t *module)
{
    const unsigned ranks = module->topology.local_ranks;
    lowlat_staged_t *staged = mca_coll_lowlat_component.staged;

    for (; NULL != staged; staged = staged->next) {
        unsigned same = 0;
        while (ranks == staged->ranks && same < ranks) {
            const opal_process_name_t name = name_of(module, same);
            if (0 != memcmp(&name, &staged->name[same], sizeof name)) {
                break;
            }
            ++same;
        }
        if (same == ranks) {
            break;
        }
    }
    return staged;
}

static void remember_staging(const lowlat_module_t *module)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;
    const lowlat_group_t *group = &module->group;

    (void) pthread_mutex_lock(&component->base.lock);
    lowlat_staged_t *staged = find_staged(module);
    if (NULL == staged) {
        staged = malloc(sizeof *staged + group->ranks * sizeof staged->name[0]);
        for (unsigned i = 0; NULL != staged && i < group->ranks; ++i) {
            staged->name[i] = name_of(module, i);
        }
        if (NULL != staged) {
            staged->next = component->staged;
            staged->ranks = group->ranks;
            component->staged = staged;
        }
    }
    if (NULL != staged) {
        staged->prefetch_bytes = group->prefetch_bytes;
        staged->stream_bytes = group->stream_bytes;
        staged->apart_ns = group->apart_ns;
        staged->way = group->way;
    }
    (void) pthread_mutex_unlock(&component->base.lock);
}

bool coll_lowlat_staging_recall(lowlat_module_t *module)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;
    lowlat_group_t *group = &module->group;

    (void) pthread_mutex_lock(&component->base.lock);
    const lowlat_staged_t *staged = find_staged(module);
    if (NULL != staged) {
        group->prefetch_bytes = staged->prefetch_bytes;
        group->stream_bytes = staged->stream_bytes;
        group->apart_ns = staged->apart_ns;
        group->way = staged->way;
    }
    (void) pthread_mutex_unlock(&component->base.lock);
    return NULL != staged;
}

void coll_lowlat_staging_forget(void)
{
    lowlat_staged_t **first = &mca_coll_lowlat_component.staged;

    while (NULL != *first) {
        lowlat_staged_t *next = (*first)->next;
        free(*first);
        *first = next;
    }
}

static arc_status_t run_task(void *context, lowlat_task_t *task)
{
    return arc_wait_run((const arc_wait_t *) context, &task->task);
}

void coll_lowlat_staging_try(lowlat_module_t *module)
{
    arc_status_t status = lowlat_staging_try(&module->group, run_task, &module->wait);

    arc_module_log(&module->base, ARC_LOG_CHOICE, "staging tried, neighbours %d ns apart",
                   module->group.apart_ns);
    if (ARC_OK == status) {
        remember_staging(module);
    } else {
        (void) arc_module_break(&module->base, ARC_SLOTS, status, " in the trial of staging");
    }
}

void coll_lowlat_staging_choose(lowlat_module_t *module, bool all_remember)
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
    } else if (!all_remember) {
        coll_lowlat_staging_try(module);
    }
    module->until_look = is_open ? LOWLAT_STAGING_CALLS : INT64_MAX;
}
