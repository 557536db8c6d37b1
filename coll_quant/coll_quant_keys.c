/*
 * The info keys of a communicator: arc_quant switches coll_quant on and off there, and may say with
 * which format or for which error; arc_quant_choice tells what follows from it.
 *
 * The key's value changes the settings of the module, and the next call sets it up anew, after the
 * ranks have agreed on them as they agree on parameters; "default" takes it back.
 *
 * MPI_Comm_get_info has what the program has set, and once the ranks have agreed what is in effect.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "coll_quant.h"
#include "mca_request.h"
#include "float_env.h"
#include "mca_below.h"
#include "mca_component.h"
#include "mca_params.h"
#include "mca_slots.h"

/* Writable because Open MPI 4.1 takes keys and values as char *. */
static char info_key[] = "arc_quant";
static char info_initial[] = "default";

bool coll_quant_keys_wanted(void)
{
    const quant_component_t *component = &mca_coll_quant_component;

    return component->settings.enable || (!arc_component_param_set(&component->base, "enable") &&
                                          arc_component_listed(&component->base));
}

/* The settings that the key asks for.  False if it is not understood: nothing is changed then. */
static bool take_value(quant_module_t *module, const char *value)
{
    const bool is_initial = 0 == strcmp(value, info_initial);
    quant_settings_t settings = mca_coll_quant_component.settings;
    const quant_wish_t wish = quant_wish_parse(value, &settings);

    if (QUANT_WISH_NONE == wish && !is_initial) {
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "the value \"%s\" of info key %s is not understood and changes nothing; use "
                       "off, on, a format (coll_quant_format has the list), or an error as "
                       "coll_quant_target_nmse has it",
                       value, info_key);
        return false;
    }
    module->wish = wish;
    module->settings = settings;
    module->active = is_initial ? coll_quant_keys_wanted() : QUANT_WISH_OFF != wish;
    module->key_was_set = module->key_was_set || !is_initial;
    coll_quant_renew(module);
    arc_module_show(&module->base, NULL);
    return true;
}

/* The key's value for what is in force; it lives until the next one is asked for. */
static mca_compat_info_string_t value_in_force(quant_module_t *module)
{
    if (module->active && QUANT_WISH_TARGET == module->wish) {
        (void) snprintf(module->key_text, sizeof module->key_text, "%g",
                        module->settings.target_nmse);
        return module->key_text;
    }
    return (mca_compat_info_string_t) (!module->active ? "off"
                                       : QUANT_WISH_FORMAT != module->wish
                                           ? "on"
                                           : quant_format_choices[module->settings.format]);
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
    mca_compat_info_show(module->base.comm, info_key, value_in_force(module));
    describe_choice(module, text, sizeof text);
    arc_float_env_leave(of_program);
    arc_module_show(&module->base, text);
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
    quant_module_t *module = (quant_module_t *) arc_module_find(
        (struct ompi_communicator_t *) object, OBJ_CLASS(quant_module_t));

    (void) key;
    if (NULL == module) {
        /* Open MPI asks while the communicator is being made; what it is was taken before. */
        return 0 == strcmp(value, info_initial) ? NULL : value;
    }
    arc_module_settle(&module->base);
    if (!take_value(module, value)) {
        return value_in_force(module);
    }
    /* Into the slots again, if the module has left them: whatever the value, ranks agree anew. */
    arc_module_install(&module->base);
    return value;
}

void coll_quant_keys_enable(quant_module_t *module)
{
    struct ompi_communicator_t *comm = module->base.comm;
    char value[OPAL_MAX_INFO_VAL + 1];

    module->settings = mca_coll_quant_component.settings;
    module->active = coll_quant_keys_wanted();
    coll_quant_renew(module);
    if (mca_compat_info_get(comm, info_key, value, sizeof value)) {
        (void) take_value(module, value);
    }
    (void) mca_compat_info_subscribe(comm, info_key, info_initial, key_changed);
}
