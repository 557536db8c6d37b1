/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "mca_agreement.h"
#include "mca_break.h"
#include "mca_log.h"
#include "mca_stream.h"

typedef struct mca_agreement {
    mca_stream_t stream;
    arc_agreement_t agreement;
} mca_agreement_t;

/* Made at the first agreement, kept for those to come. */
static mca_agreement_t *get_agreement(arc_module_t *module)
{
    mca_agreement_t *own = module->agreement;

    if (NULL == own) {
        own = malloc(sizeof *own);
        if (NULL != own) {
            mca_stream_init(&own->stream, module->comm, module->agreement_tag);
        }
        module->agreement = own;
    }
    return own;
}

/* Drive what was started to its end; if that is none, say who is missing. */
static ARC_MUST_CHECK arc_status_t run(arc_module_t *module, mca_agreement_t *own, uint64_t *values)
{
    const arc_wait_t wait = {
        .progress = mca_compat_progress,
        .timeout_ns = *module->component->timeout * ARC_NS_PER_SECOND,
    };
    unsigned missing = 0;
    const arc_status_t status = NULL == own
                                    ? ARC_ERR_NO_MEMORY
                                    : arc_agreement_run(&own->agreement, values, &wait, &missing);

    if (ARC_OK != status) {
        (void) arc_module_break_without(module, ARC_SLOTS, status, " to agree", missing);
    }
    return status;
}

arc_status_t arc_module_min(arc_module_t *module, uint64_t *values, int count)
{
    if (ARC_PHASE_BROKEN == module->phase) {
        return ARC_ERR_TIMEOUT;
    }
    mca_agreement_t *own = get_agreement(module);
    if (NULL != own) {
        arc_agreement_start(&own->agreement, &own->stream.base, values, (unsigned) count);
    }
    return run(module, own, values);
}

arc_status_t arc_module_call_roll(arc_module_t *module, uint64_t *values, arc_roll_fn_t ask,
                                  void *context)
{
    if (ARC_PHASE_BROKEN == module->phase) {
        return ARC_ERR_TIMEOUT;
    }
    mca_agreement_t *own = get_agreement(module);

    if (NULL != own) {
        arc_agreement_call_roll(&own->agreement, &own->stream.base, values, ask, context);
    }
    return run(module, own, values);
}

arc_status_t arc_module_malloc(arc_module_t *module, size_t bytes, void **memory)
{
    void *own = malloc(bytes + 1);
    uint64_t ok = NULL != own;
    const arc_status_t status = arc_module_min(module, &ok, 1);

    if (ARC_OK != status || !ok) {
        free(own);
        own = NULL;
    }
    *memory = own;
    return status;
}

void arc_module_agree(arc_module_t *module, uint64_t hash)
{
    /* min(hash) and min(~hash) = ~max(hash): equal to ours on all ranks only if all are equal. */
    uint64_t values[] = {hash, ~hash};

    module->phase = ARC_PHASE_DECLINED;
    module->declined = ARC_REASON_NO_SETUP;
    if (ARC_OK != arc_module_min(module, values, 2)) {
        return;
    }
    if (values[0] != ~values[1]) {
        module->declined = ARC_REASON_CONFIG_DIFFERS;
        arc_module_log(module, ARC_LOG_WARN,
                       "not used: the coll_%s parameters are not the same on all ranks; set them "
                       "once, on the mpirun command line",
                       arc_component_name(module->component));
        return;
    }
    module->phase = ARC_PHASE_AGREED;
}
