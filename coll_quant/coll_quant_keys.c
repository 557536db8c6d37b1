/*
 * The info keys of a communicator: arc_quant switches coll_quant on and off there,
 * arc_quant_<parameter> stands in for a parameter there.
 *
 * A key's value changes the settings of the module, and the next call sets it up
 * anew, after the ranks have agreed on them as they agree on parameters.  The order
 * in which keys are set does not matter; "default" takes one back.
 *
 * What MPI_Comm_get_info has:
 *
 *   before the ranks have agreed   what the program has set
 *   after that                     all keys, with what is in effect; arc_quant_choice: what follows
 *                                  from it
 *
 * A communicator that is never used, or that nobody wants quantized, has no more than the first.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "coll_quant.h"
#include "mca_request.h"
#include "float_env.h"
#include "mca_below.h"

enum { KEY_BYTES = 32 };

/* Parameters of scope SHARED have a key (param.h). */
#define IF_JOB(_text)
#define IF_SHARED(_text) _text,
#define IF_LOCAL(_text)

/* Writable because Open MPI 4.1 takes keys and values as char *. */
static char keys[][KEY_BYTES] = {
    "arc_quant",
#define ARC_PARAM_EACH(_scope, _name) IF_##_scope("arc_quant_" #_name)
#define ARC_PARAM_LIST "quant_params.def"
#include "param_each.h"
};
static char info_initial[] = "default";

