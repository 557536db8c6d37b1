/*
 * How a module of coll_quant comes to be ready, and is given up:
 *
 *   fresh     first call            agree on the settings, look at the nodes, choose, agree on that
 *   agreed    first eligible call   memory, on all ranks or on none
 *   ready     until coll_quant_renew(): fresh again, and ready if nothing has changed
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant_call.h"
#include "half.h"
#include "float_env.h"
#include "mca_params.h"
#include "mca_presence.h"
#include "mca_slots.h"
#include "sizes.h"

void coll_quant_teardown(quant_module_t *module)
{
    arc_module_free(&module->base, module->memory);
    module->memory = NULL;
    module->pipeline = NULL;
    coll_quant_fold_release(module);
    free(module->selectors);
    module->selectors = NULL;
    coll_quant_residuals_free(module);
    coll_quant_limit_reset(module);
}

/* What was chosen, at level 10. */
static void say_choice(const quant_module_t *module)
{
    const arc_module_t *base = &module->base;
    const quant_config_t *config = &module->config;
    const exchange_shape_t shape = quant_config_shape(config, module->stream.base.ranks);
    arc_module_log(base, ARC_LOG_CHOICE,
                   "%s, %u times %u ranks, from %zu bytes; %s, then %s; block %s%u, "
                   "%s%zu numbers a message, minishards %u, microshards %u, %s kernels",
                   config->algo->name, shape.nodes, shape.per_node, module->settings.min_bytes,
                   config->reduce_format->name, config->gather_format->name,
                   0 != config->minishards ? "up to " : "", config->block_rows,
                   0 != config->minishards || 0 != config->microshards ? "up to " : "",
                   config->segment_elems, config->minishards, config->microshards,
                   arc_isa_name(arc_cpu_isa(ARC_ISA_BEST)));
    if (NULL != config->coarsest) {
        arc_module_log(base, ARC_LOG_CHOICE, "each message in a format of its own, from %s on",
                       config->coarsest->name);
    }
}

/* Memory for the algorithm, more than it needs so that it can be aligned.  False: there is none. */
static bool get_memory(quant_module_t *module, size_t *bytes)
{
    arc_room_t room = {.memory = NULL};

    (void) quant_pipeline_init(&module->config, &module->stream.base, &room);
    *bytes = room.used + ARC_ALIGN_BYTES - 1;
    /* malloc, and aligned below: glibc 2.36 does not reuse what aligned_alloc() gave. */
    module->memory = malloc(*bytes);
    /* Pages of it are taken when a class of lengths is learned. */
    module->selectors =
        calloc((size_t) QUANT_TRIED * ARC_SELECT_CLASSES, sizeof *module->selectors);
    module->limit.sizes = calloc(QUANT_SIZES, sizeof *module->limit.sizes);
    return NULL != module->memory && NULL != module->selectors && NULL != module->limit.sizes;
}

/* The memory of the algorithm, on all ranks or on none. */
static void set_up(quant_module_t *module)
{
    arc_module_t *base = &module->base;
    size_t bytes = 0;

    base->phase = ARC_PHASE_DECLINED;
    base->declined = ARC_REASON_NO_SETUP;
    memset(module->gain, 0, sizeof module->gain);
    uint64_t ok = get_memory(module, &bytes);
    if (ARC_OK != arc_module_min(base, &ok, 1)) {
        free(module->memory); /* no message is in it yet */
        module->memory = NULL;
        return;
    }
    if (!ok) {
        coll_quant_teardown(module);
        arc_module_log(base, ARC_LOG_WARN, "not used: no memory for %zu bytes of buffers", bytes);
        return;
    }
    arc_room_t room = {.memory = arc_align(module->memory)};
    module->pipeline = quant_pipeline_init(&module->config, &module->stream.base, &room);
    base->phase = ARC_PHASE_READY;
    say_choice(module);
}

/*
 * The slots that a module with these settings takes.  Allreduce: the ranks agree there, so it is
 * always there, also where the user wants nothing quantized.  All forms of both sums also where
 * they stay exact, because the component below would add 16-bit floats as integers.
 */
