/*
 * coll_quant: quantized allreduce.  The component's descriptor, Open MPI's
 * callbacks, and the communicator info key.
 *
 * The component changes results, so it serves a communicator only if the user
 * asks, on all its ranks.  Whether all ask is agreed on at the first call: were a
 * rank that does not want it left out, the others would wait for it.  If nobody
 * asks, the module leaves the slot and costs nothing any more; it comes back when
 * the program sets the key.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <ompi/mca/coll/base/coll_base_util.h>

#include "coll_quant.h"

/* Writable because Open MPI 4.1 takes keys and values as char *. */
static char info_key[] = "arc_quant";
static char info_initial[] = "default";

static const char *const *const algorithm_names = quant_algorithm_choices;

static int quant_register(void);
static int quant_open(void);
static int quant_close(void);
static int quant_init_query(bool progress_threads, bool mpi_threads);
static mca_coll_base_module_t *quant_comm_query(struct ompi_communicator_t *comm, int *priority);
static void quant_enabled(arc_module_t *base);

/* The one symbol that the DSO exports. */
__attribute__((visibility("default"))) quant_component_t mca_coll_quant_component = {
    .base =
        {
            .super =
                {
                    .collm_version =
                        {
                            MCA_COMPAT_COLL_VERSION,
                            .mca_component_name = "quant",
                            MCA_BASE_MAKE_VERSION(component, ARC_MAJOR, ARC_MINOR, ARC_PATCH),
                            .mca_open_component = quant_open,
                            .mca_close_component = quant_close,
                            .mca_register_component_params = quant_register,
                        },
                    .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_CHECKPOINT},
                    .collm_init_query = quant_init_query,
                    .collm_comm_query = quant_comm_query,
                },
            .config = &mca_coll_quant_component.settings,
            .params = quant_params,
            .priority = &mca_coll_quant_component.settings.priority,
            .verbose = &mca_coll_quant_component.settings.verbose,
            .report = &mca_coll_quant_component.settings.report,
            .module_class = OBJ_CLASS(quant_module_t),
            .allreduce = coll_quant_allreduce,
            .enabled = quant_enabled,
        },
};

static int quant_register(void)
{
    arc_component_t *base = &mca_coll_quant_component.base;

    base->params_count = quant_params_count;
    base->algorithm_names = algorithm_names;
    base->algorithms = 0;
    while (NULL != quant_algo_at(base->algorithms)) {
        base->algorithms += 1;
    }
    return arc_component_register(base);
}

static int quant_open(void)
{
    quant_component_t *component = &mca_coll_quant_component;

    component->kernels = quant_kernels_select(arc_cpu_isa((arc_isa_t) component->settings.isa));
    return arc_component_open(&component->base);
}

static int quant_close(void)
{
    return arc_component_close(&mca_coll_quant_component.base);
}

static int quant_init_query(bool progress_threads, bool mpi_threads)
{
    (void) progress_threads;
    (void) mpi_threads;
    return arc_component_init_query(&mca_coll_quant_component.base);
}

static mca_coll_base_module_t *quant_comm_query(struct ompi_communicator_t *comm, int *priority)
{
    return arc_component_query(&mca_coll_quant_component.base, comm, priority);
}

/* The configuration of the next calls; ranks will agree on it again. */
static void configure(quant_module_t *module, bool active, int format)
{
    const quant_component_t *component = &mca_coll_quant_component;

    coll_quant_teardown(module);
    module->active = active;
    module->uint16 = arc_uint16_type(component->settings.uint16_as);
    module->format = format;
    module->algo = quant_settings_algo(&component->settings);
    module->config = quant_settings_config(&component->settings, format, &component->kernels);
    if (ARC_PHASE_BROKEN != module->base.phase) {
        module->base.phase = ARC_PHASE_FRESH;
    }
}

/* Do the parameters want it where the info key says nothing? */
static bool wanted_by_default(void)
{
    const quant_component_t *component = &mca_coll_quant_component;

    return component->settings.enable || (!arc_component_param_set(&component->base, "enable") &&
                                          arc_component_listed(&component->base));
}