#define ARC_PARAM_EACH(_scope, _name) \
    static_assert(sizeof "arc_quant_" #_name <= KEY_BYTES, "the name of its key fits");
#define ARC_PARAM_LIST "quant_params.def"
#include "param_each.h"

enum { KEYS = sizeof keys / sizeof keys[0] };

/* The parameter that a key stands in for; NULL for the first key. */
static const arc_param_t *param_of(const char *key)
{
    const size_t prefix = strlen(keys[0]) + 1;

    if (0 == strcmp(key, keys[0])) {
        return NULL;
    }
    for (size_t i = 0; i < quant_params_count; ++i) {
        if (0 == strcmp(quant_params[i].name, key + prefix)) {
            return &quant_params[i];
        }
    }
    return NULL;
}

bool coll_quant_keys_wanted(void)
{
    const quant_component_t *component = &mca_coll_quant_component;

    return component->settings.enable || (!arc_component_param_set(&component->base, "enable") &&
                                          arc_component_listed(&component->base));
}

/* What the first key says.  False: it is not understood. */
static bool take_wish(quant_module_t *module, const char *value)
{
    int format = QUANT_FORMAT_UNSAID;

    switch (quant_wish_parse(value, &format)) {
    case QUANT_WISH_OFF:
        module->active = false;
        break;
    case QUANT_WISH_ON:
    case QUANT_WISH_FORMAT:
        module->active = true;
        break;
    default:
        if (0 != strcmp(value, info_initial)) {
            return false;
        }
        module->active = coll_quant_keys_wanted();
        break;
    }
    module->format_of_wish = format;
    return true;
}

/* What a key that stands in for a parameter says.  False: that is not allowed. */
static bool take_param(quant_module_t *module, const arc_param_t *param, const char *value)
{
    long long number = arc_param_get(param, &mca_coll_quant_component.settings);

    if (0 != strcmp(value, info_initial) && ARC_OK != arc_param_parse(param, value, &number)) {
        return false;
    }
    if (offsetof(quant_settings_t, format) == param->offset) {
        module->format_of_key = (int) number;
    } else {
        arc_param_set(param, &module->settings, number);
    }
    return true;
}

static __attribute__((cold)) void warn_of_value(const quant_module_t *module, const char *key,
                                                const char *value)
{
    enum { TEXT_BYTES = 256 };
    char allowed[TEXT_BYTES] = "off, on, or a format (coll_quant_format has the list)";
    const arc_param_t *param = param_of(key);

    if (NULL != param) {
        arc_param_describe(param, allowed, sizeof allowed);
    }
    arc_module_log(&module->base, ARC_LOG_WARN,
                   "the value \"%s\" of info key %s is not understood and changes nothing; use %s",
                   value, key, allowed);
}

/* Take what a key says.  False if that is not understood: nothing is changed then. */
static bool take_value(quant_module_t *module, const char *key, const char *value)
{
    const arc_param_t *param = param_of(key);

    if (!(NULL == param ? take_wish(module, value) : take_param(module, param, value))) {
        warn_of_value(module, key, value);
        return false;
    }
    module->key_was_set = module->key_was_set || 0 != strcmp(value, info_initial);
    /* A format of the first key is what a program says that knows no other key. */
    module->settings.format = QUANT_FORMAT_UNSAID != module->format_of_wish ? module->format_of_wish
                                                                            : module->format_of_key;
    coll_quant_renew(module);
    arc_module_show(&module->base, NULL);
    return true;
}

/* A key's value for what is in force; it lives until the next one is asked for. */
static mca_compat_info_string_t value_in_force(quant_module_t *module, const char *key)
{
    const arc_param_t *param = param_of(key);

    if (NULL == param) {
        return (mca_compat_info_string_t) (!module->active ? "off"
                                           : QUANT_FORMAT_UNSAID == module->format_of_wish
                                               ? "on"
                                               : quant_format_choices[module->format_of_wish]);
    }
    arc_param_print(param, arc_param_get(param, &module->settings), module->key_text,
                    sizeof module->key_text);
    return module->key_text;
}

/* "; MPI_Allreduce of floats: 262144 exact, 524288 quantized": what was learned, of lengths in
 * bytes. */
static void describe_gain(const quant_module_t *module, exchange_collective_t collective,
                          const quant_element_t *element, char *text, size_t text_bytes)
{
    const quant_gain_t *gain = &module->gain[coll_quant_tried(collective, element)];
    size_t used = 0;

    text[0] = '\0';
    for (unsigned class = 0; class < ARC_SELECT_CLASSES && used < text_bytes; ++class) {
        if (!quant_gain_is_decided(gain, class)) {
            continue;
        }
        if (0 == used) {
            used = (size_t) snprintf(text, text_bytes,
                                     "; %s of %ss:", arc_slot_call(coll_quant_slot(collective)),
                                     element->name);
        }
        if (used < text_bytes) {
            used += (size_t) snprintf(text + used, text_bytes - used, " %zu %s",
                                      arc_select_class_bytes(class),
                                      quant_gain_at(gain, class) ? "quantized" : "exact");
        }
    }
}

/* What the settings have led to. */
static void describe_choice(const quant_module_t *module, char *text, size_t text_bytes)
{
    static const quant_element_t *const elements[] = {&quant_floats, &quant_doubles};
    const quant_config_t *config = &module->config;
    const bool learns = 0 != module->settings.explore_percent;

    if (ARC_PHASE_DECLINED == module->base.phase || !module->attainable) {
        (void) snprintf(text, text_bytes, "exact: %s",
                        arc_reason_text(ARC_PHASE_DECLINED == module->base.phase
                                            ? module->base.declined
                                            : ARC_REASON_INACCURATE));
        return;
    }
    size_t used =
        (size_t) snprintf(text, text_bytes, "%s, %s then %s, from %zu bytes%s", config->algo->name,
                          config->reduce_format->name, config->gather_format->name,
                          module->settings.min_bytes, learns ? " where it is faster" : "");
    for (exchange_collective_t collective = EXCHANGE_ALLREDUCE;
         learns && collective < EXCHANGE_COLLECTIVES; ++collective) {
        for (size_t i = 0; i < QUANT_ELEMENT_TYPES && used < text_bytes; ++i) {
            describe_gain(module, collective, elements[i], text + used, text_bytes - used);
            used += strlen(text + used);
        }
    }
}

void coll_quant_keys_show(quant_module_t *module)
{
    char text[ARC_SHOWN_BYTES];

    if (!module->active || module->base.quiet || ARC_PHASE_BROKEN == module->base.phase) {
        return;
    }
    const arc_float_env_t of_program = arc_float_env_enter();
    for (size_t i = 0; i < KEYS; ++i) {
        mca_compat_info_show(module->base.comm, keys[i], value_in_force(module, keys[i]));
    }
    describe_choice(module, text, sizeof text);
    arc_float_env_leave(of_program);
    arc_module_show(&module->base, text);
}

static void subscribe_to_rest(quant_module_t *module);

/*
 * The program sets a key: MPI_Comm_set_info is collective, so no call is
 * under way and all ranks change together.  The value returned is what
 * MPI_Comm_get_info reports; of one that is not taken over as it is, Open MPI 4.1
 * reports the program's own text.
 */
static mca_compat_info_string_t key_changed(opal_infosubscriber_t *object,
                                            mca_compat_info_string_t key,
                                            mca_compat_info_string_t value)
{
    quant_module_t *module = (quant_module_t *) arc_module_find(
        (struct ompi_communicator_t *) object, OBJ_CLASS(quant_module_t));

    if (NULL == module) {
        /* Open MPI asks while the communicator is being made; what it is was taken before. */
        return 0 == strcmp(value, info_initial) ? NULL : value;
    }
    arc_module_settle(&module->base);
    if (!take_value(module, key, value)) {
        return value_in_force(module, key);
    }
    subscribe_to_rest(module);
    /* Into the slots again, if the module has left them: whatever the value, ranks agree anew. */
    arc_module_install(&module->base);
    return value;
}

/*
 * From the first time on that it is wanted here: look at all other keys, and hear of them from now
 * on.  Before, each communicator that a program makes would pay for them.
 */
static void subscribe_to_rest(quant_module_t *module)
{
    struct ompi_communicator_t *comm = module->base.comm;
    char value[OPAL_MAX_INFO_VAL + 1];

    if (!module->active || module->subscribed) {
        return;
    }
    module->subscribed = true;
    for (size_t i = 1; i < KEYS; ++i) {
        if (!mca_compat_info_said(comm, keys[i], value, sizeof value) ||
            !take_value(module, keys[i], value)) {
            (void) strcpy(value, info_initial);
        }
        (void) mca_compat_info_subscribe(comm, keys[i], value, key_changed);
    }
}

void coll_quant_keys_enable(quant_module_t *module)
{
    struct ompi_communicator_t *comm = module->base.comm;
    char value[OPAL_MAX_INFO_VAL + 1];

    module->settings = mca_coll_quant_component.settings;
    module->active = coll_quant_keys_wanted();
    module->format_of_wish = QUANT_FORMAT_UNSAID;
    module->format_of_key = module->settings.format;
    module->subscribed = false;
    coll_quant_renew(module);
    if (mca_compat_info_get(comm, keys[0], value, sizeof value)) {
        (void) take_value(module, keys[0], value);
    }
    (void) mca_compat_info_subscribe(comm, keys[0], info_initial, key_changed);
    subscribe_to_rest(module);
}
