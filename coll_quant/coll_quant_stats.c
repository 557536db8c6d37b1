/*
 * What is known about the errors of calls, of each communicator and of the process.
 *
 * Floats are converted and compared in the default environment: a small bound must not become zero
 * because the program flushes denormal numbers.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "c_locale.h"
#include "coll_quant_call.h"
#include "float_env.h"
#include "mca_pvars.h"

/* Its communicator's, of which all requests count. */
static quant_stats_t *stats_of(quant_module_t *module)
{
    return NULL == module->base.of ? &module->stats : &((quant_module_t *) module->base.of)->stats;
}

static void note_bound(quant_stats_t *stats, double bound)
{
    stats->last_bound = bound;
    stats->worst_bound = bound > stats->worst_bound ? bound : stats->worst_bound;
}

void coll_quant_stats_note(quant_module_t *module, arc_reason_t reason, float bound)
{
    const bool quantized = ARC_REASON_NONE == reason;
    quant_component_t *component = &mca_coll_quant_component;
    quant_stats_t *stats = stats_of(module);

    /* A start of another thread may run beside what a fiber notes. */
    const bool threads = mca_compat_threads();
    if (threads) {
        (void) pthread_mutex_lock(&component->base.lock);
    }
    if (quantized) {
        ARC_IN_DEFAULT_FLOAT_ENV;
        note_bound(stats, (double) bound);
        note_bound(&component->stats, (double) bound);
    } else {
        stats->last_bound = 0;
    }
    stats->last_call = quantized ? QUANT_LAST_QUANTIZED : QUANT_LAST_EXACT + (int) reason;
    if (threads) {
        (void) pthread_mutex_unlock(&component->base.lock);
    }
}

static void note_measure(quant_stats_t *stats, const quant_measure_t *measure)
{
    stats->verified += 1;
    stats->last = *measure;
    quant_measure_raise(&stats->worst, measure);
}

void coll_quant_stats_note_measure(quant_module_t *module, const quant_measure_t *measure)
{
    quant_component_t *component = &mca_coll_quant_component;

    (void) pthread_mutex_lock(&component->base.lock);
    ARC_IN_DEFAULT_FLOAT_ENV;
    note_measure(stats_of(module), measure);
    note_measure(&component->stats, measure);
    (void) pthread_mutex_unlock(&component->base.lock);
}

void coll_quant_stats_print(FILE *stream, const quant_component_t *component)
{
    const quant_stats_t *stats = &component->stats;

    const arc_float_env_t of_program = arc_float_env_enter();
    const bool has_bound = stats->worst_bound > 0;
    arc_float_env_leave(of_program);
    const arc_c_locale_t locale = arc_c_locale_enter();
    if (has_bound) {
        fprintf(stream, "  error of an element: at most %.3e in any call\n", stats->worst_bound);
    }
    if (stats->verified > 0) {
        fprintf(stream,
                "  verified %llu calls: normalized mean square error at most %.3e, "
                "largest error of an element %.3e\n",
                stats->verified, stats->worst.nmse, stats->worst.error);
    }
    arc_c_locale_leave(locale);
    fflush(stream);
}

/* ---- for MPI_T ---- */

void coll_quant_pvars_register(const quant_component_t *component)
{
    static const quant_module_t none = {.stats.last_call = QUANT_LAST_NONE};
    static const mca_base_var_enum_value_t names[] = {
        {QUANT_LAST_NONE, "none"},
        {QUANT_LAST_QUANTIZED, "quantized"},
#define X(_id, _text) {QUANT_LAST_EXACT + (int) ARC_REASON_##_id, "exact: " _text},
        ARC_REASON_TABLE(X)
#undef X
            {0, NULL},
    };
#define ARC_PVAR_FIELD(_field) \
    offsetof(quant_module_t, stats._field), sizeof((quant_stats_t *) 0)->_field
    static const arc_pvar_t pvars[] = {
#include "quant_pvars.def"
    };

    arc_pvars_register(&component->base, pvars, sizeof pvars / sizeof pvars[0], &none.base, names);
}
