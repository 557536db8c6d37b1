/*
 * What is known about the errors of calls, of each communicator and of the process.
 *
 * Floats are converted and compared in the default environment: a small bound must not become zero
 * because the program flushes denormal numbers.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <opal/mca/base/mca_base_pvar.h>

#include "coll_quant_call.h"
#include "float_env.h"
#include "mca_below.h"

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

void coll_quant_stats_note_bound(quant_module_t *module, float bound)
{
    quant_component_t *component = &mca_coll_quant_component;
    quant_stats_t *stats = stats_of(module);

    (void) pthread_mutex_lock(&component->base.lock);
    const arc_float_env_t of_program = arc_float_env_enter();
    note_bound(stats, (double) bound);
    note_bound(&component->stats, (double) bound);
    arc_float_env_leave(of_program);
    (void) pthread_mutex_unlock(&component->base.lock);
    stats->last_call = QUANT_LAST_QUANTIZED;
}

void coll_quant_stats_note_exact(quant_module_t *module, arc_reason_t reason)
{
    quant_stats_t *stats = stats_of(module);

    stats->last_bound = 0;
    stats->last_call = QUANT_LAST_EXACT + (int) reason;
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
    const arc_float_env_t of_program = arc_float_env_enter();
    note_measure(stats_of(module), measure);
    note_measure(&component->stats, measure);
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
    if (stats->verified > 0) {
        fprintf(stream,
                "  verified %llu calls: normalized mean square error at most %.3e, "
                "largest error of an element %.3e\n",
                stats->verified, stats->worst.nmse, stats->worst.error);
    }
    fflush(stream);
}

/* ---- for MPI_T ---- */

/*
 * The performance variables of MPI_T (quant_pvars.def).
 *
 * Each is bound to a communicator, and Open MPI asks us for its value:
 *
 *   MPI_T_pvar_read -> read_comm(variable, its communicator) -> the module there -> a field of it
 *
 * A communicator on which there is no module has zeros.  Counters tell what has come since the
 * handle was allocated, as MPI has it; Open MPI subtracts what was there before.
 *
 * Nothing of this runs in a call.  A thread that reads while another one is in a call on the
 * communicator may see what was before that call, or after it.
 */

/* A variable: a field of a module. */
typedef struct comm_pvar {
    const char *name;
    const char *help;
    size_t offset;
    size_t bytes;
    int class;
    mca_base_var_type_t type;
} comm_pvar_t;

#define FIELD(_field) offsetof(quant_module_t, stats._field), sizeof((quant_stats_t *) 0)->_field
#define QUANT_PVAR_CALLS(_name, _field, _help)                          \
    {"comm_" #_name, _help, FIELD(_field), MCA_BASE_PVAR_CLASS_COUNTER, \
     MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
#define QUANT_PVAR_NUMBER(_name, _field, _help) \
    {"comm_" #_name, _help, FIELD(_field), MCA_BASE_PVAR_CLASS_GENERIC, MCA_BASE_VAR_TYPE_DOUBLE},
/* Without help: where there is that and names of values as well, ompi_info 4.1 crashes. */
#define QUANT_PVAR_STATE(_name, _help) \
    {"comm_" #_name, NULL, FIELD(_name), MCA_BASE_PVAR_CLASS_STATE, MCA_BASE_VAR_TYPE_INT},
static const comm_pvar_t pvars[] = {
#include "quant_pvars.def"
};

static int read_comm(const mca_base_pvar_t *variable, void *value, void *communicator)
{
    static const quant_module_t none = {.stats.last_call = QUANT_LAST_NONE};
    const comm_pvar_t *pvar = variable->ctx;
    const arc_module_t *module = arc_module_find(communicator, OBJ_CLASS(quant_module_t));

    memcpy(value, (const char *) (NULL == module ? &none.base : module) + pvar->offset,
           pvar->bytes);
    return OPAL_SUCCESS;
}

/* Of a new handle: how many values it has. */
static int notify_comm(mca_base_pvar_t *variable, mca_base_pvar_event_t event, void *communicator,
                       int *count)
{
    (void) variable;
    (void) communicator;
    if (MCA_BASE_PVAR_HANDLE_BIND == event) {
        *count = 1;
    }
    return OPAL_SUCCESS;
}

/* What the values of last_call are called.  NULL: there is no memory. */
static mca_base_var_enum_t *names_of_calls(void)
{
    static const mca_base_var_enum_value_t names[] = {
        {QUANT_LAST_NONE, "none"},
        {QUANT_LAST_QUANTIZED, "quantized"},
#define X(_id, _text) {QUANT_LAST_EXACT + (int) ARC_REASON_##_id, "exact: " _text},
        ARC_REASON_TABLE(X)
#undef X
            {0, NULL},
    };
    mca_base_var_enum_t *result = NULL;

    return OPAL_SUCCESS == mca_base_var_enum_create("coll_quant_calls", names, &result) ? result
                                                                                        : NULL;
}

void coll_quant_pvars_register(const quant_component_t *component)
{
    enum { FLAGS = MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS };
    mca_base_var_enum_t *calls = names_of_calls();

    for (size_t i = 0; i < sizeof pvars / sizeof pvars[0]; ++i) {
        const comm_pvar_t *pvar = &pvars[i];
        (void) mca_base_component_pvar_register(
            &component->base.super.collm_version, pvar->name, pvar->help, OPAL_INFO_LVL_4,
            pvar->class, pvar->type, MCA_BASE_PVAR_CLASS_STATE == pvar->class ? calls : NULL,
            MCA_BASE_VAR_BIND_MPI_COMM, (mca_base_pvar_flag_t) FLAGS, read_comm, NULL, notify_comm,
            (void *) (uintptr_t) pvar);
    }
    if (NULL != calls) {
        OBJ_RELEASE(calls); /* the variable has it */
    }
}
