/*
 * The info keys of a communicator: arc_quant switches coll_quant on and off there, and may say with
 * which format or for which error; arc_quant_choice tells what follows from it.
 *
 * The key's value changes the settings of the module, and the next call sets it up anew, after the
 * ranks have agreed on them as they agree on parameters; "default" takes it back.  A value that
 * leads to the same settings on all ranks changes nothing.
 *
 * MPI_Comm_get_info has what the program has set, and once the ranks have agreed in a blocking call
 * what is in effect.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "coll_quant_call.h"
#include "mca_request.h"
#include "mca_below.h"
#include "mca_slots.h"

/* Writable because Open MPI 4.1 takes values as char *. */
static char info_initial[] = "default";

/*
 * The settings that the key asks for, which the ranks compare in any case: another rank may have
 * been given another value.  False if it is not understood: the settings stay as they are.
 */
static bool take_value(quant_module_t *module, const char *value)
{
    const bool is_initial = 0 == strcmp(value, info_initial);
    quant_settings_t settings = mca_coll_quant_component.settings;
    const quant_wish_t wish = quant_wish_parse(value, &settings);
    const bool is_understood = QUANT_WISH_NONE != wish || is_initial;

    if (is_understood) {
        module->wish = wish;
        module->settings = settings;
        module->active = is_initial ? settings.enable : QUANT_WISH_OFF != wish;
    } else {
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "the value \"%s\" of info key %s is not understood and changes nothing; use "
                       "off, on, a format (coll_quant_format has the list), or an error as "
                       "coll_quant_target_nmse has it",
                       value, coll_quant_key);
    }
    module->base.key_was_set = true;
    arc_module_show(&module->base, NULL);
    coll_quant_renew(module);
    return is_understood;
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
    const bool is_understood = take_value(module, value);
    /* Into the slots again, if the module has left them: whatever the value, ranks agree anew. */
    arc_module_install(&module->base);
    return is_understood ? value : coll_quant_in_force(module);
}

void coll_quant_keys_enable(quant_module_t *module)
{
    struct ompi_communicator_t *comm = module->base.comm;
    char value[OPAL_MAX_INFO_VAL + 1];

    module->settings = mca_coll_quant_component.settings;
    module->active = module->settings.enable;
    coll_quant_renew(module);
    if (mca_compat_info_get(comm, coll_quant_key, value, sizeof value)) {
        (void) take_value(module, value);
    }
    /* It is called now, and whenever the program sets the key. */
    (void) opal_infosubscribe_subscribe(&comm->super, coll_quant_key, info_initial, key_changed);
}
