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

void coll_quant_known_bound(float bound)
{
    quant_component_t *component = &mca_coll_quant_component;
    quant_known_t *known = &component->known;

    (void) pthread_mutex_lock(&component->base.lock);
    const arc_float_env_t of_program = arc_float_env_enter();
    known->last_bound = (double) bound;
    known->worst_bound = larger(known->worst_bound, (double) bound);
    __atomic_store_n(&component->bound_told, known->last_bound > 0, __ATOMIC_RELAXED);
    arc_float_env_leave(of_program);
    (void) pthread_mutex_unlock(&component->base.lock);
}

/*
 * Only the first exact call after a quantized one takes the lock.  The flag orders nothing: a
 * thread whose call comes after another one's has seen what that wrote, and of calls at the same
 * time either may be the last.
 */
void coll_quant_known_exact(void)
{
    quant_component_t *component = &mca_coll_quant_component;

    if (!__atomic_load_n(&component->bound_told, __ATOMIC_RELAXED)) {
        return;
    }
    (void) pthread_mutex_lock(&component->base.lock);
    component->known.last_bound = 0;
    __atomic_store_n(&component->bound_told, false, __ATOMIC_RELAXED);
    (void) pthread_mutex_unlock(&component->base.lock);
}

void coll_quant_known_measure(const quant_measure_t *measure)
{
    quant_component_t *component = &mca_coll_quant_component;
    quant_known_t *known = &component->known;

    (void) pthread_mutex_lock(&component->base.lock);
    known->verified += 1;
    known->last = *measure;
    const arc_float_env_t of_program = arc_float_env_enter();
    quant_measure_raise(&known->worst, measure);
    arc_float_env_leave(of_program);
    (void) pthread_mutex_unlock(&component->base.lock);
}

void coll_quant_known_print(FILE *stream, const quant_component_t *component)
{
    const quant_known_t *known = &component->known;

    const arc_float_env_t of_program = arc_float_env_enter();
    const bool has_bound = known->worst_bound > 0;
    arc_float_env_leave(of_program);
    if (has_bound) {
        fprintf(stream, "  error of an element: at most %.3e in any call\n", known->worst_bound);
    }
    if (0 != component->settings.verify_every) {
        fprintf(stream,
                "  verified %llu calls: normalized mean square error at most %.3e, largest error "
                "of an element %.3e\n",
                known->verified, known->worst.nmse, known->worst.error);
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

void coll_quant_known_register(quant_component_t *component)
{
    quant_known_t *known = &component->known;

#define QUANT_PVAR_CALLS(_name, _field, _help)                          \
    register_one(component, #_name, _help, MCA_BASE_PVAR_CLASS_COUNTER, \
                 MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &known->_field);
#define QUANT_PVAR_NUMBER(_name, _field, _help)                                                   \
    register_one(component, #_name, _help, MCA_BASE_PVAR_CLASS_GENERIC, MCA_BASE_VAR_TYPE_DOUBLE, \
                 &known->_field);
#include "quant_pvars.def"
#undef QUANT_PVAR_CALLS
#undef QUANT_PVAR_NUMBER
}
