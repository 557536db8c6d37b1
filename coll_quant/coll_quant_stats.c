/*
 * What is known about the errors of this process's calls: bounds, which every call
 * tells, and measured errors, which verified calls tell.  For the report, and for
 * MPI_T (performance variables coll_quant_...).  Floats are converted and compared in the default
 * environment: a small bound must not become zero because the program flushes denormal numbers.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <opal/mca/base/mca_base_pvar.h>

#include "coll_quant.h"
#include "float_env.h"

static double larger(double a, double b)
{
    return a > b ? a : b;
}

void coll_quant_stats_note_bound(float bound)
{
    quant_component_t *component = &mca_coll_quant_component;
    quant_stats_t *stats = &component->stats;

    (void) pthread_mutex_lock(&component->base.lock);
    const arc_float_env_t of_program = arc_float_env_enter();
    stats->last_bound = (double) bound;
    stats->worst_bound = larger(stats->worst_bound, (double) bound);
    __atomic_store_n(&component->bound_told, stats->last_bound > 0, __ATOMIC_RELAXED);
    arc_float_env_leave(of_program);
    (void) pthread_mutex_unlock(&component->base.lock);
}

/*
 * Only the first exact call after a quantized one takes the lock.  The flag orders nothing: a
 * thread whose call comes after another one's has seen what that wrote, and of calls at the same
 * time either may be the last.
 */
void coll_quant_stats_note_exact(void)
{
    quant_component_t *component = &mca_coll_quant_component;

    if (!__atomic_load_n(&component->bound_told, __ATOMIC_RELAXED)) {
        return;
    }
    (void) pthread_mutex_lock(&component->base.lock);
    component->stats.last_bound = 0;
    __atomic_store_n(&component->bound_told, false, __ATOMIC_RELAXED);
    (void) pthread_mutex_unlock(&component->base.lock);
}

void coll_quant_stats_note_measure(const quant_measure_t *measure)
{
    quant_component_t *component = &mca_coll_quant_component;
    quant_stats_t *stats = &component->stats;

    (void) pthread_mutex_lock(&component->base.lock);
    stats->verified += 1;
    stats->last = *measure;
    const arc_float_env_t of_program = arc_float_env_enter();
    quant_measure_raise(&stats->worst, measure);
    arc_float_env_leave(of_program);
    (void) pthread_mutex_unlock(&component->base.lock);
}

void coll_quant_stats_print(FILE *stream, const quant_component_t *component)
{
    const quant_stats_t *stats = &component->stats;

    const arc_float_env_t of_program = arc_float_env_enter();
    const bool has_bound = stats->worst_bound > 0;
    arc_float_env_leave(of_program);
    if (has_bound) {
        fprintf(stream, "  error of an element: at most %.3e in any call\n", stats->worst_bound);
    }
    if (0 != component->settings.verify_every) {
        fprintf(
            stream,
            "  verified %llu calls: normalized mean square error at most %.3e, in a block %.3e, "
            "largest error of an element %.3e\n",
            stats->verified, stats->worst.nmse, stats->worst.block_nmse, stats->worst.error);
    }
    fflush(stream);
}

static void register_one(const quant_component_t *component, const char *name, const char *help,
                         int variable_class, mca_base_var_type_t type, void *value)
{
    (void) mca_base_component_pvar_register(
        &component->base.super.collm_version, name, help, OPAL_INFO_LVL_4, variable_class, type,
        NULL, MCA_BASE_VAR_BIND_NO_OBJECT,
        MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL, NULL, NULL, value);
}

void coll_quant_stats_register(quant_component_t *component)
{
    quant_stats_t *stats = &component->stats;

#define QUANT_PVAR_CALLS(_name, _field, _help)                          \
    register_one(component, #_name, _help, MCA_BASE_PVAR_CLASS_COUNTER, \
                 MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &stats->_field);
#define QUANT_PVAR_NUMBER(_name, _field, _help)                                                   \
    register_one(component, #_name, _help, MCA_BASE_PVAR_CLASS_GENERIC, MCA_BASE_VAR_TYPE_DOUBLE, \
                 &stats->_field);
#include "quant_pvars.def"
#undef QUANT_PVAR_CALLS
#undef QUANT_PVAR_NUMBER
}
