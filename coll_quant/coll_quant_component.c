/*
 * coll_quant: quantized allreduce, and its stages.  The component's descriptor and Open MPI's
 * callbacks.
 *
 * The component changes results, so it serves a communicator only if the user
 * asks, on all its ranks.  Whether all ask is agreed on at the set-up: were a
 * rank that does not want it left out, the others would wait for it.  If nobody
 * asks, the module leaves the slot and costs nothing any more; it comes back when
 * the program sets the key.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "coll_quant_call.h"
#include "mca_levels.h"
#include "mca_params.h"

/* What the report counts by: those of the list, and behind them what short vectors take. */
static const char *const algorithm_names[] = {
#define X(_name, _description) #_name,
    QUANT_ALGO_TABLE(X)
#undef X
        "doubling",
    NULL,
};

static_assert((int) QUANT_ALGOS + 1 <= (int) ARC_TALLY_ALGORITHMS, "a row of the tally each");

/* Whether MPI_UINT16_T is added as 16-bit floats matters where sums stay exact, too. */
static bool quant_wanted(void)
{
    const quant_settings_t *settings = &mca_coll_quant_component.settings;

    return settings->enable || ARC_TYPE_UINT16 != quant_settings_types(settings)->uint16;
}

static int quant_register(void)
{
    const int status = arc_component_register(&mca_coll_quant_component.base);

    if (OPAL_SUCCESS == status) {
        coll_quant_pvars_register(&mca_coll_quant_component);
    }
    return status;
}

static int quant_open(void)
{
    quant_component_t *component = &mca_coll_quant_component;

    component->stats = (quant_stats_t){0};
    component->kernels = quant_kernels_select(arc_cpu_isa(ARC_ISA_BEST));
    coll_quant_fold_open();
    /* Before it is published: what the ranks are to have alike is all in the settings. */
    if (!arc_component_param_set(&component->base, "enable") &&
        arc_component_listed(&component->base)) {
        component->settings.enable = true;
    }
    return arc_component_open(&component->base);
}

static int quant_close(void)
{
    const quant_component_t *component = &mca_coll_quant_component;

    mca_pool_close();
    const int status = arc_component_close(&mca_coll_quant_component.base);

    if (component->settings.arc_verbose >= ARC_LOG_REPORT && component->base.first_process) {
        coll_quant_stats_print(stderr, component);
    }
    return status;
}

static int quant_init_query(bool progress_threads, bool mpi_threads)
{
    const quant_component_t *component = &mca_coll_quant_component;
    const quant_settings_t *settings = &component->settings;
    const int status = arc_component_init_query(&mca_coll_quant_component.base);

    (void) progress_threads;
    (void) mpi_threads;
    if (settings->enable && component->base.first_process &&
        settings->arc_verbose >= ARC_LOG_WARN) {
        mca_levels_warn("quant", settings->arc_levels);
        if (settings->max_nmse > 0 && 0 == settings->verify_every) {
            opal_output(0, "coll_quant: coll_quant_max_nmse has no effect: coll_quant_verify_every "
                           "is 0, so no call is verified");
        }
    }
    return status;
}

static mca_coll_base_module_t *quant_comm_query(struct ompi_communicator_t *comm, int *priority)
{
    return arc_component_query(&mca_coll_quant_component.base, comm, priority);
}

static arc_wait_cause_t quant_awaited(const arc_module_t *base, const arc_task_t *task,
                                      unsigned *from, unsigned *rank)
{
    const quant_module_t *module = (const quant_module_t *) base;

    if (task == (const void *) module->fold.exchange) {
        return mca_share_cause(&module->topology, (const void *) task, from, rank);
    }
    while (*from < module->stream.base.ranks) {
        *rank = (*from)++;
        if (task->ops->waits_for(task, *rank)) {
            return ARC_WAIT_MESSAGES;
        }
    }
    *rank = UINT_MAX;
    return ARC_WAIT_MEMORY;
}

/*
 * Perhaps not all take MPI_UINT16_T for floats: then nobody must.  Who is known to have our
 * parameters does: it differs in the key.
 */
static void quant_disagreed(arc_module_t *base)
{
    if (ARC_PRESENCE_KNOWN != base->presence) {
        ((quant_module_t *) base)->uint16 = ARC_TYPE_UINT16;
        base->slots_alike = false;
    }
}

static void quant_enabled(arc_module_t *base)
{
    quant_module_t *module = (quant_module_t *) base;

    mca_stream_init(&module->stream, base->comm, MCA_COLL_BASE_TAG_ALLREDUCE);
    module->stream.tags = &base->tags;
    base->wait.sheltered = true;
    if (NULL == base->of) {
        coll_quant_keys_enable(module);
    } else {
        coll_quant_adopt(module, (const quant_module_t *) base->of);
    }
}

/* The one symbol that the DSO exports. */
__attribute__((visibility("default"))) quant_component_t mca_coll_quant_component = {
    .base = ARC_COMPONENT(quant, settings, .agreement_tag = MCA_COMPAT_TAG_QUANT,
                          .algorithm_names = algorithm_names, .algorithms = QUANT_ALGOS + 1,
                          .wanted = quant_wanted),
};

static void module_destruct(quant_module_t *module)
{
    coll_quant_teardown(module);
    arc_topology_free(&module->topology);
}

OBJ_CLASS_INSTANCE(quant_module_t, arc_module_t, NULL, module_destruct);
