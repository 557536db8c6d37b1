/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_break.h"

#include <stdio.h>

#include "mca_log.h"

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
