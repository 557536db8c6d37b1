/*
 * coll_lowlat: exact allreduce within a node and between nodes.  The component's descriptor
 * and Open MPI's callbacks.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <glob.h>

#include "coll_lowlat_allreduce.h"
#include "coll_lowlat_book.h"
#include "coll_lowlat_port.h"
#include "coll_lowlat_settled.h"
#include "mca_levels.h"
#include "mca_pvars.h"

static void register_pvars(const arc_component_t *component)
{
    static const lowlat_module_t none; /* of zeros: no calls */
    static const mca_base_var_enum_value_t names[] = {
        {0, "none"},
#define X(_id, _prefix, _name, ...) {1 + (int) LOWLAT_ALGORITHM_##_id, _name},
        LOWLAT_ALGORITHM_TABLE(X)
#undef X
#define X(_id, _text) {1 + (int) ARC_TALLY_PASSED + (int) ARC_REASON_##_id, "passed down: " _text},
            ARC_REASON_TABLE(X)
#undef X
                {0, NULL},
    };
#define ARC_PVAR_FIELD(_field) \
    offsetof(lowlat_module_t, _field), sizeof((lowlat_module_t *) 0)->_field
    static const arc_pvar_t pvars[] = {
#include "lowlat_pvars.def"
    };

    arc_pvars_register(component, pvars, sizeof pvars / sizeof pvars[0], &none.base, names);
}

static int lowlat_register(void)
{
    arc_component_t *base = &mca_coll_lowlat_component.base;
    const int status = arc_component_register(base);
    if (OPAL_SUCCESS == status) {
        register_pvars(base); /* their functions rely on the release */
    }
    return status;
}

static bool has_adapters(void)
{
    glob_t found;
    const bool has = 0 == glob("/sys/class/infiniband/*", GLOB_NOSORT, NULL, &found);

    globfree(&found);
    return has;
}

/*
 * By default UCX is opened only where the kernel knows RDMA adapters; shared memory between
 * declared nodes is no network to be tried by itself, but for tests.
 */
static bool wants_puts(const lowlat_component_t *component)
{
    const bool may_try =
        component->config.arc_ranks_per_node > 0 ? LOWLAT_TRIES_DECLARED : has_adapters();

    return component->config.priority >= 0 &&
           (LOWLAT_TRANSPORT_PUTS == component->config.nodes_transport ||
            (LOWLAT_TRANSPORT_AUTO == component->config.nodes_transport && may_try));
}

static int lowlat_open(void)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;

    lowlat_book_open();
    mca_pool_open(component->config.arc_max_memory, LOWLAT_FIRST_REGION_BYTES);
    component->told_of_messages = false;
    /* Now: this early in MPI_Init no other thread reads the environment yet. */
    component->puts = wants_puts(component) ? lowlat_puts_new(&component->why_no_puts) : NULL;
    return arc_component_open(&component->base);
}

static int lowlat_close(void)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;

    lowlat_book_close();
    lowlat_puts_free(component->puts);
    mca_pool_close();
    return arc_component_close(&component->base);
}

/* What was asked for and cannot be had; settings that contradict each other. */
static void warn_of_settings(const lowlat_component_t *component)
{
    const lowlat_config_t *config = &component->config;
    const int algorithm = config->algorithm;

    if (component->base.first_process && config->arc_verbose >= ARC_LOG_WARN) {
        if (LOWLAT_TRANSPORT_PUTS == config->nodes_transport && config->priority >= 0 &&
            NULL == component->puts) {
            opal_output(0, "coll_lowlat: no puts between nodes: %s", component->why_no_puts);
        }
        mca_levels_warn("lowlat", config->arc_levels);
        if (LOWLAT_ALGORITHM_AUTO != algorithm && LOWLAT_ALGORITHM_NONE != algorithm &&
            config->reproducible && !lowlat_algorithms[algorithm - 1].reproducible) {
            opal_output(0,
                        "coll_lowlat: coll_lowlat_algorithm %s is ignored: its sums depend on the "
                        "length of the message, and coll_lowlat_reproducible is set",
                        lowlat_algorithm_choices[algorithm]);
        }
    }
}

