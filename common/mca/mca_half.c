/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "float_env.h"
#include "half.h"
#include "mca_half.h"
#include "mca_log.h"

int mca_half_call(arc_module_t *module, arc_type_t half, const arc_call_t *call, arc_serve_fn_t sum)
{
    const arc_half_t scalar = arc_half_select(half, ARC_ISA_SCALAR);
    const size_t received = (size_t) call->count;
    const size_t sent = ARC_SLOT_allreduce == call->collective
                            ? received
                            : received * (size_t) ompi_comm_size(module->comm);
    float *floats = malloc(sent * sizeof *floats + 1);
    arc_call_t of_floats = *call;

    if (NULL == floats) {
        (void) arc_module_break(module, arc_call_slot(call), ARC_ERR_NO_MEMORY,
                                " to widen 16-bit floats");
        return MPI_ERR_NO_MEM;
    }
    /* Ranks must not round in different ways, so not as the program has it. */
    arc_float_env_t of_program = arc_float_env_enter();
    scalar.widen(MPI_IN_PLACE == call->send ? call->receive : call->send, floats, sent);
    arc_float_env_leave(of_program);
    of_floats.send = MPI_IN_PLACE;
    of_floats.receive = floats;
    of_floats.type = &ompi_mpi_float.dt;
    const int status = sum(module, &of_floats);
    if (OMPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        scalar.narrow(floats, call->receive, received);
        arc_float_env_leave(of_program);
    }
    free(floats);
    return status;
}
