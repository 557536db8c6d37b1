/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "coll_lowlat_settled.h"
#include "coll_lowlat_staging.h"
#include "lowlat_staging.h"

/* The names of the group's processes, in its order.  NULL: no memory. */
static opal_process_name_t *names_of(const lowlat_module_t *module, size_t *bytes)
{
    const arc_topology_t *topology = &module->topology;
    opal_process_name_t *names = calloc(topology->local_ranks, sizeof *names);

    *bytes = topology->local_ranks * sizeof *names;
    for (unsigned i = 0; NULL != names && i < topology->local_ranks; ++i) {
        names[i] =
            ompi_group_get_proc_name(module->base.comm->c_local_group, (int) topology->members[i]);
    }
    return names;
}

static void remember_staging(const lowlat_module_t *module)
{
    const lowlat_group_t *group = &module->group;
    const lowlat_staged_t staged = {.prefetch_bytes = group->prefetch_bytes,
                                    .stream_bytes = group->stream_bytes,
                                    .apart_ns = group->apart_ns,
                                    .way = group->way};
    size_t bytes = 0;
    opal_process_name_t *names = names_of(module, &bytes);

    if (NULL != names) {
        lowlat_memo_remember(&mca_coll_lowlat_component.staged, names, bytes, &staged);
    }
    free(names);
}

bool coll_lowlat_staging_recall(lowlat_module_t *module)
{
    lowlat_group_t *group = &module->group;
    lowlat_staged_t staged;
    size_t bytes = 0;
    opal_process_name_t *names = names_of(module, &bytes);
    const bool found = NULL != names &&
                       lowlat_memo_recall(&mca_coll_lowlat_component.staged, names, bytes, &staged);

    free(names);
    if (found) {
        group->prefetch_bytes = staged.prefetch_bytes;
        group->stream_bytes = staged.stream_bytes;
        group->apart_ns = staged.apart_ns;
        group->way = staged.way;
    }
    return found;
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
        (void) arc_module_break(&module->base, status, " in the trial of staging");
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