static int lowlat_init_query(bool progress_threads, bool mpi_threads)
{
    (void) progress_threads;
    (void) mpi_threads;
    int status = arc_component_init_query(&mca_coll_lowlat_component.base);
    warn_of_settings(&mca_coll_lowlat_component);
    return status;
}

static mca_coll_base_module_t *lowlat_comm_query(struct ompi_communicator_t *comm, int *priority)
{
    return arc_component_query(&mca_coll_lowlat_component.base, comm, priority);
}

static arc_wait_cause_t lowlat_awaited(const arc_module_t *base, const arc_task_t *any,
                                       unsigned *from, unsigned *rank)
{
    const lowlat_module_t *module = (const lowlat_module_t *) base;
    const lowlat_level_t *nearest = &module->group.levels.level[0];
    const lowlat_task_t *task = (const lowlat_task_t *) any;
    arc_topology_t topology = module->topology;
    unsigned members[LOWLAT_LEVEL_MEMBERS];

    if (task->group->ranks != topology.local_ranks) { /* a trial of staging, of the nearest */
        for (unsigned i = 0; i < nearest->members; ++i) {
            members[i] = topology.members[nearest->rank[i]];
        }
        topology.members = members;
        topology.local_ranks = nearest->members;
    }
    return mca_share_cause(&topology, task, from, rank);
}

/* Perhaps not all take MPI_UINT16_T for floats: then nobody must. */
static void lowlat_disagreed(arc_module_t *base)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    mca_bridge_init(&module->bridge, module->bridge.kernels, ARC_TYPE_UINT16);
}

/* Everything here is local and cannot fail; what can comes with the first call. */
static void lowlat_enabled(arc_module_t *base)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    const lowlat_config_t *config = &mca_coll_lowlat_component.config;

    base->wanted = arc_slot_forms(ARC_SLOT_allreduce);
    module->until_look = INT64_MAX;
    const lowlat_module_t *of = (const lowlat_module_t *) base->of;
    mca_bridge_init(&module->bridge, arc_reduce_table(arc_cpu_isa(ARC_ISA_BEST)),
                    NULL == of ? arc_uint16_type(config->uint16_as) : of->bridge.uint16);
    if (config->reproducible) {
        base->calls_to_go = 0; /* the first call already is to have the bits of the others */
    }
    /* As if all were on one node; the set-up looks. */
    module->group.rank = (unsigned) ompi_comm_rank(base->comm);
    module->group.ranks = (unsigned) ompi_comm_size(base->comm);
    module->group.block_bytes = LOWLAT_BLOCK_BYTES;
    module->group.chunk_bytes = LOWLAT_CHUNK_BYTES;
    module->max_arena_bytes = (size_t) LOWLAT_SLOTS * LOWLAT_CHUNK_BYTES;
    module->group.arena_bytes = module->max_arena_bytes;
    lowlat_shape_t shape = lowlat_shape_of(&module->group);
    shape.fact[LOWLAT_FACT_NODES].most = SIZE_MAX;
    lowlat_map_init(&module->map, config, &mca_coll_lowlat_component.rules, &shape, &module->group);
}

/* The one symbol that the DSO exports. */
__attribute__((visibility("default"))) lowlat_component_t mca_coll_lowlat_component = {
    .base = ARC_COMPONENT(lowlat, config, .agreement_tag = MCA_COMPAT_TAG_LOWLAT,
                          .algorithm_names = lowlat_algorithm_choices + 1,
                          .algorithms = LOWLAT_ALGORITHMS, .direct = coll_lowlat_direct,
                          .directed = coll_lowlat_directed),
};
_Static_assert((int) LOWLAT_ALGORITHMS <= (int) ARC_TALLY_ALGORITHMS, "a tally row each");

OBJ_CLASS_INSTANCE(lowlat_module_t, arc_module_t, NULL, coll_lowlat_teardown);
