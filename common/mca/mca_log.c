/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_log.h"

#include <stdarg.h>
#include <stdio.h>

/* "coll_lowlat: communicator 3 of 4 ranks: ..." */
static void print(const arc_module_t *module, const char *format, va_list arguments)
{
    enum { TEXT_BYTES = 512 };
    char text[TEXT_BYTES];

    vsnprintf(text, sizeof text, format, arguments);
    opal_output(0, "coll_%s: %scommunicator %u of %d ranks: %s",
                arc_component_name(module->component),
                NULL != module->of ? "a persistent request on " : "",
                mca_compat_comm_id(module->comm), ompi_comm_size(module->comm), text);
}

void arc_module_log(const arc_module_t *module, int level, const char *format, ...)
{
    const int least = module->quiet ? ARC_LOG_CALL : level;
    va_list arguments;

    if (*module->component->verbose >= least && 0 == ompi_comm_rank(module->comm)) {
        va_start(arguments, format);
        print(module, format, arguments);
        va_end(arguments);
    }
}

void arc_module_show(const arc_module_t *module, const char *text)
{
    if (!module->quiet) {
        mca_compat_info_show(module->comm, module->component->choice_key, text);
    }
}

void arc_module_warn(const arc_module_t *module, const char *format, ...)
{
    va_list arguments;

    if (*module->component->verbose >= ARC_LOG_WARN) {
        va_start(arguments, format);
        print(module, format, arguments);
        va_end(arguments);
    }
}

/* ---- the end ---- */

int arc_module_break(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                     const char *details)
{
    if (ARC_PHASE_BROKEN == module->phase) {
        return arc_module_broken_error(); /* which has been said */
    }
    module->phase = ARC_PHASE_BROKEN;
    arc_module_warn(
        module, "rank %d: %s failed: %s%s. It cannot be used on this communicator any more",
        ompi_comm_rank(module->comm), ARC_SLOTS == slot ? "a collective" : arc_slot_call(slot),
        arc_status_text(status), details);
    return arc_module_broken_error();
}

int arc_module_broken_error(void)
{
    return MPI_ERR_OTHER;
}

int arc_module_break_without(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                             const char *details, unsigned missing)
{
    enum { TEXT_BYTES = 96 };
    char text[TEXT_BYTES];

    if (ARC_ERR_TIMEOUT != status) {
        return arc_module_break(module, slot, status, details);
    }
    (void) snprintf(text, sizeof text, "%s; %s rank %u", details,
                    missing == (unsigned) ompi_comm_rank(module->comm)
                        ? "the others have waited for this one,"
                        : "waiting for",
                    missing);
    return arc_module_break(module, slot, status, text);
}