static unsigned slots_of(const quant_module_t *module)
{
    /* Where nobody wants sums of another kind, nonblocking calls need not pass through here. */
    const bool has_halves = ARC_TYPE_UINT16 != module->uint16;
    const bool asked = module->active || has_halves;
    unsigned slots = arc_slot_bit(ARC_SLOT_allreduce);

    for (exchange_collective_t collective = EXCHANGE_ALLREDUCE; collective < EXCHANGE_COLLECTIVES;
         ++collective) {
        if (quant_settings_want_collective(&module->settings, collective) ||
            (has_halves && EXCHANGE_ALLGATHER != collective)) {
            slots |= (asked ? arc_slot_forms : arc_slot_bit)((arc_slot_t) collective);
        }
    }
    return slots;
}
static_assert((int) ARC_SLOT_reduce_scatter_block == (int) EXCHANGE_REDUCE_SCATTER &&
                  (int) ARC_SLOT_allgather == (int) EXCHANGE_ALLGATHER,
              "the same order");

void coll_quant_renew(quant_module_t *module)
{
    module->uint16 = quant_settings_types(&module->settings)->uint16;
    if (ARC_TYPE_UINT16 != module->uint16) {
        const bool is_bf16 = ARC_TYPE_BF16 == module->uint16;
        /* The largest number, and what is half a step above it. */
        module->storage = (quant_storage_t){
            .bytes = sizeof(uint16_t),
            .half = arc_half_select(module->uint16, arc_cpu_isa(ARC_ISA_BEST)),
            .largest = is_bf16 ? 0x1.fep127f : 65504,
            .overflow = is_bf16 ? 0x1.ffp127f : 65520,
        };
    }
    module->base.slots_alike = ARC_TYPE_UINT16 != module->uint16;
    module->base.wanted = slots_of(module);
    if (ARC_PRESENCE_LACKING == module->base.presence) {
        module->uint16 = ARC_TYPE_UINT16;
        coll_quant_show(module); /* no set-up will */
    } else if (ARC_PHASE_BROKEN != module->base.phase) {
        module->base.phase = ARC_PHASE_FRESH;
    }
}

void coll_quant_adopt(quant_module_t *module, const quant_module_t *of)
{
    module->settings = of->settings;
    module->active = of->active;
    module->wish = of->wish;
    module->uint16 = of->uint16;
    module->storage = of->storage;
    module->base.key_was_set = of->base.key_was_set && ARC_PHASE_FRESH == of->base.phase;
    memcpy(module->gain, of->gain, sizeof module->gain);
}

/* Which ranks are on which node, if that matters and is not known: on all ranks or on none. */
static arc_status_t look_at_nodes(quant_module_t *module)
{
    arc_module_t *base = &module->base;
    const quant_algo_t *wanted = quant_settings_algo(&module->settings);

    if ((NULL != wanted && !wanted->tree->levels) || 0 != module->topology.nodes) {
        return ARC_OK;
    }
    const unsigned declared = (unsigned) module->settings.arc_ranks_per_node;
    uint64_t ok = ARC_OK == mca_nodes_find(base, declared, &module->topology);
    arc_status_t status = arc_module_min(base, &ok, 1);
    if (ARC_OK == status && !ok) {
        status = ARC_ERR_NO_MEMORY;
    }
    if (ARC_OK != status) {
        arc_topology_free(&module->topology);
    }
    return status;
}

/* Ranks of each node, if there are levels: several nodes with equally many, more than one. */
static unsigned ranks_per_node(const arc_topology_t *topology)
{
    const bool levels = topology->nodes > 1 && topology->owners == topology->largest;
    return levels ? topology->largest : 1;
}

/* The user has named an algorithm with levels where there are none. */
static void warn_of_levels(quant_module_t *module)
{
    const arc_topology_t *topology = &module->topology;
    const quant_algo_t *wanted = quant_settings_algo(&module->settings);

    if (NULL == wanted || wanted == module->config.algo ||
        !arc_module_first(&module->base, QUANT_SAID_LEVELS)) {
        return;
    }
    arc_module_log(&module->base, ARC_LOG_WARN,
                   "%s needs several nodes of equally many ranks, at least 2; here nodes %u, "
                   "ranks on a node %u to %u: %s is used instead",
                   wanted->name, topology->nodes, topology->owners, topology->largest,
                   module->config.algo->name);
}

