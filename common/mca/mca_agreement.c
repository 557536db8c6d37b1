/*
 * MIN over all ranks, for set-ups and checks, with the time limit of calls.
 *
 * The messages have a tag that nothing else uses, one for each component; a module that one
 * component opens for another (mca_fold.h) has that one's, and they agree in turn.  What a rank
 * that does not come leaves behind may be read or written until the end of the process; so a module
 * that breaks here never frees the memory of its agreements.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "mca_agreement.h"
#include "mca_below.h"
#include "mca_component.h"

/* Through the component below, without a limit. */
static arc_status_t min_below(arc_module_t *module, uint64_t *values, int count)
{
    /* Whatever the component below calls on this communicator must not come back to us. */
    module->nested = true;
    int status = arc_below_allreduce(MPI_IN_PLACE, values, count, &ompi_mpi_uint64_t.dt,
                                     &ompi_mpi_op_min.op, module->comm, &module->super);
    module->nested = false;
    return OMPI_SUCCESS == status ? ARC_OK : ARC_ERR_TRANSPORT;
}

/* Made at the first agreement, kept for those to come. */
static mca_agreement_t *get_agreement(arc_module_t *module)
{
    if (NULL == module->agreement) {
        module->agreement = malloc(sizeof *module->agreement);
        if (NULL != module->agreement) {
            mca_stream_init(&module->agreement->stream, module->comm, module->agreement_tag);
        }
    }
    return module->agreement;
}

static void break_module(arc_module_t *module, arc_status_t status, unsigned missing)
{
    enum { TEXT_BYTES = 64 };
    char text[TEXT_BYTES] = " to agree";

    if (ARC_ERR_TIMEOUT == status) {
        (void) snprintf(text, sizeof text, " to agree; %s rank %u",
                        missing == (unsigned) ompi_comm_rank(module->comm)
                            ? "the others have waited for this one,"
                            : "waiting for",
                        missing);
    }
    (void) arc_module_break(module, status, text);
}

arc_status_t arc_module_min(arc_module_t *module, uint64_t *values, int count)
{
    const arc_wait_t wait = {
        .progress = mca_compat_progress,
        .timeout_ns = *module->timeout * ARC_NS_PER_SECOND,
    };
    unsigned missing = 0;

    if (ARC_PHASE_BROKEN == module->phase) {
        return ARC_ERR_TIMEOUT;
    }
    if (count > ARC_AGREEMENT_VALUES) {
        return min_below(module, values, count);
    }
    mca_agreement_t *own = get_agreement(module);
    arc_status_t status = NULL == own
                              ? ARC_ERR_NO_MEMORY
                              : arc_agreement_run(&own->agreement, &own->stream.base, values,
                                                  (unsigned) count, &wait, &missing);
    if (ARC_OK != status) {
        break_module(module, status, missing);
    }
    return status;
}

void arc_module_forget_agreements(arc_module_t *module)
{
    if (ARC_PHASE_BROKEN != module->phase) {
        free(module->agreement);
    }
    module->agreement = NULL;
}
