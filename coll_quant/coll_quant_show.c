/*
 * What is in effect on a communicator, for MPI_Comm_get_info: the value of the key arc_quant, and
 * in arc_quant_choice what follows from it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "c_locale.h"
#include "coll_quant_call.h"
#include "fiber.h"
#include "float_env.h"

/* Writable because Open MPI 4.1 takes keys and values as char *. */
char coll_quant_key[] = "arc_quant";

mca_compat_info_string_t coll_quant_in_force(quant_module_t *module)
{
    if (module->active && QUANT_WISH_TARGET == module->wish) {
        const arc_c_locale_t locale = arc_c_locale_enter();
        (void) snprintf(module->key_text, sizeof module->key_text, "%g",
                        module->settings.target_nmse);
        arc_c_locale_leave(locale);
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
        if (0 == (gain->decided >> class & 1)) {
            continue;
        }
        if (0 == used) {
            used = (size_t) snprintf(text, text_bytes,
                                     "; %s of %ss:", arc_slot_call((arc_slot_t) collective),
                                     element->name);
        }
        if (used < text_bytes) {
            used += (size_t) snprintf(text + used, text_bytes - used, " %zu %s",
                                      arc_select_class_bytes(class),
                                      0 != (gain->gains >> class & 1) ? "quantized" : "exact");
        }
    }
}

/* What the settings have led to. */
static void describe_choice(const quant_module_t *module, char *text, size_t text_bytes)
{
    static const quant_element_t *const elements[] = {&quant_floats, &quant_doubles};
    const quant_config_t *config = &module->config;
    const bool learns = 0 != module->settings.arc_explore_percent;

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

void coll_quant_show(quant_module_t *module)
{
    char text[ARC_SHOWN_BYTES];

    if (!module->active || module->base.quiet || ARC_PHASE_BROKEN == module->base.phase) {
        return;
    }
    ARC_IN_DEFAULT_FLOAT_ENV;
    /*
     * A program may give another communicator the key that it finds here, so all ranks must find
     * the same.  How far a nonblocking call is differs between them.
     */
    if (!arc_fiber_inside()) {
        mca_compat_info_show(module->base.comm, coll_quant_key, coll_quant_in_force(module));
    }
    describe_choice(module, text, sizeof text);
    arc_module_show(&module->base, text);
}