/*
 * Format, algorithm and configuration for the settings.  A number that tells which, for the ranks
 * to compare: so whatever each one's program does about floating point.
 */
static uint64_t choose_config(quant_module_t *module)
{
    ARC_IN_DEFAULT_FLOAT_ENV;
    module->config = (quant_config_t){
        .kernels = &mca_coll_quant_component.kernels,
        .per_node = ranks_per_node(&module->topology),
        .order = module->topology.order,
        .alone = 1 == module->topology.largest,
    };
    module->attainable = quant_settings_config(
        &module->settings, (unsigned) ompi_comm_size(module->base.comm), &module->config);
    if (!module->attainable) {
        return 0;
    }
#ifdef ARC_FOR_TESTS
    module->config.depth = EXCHANGE_DEPTH_MIN; /* waiting for room is the rule */
    module->config.doubling_bytes = 0;         /* short vectors have the algorithm, too */
#endif
    return quant_config_hash(&module->config);
}

/*
 * Settings other than those that were agreed on, or not the same on all ranks: nothing that came of
 * the old ones stays.
 */
static void forget(quant_module_t *module)
{
    coll_quant_teardown(module);
    memset(module->gain, 0, sizeof module->gain);
    module->attainable = false;
    module->agreed = 0;
}

/*
 * The ranks compare their settings, which the info key may have changed, and then what they choose,
 * which comes from the C library's functions, too; these may differ in the last bit between hosts.
 */
static __attribute__((noinline, cold)) void agree_on_settings(quant_module_t *module)
{
    arc_module_t *base = &module->base;
    const uint64_t hash =
        (module->active ? 1 : 0) ^ arc_component_hash(base->component, &module->settings);

    arc_presence_find(base);
    if (ARC_PHASE_FRESH == base->phase) {
        arc_module_agree(base, hash);
    }
    if (ARC_PHASE_AGREED == base->phase && hash == module->agreed) {
        base->phase = NULL == module->pipeline ? ARC_PHASE_AGREED : ARC_PHASE_READY;
        return;
    }
    if (0 != module->agreed) {
        forget(module);
    }
    if (ARC_PHASE_AGREED == base->phase && module->active) {
        const arc_status_t status = look_at_nodes(module);
        if (ARC_PHASE_BROKEN == base->phase) {
            return;
        }
        if (ARC_OK != status) {
            base->phase = ARC_PHASE_DECLINED;
            base->declined = ARC_REASON_NO_SETUP;
        } else {
            arc_module_agree(base, choose_config(module));
        }
    }
    if (ARC_PHASE_DECLINED == base->phase) {
        return;
    }
    module->agreed = hash;
    if (!module->active) {
        return;
    }
    if (module->attainable) {
        warn_of_levels(module);
    } else {
        arc_module_log(base, ARC_LOG_CHOICE, "not used: %s",
                       arc_reason_text(ARC_REASON_INACCURATE));
    }
}

__attribute__((cold)) arc_reason_t coll_quant_set_up_if_needed(quant_module_t *module,
                                                               arc_reason_t verdict)
{
    arc_module_t *base = &module->base;

    if (ARC_PHASE_AGREED == base->phase && !module->active && ARC_TYPE_UINT16 == module->uint16) {
        /* Nobody wants it here.  Until the key is set, calls go below directly. */
        arc_module_uninstall(base);
    }
    if (ARC_PHASE_AGREED == base->phase && ARC_REASON_NONE == verdict) {
        set_up(module);
        coll_quant_show(module);
    }
    if (ARC_PHASE_DECLINED == base->phase) {
        return base->declined;
    }
    return verdict;
}

void coll_quant_agree_if_due(quant_module_t *module, size_t bytes)
{
    if (ARC_PHASE_FRESH == module->base.phase && !arc_module_is_young(&module->base, bytes)) {
        agree_on_settings(module);
        coll_quant_show(module);
    }
}
