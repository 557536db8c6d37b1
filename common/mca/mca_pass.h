/*
 * Calls are counted, for the report, and those that are not served go to the component below.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_PASS_H
#define MCA_PASS_H

#include "mca_module.h"

/* Count a call that one of the component's algorithms serves; `bytes` of all blocks. */
static inline void arc_module_count_served(arc_module_t *module, const arc_call_t *call,
                                           size_t algorithm, size_t bytes)
{
    arc_tally_t *tally = arc_module_tally(module, call->form, call->collective);

    if (NULL != tally) {
        arc_tally_count(&tally->served[algorithm], bytes);
    }
}

/* Count, and say if the user wants to know, that a call goes to the component below. */
void arc_module_count_pass(arc_module_t *module, arc_reason_t reason, const arc_call_t *call);

/* Count, and give the call to the component below. */
int arc_module_pass(arc_module_t *module, arc_reason_t reason, const arc_call_t *call);

#endif