/*
 * Take what the info key says.  False if that is not understood: nothing is
 * changed then, and rank 0 says so.
 */
static bool take_wish(quant_module_t *module, const char *value)
{
    const quant_settings_t *settings = &mca_coll_quant_component.settings;
    bool active = wanted_by_default();
    int format = settings->format;

    switch (quant_wish_parse(value, &format)) {
    case QUANT_WISH_OFF:
        active = false;
        break;
    case QUANT_WISH_ON:
    case QUANT_WISH_FORMAT:
        active = true;
        break;
    default:
        if (0 == strcmp(value, info_initial)) {
            break;
        }
        if (0 == ompi_comm_rank(module->base.comm)) {
            arc_module_log(&module->base, ARC_LOG_WARN,
                           "the value \"%s\" of info key %s is not understood and changes nothing; "
                           "use off, on, or a format (coll_quant_format has the list)",
                           value, info_key);
        }
        return false;
    }
    configure(module, active, format);
    return true;
}

/* Our module on a communicator, NULL if there is none (yet). */
static quant_module_t *module_of(struct ompi_communicator_t *comm)
{
    mca_coll_base_avail_coll_t *item = NULL;

    if (NULL == comm->c_coll || NULL == comm->c_coll->module_list) {
        return NULL;
    }
    OPAL_LIST_FOREACH (item, comm->c_coll->module_list, mca_coll_base_avail_coll_t) {
        opal_object_t *object = (opal_object_t *) item->ac_module;
        if (OBJ_CLASS(quant_module_t) == object->obj_class) {
            return (quant_module_t *) object;
        }
    }
    return NULL;
}

/* The key's value for what is in force. */
static mca_compat_info_string_t value_in_force(const quant_module_t *module)
{
    return (mca_compat_info_string_t) (module->active ? quant_format_choices[module->format]
                                                      : "off");
}

/*
 * The program sets the key: MPI_Comm_set_info is collective, so no call is
 * under way and all ranks change together.  The value returned is what
 * MPI_Comm_get_info reports; of one that is not taken over as it is, Open MPI 4.1
 * reports the program's own text.
 */
static mca_compat_info_string_t key_changed(opal_infosubscriber_t *object,
                                            mca_compat_info_string_t key,
                                            mca_compat_info_string_t value)
{
    quant_module_t *module = module_of((struct ompi_communicator_t *) object);
    (void) key;

    if (NULL == module) {
        /* Open MPI asks while the communicator is being made; quant_enabled() takes the value. */
        return 0 == strcmp(value, info_initial) ? NULL : value;
    }
    if (!take_wish(module, value)) {
        return value_in_force(module);
    }
    /* Into the slot again, if the module has left it: whatever the value, ranks agree anew. */
    (void) arc_module_install(&module->base);
    return value;
}

static void quant_enabled(arc_module_t *base)
{
    quant_module_t *module = (quant_module_t *) base;
    const quant_settings_t *settings = &mca_coll_quant_component.settings;
    char value[OPAL_MAX_INFO_VAL + 1];

    configure(module, wanted_by_default(), settings->format);
    if (mca_compat_info_get(base->comm, info_key, value, sizeof value)) {
        (void) take_wish(module, value);
    }
    mca_stream_init(&module->stream, base->comm, MCA_COLL_BASE_TAG_ALLREDUCE);
    module->wait.progress = mca_compat_progress;
    module->wait.spins = (unsigned) settings->spins;
    module->wait.timeout_seconds = settings->timeout;
    (void) mca_compat_info_subscribe(base->comm, info_key, info_initial, key_changed);
}

static void module_construct(quant_module_t *module)
{
    module->active = false;
    module->uint16 = ARC_TYPE_UINT16;
    module->format = 0;
    module->algo = NULL;
    module->memory = NULL;
    module->task = NULL;
    module->sequence = 0;
}

OBJ_CLASS_INSTANCE(quant_module_t, arc_module_t, module_construct, coll_quant_teardown);
