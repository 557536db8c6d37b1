/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "float_env.h"
#include "half.h"
#include "mca_half.h"

int mca_half_allreduce(arc_module_t *module, arc_type_t half, const void *send, void *receive,
                       int count, mca_coll_base_module_allreduce_fn_t allreduce)
{
    const arc_half_t scalar = arc_half_select(half, ARC_ISA_SCALAR);
    float *floats = malloc((size_t) count * sizeof *floats + 1);

    if (NULL == floats) {
        (void) arc_module_break(module, ARC_ERR_NO_MEMORY, " to widen 16-bit floats");
        return MPI_ERR_NO_MEM;
    }
    /* Both use sums of floats, and the ranks must not round in different ways. */
    arc_float_env_t of_program = arc_float_env_enter();
    scalar.widen(MPI_IN_PLACE == send ? receive : send, floats, (size_t) count);
    arc_float_env_leave(of_program);
    int status = allreduce(MPI_IN_PLACE, floats, count, &ompi_mpi_float.dt, &ompi_mpi_op_sum.op,
                           module->comm, &module->super);
    if (OMPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        scalar.narrow(floats, receive, (size_t) count);
        arc_float_env_leave(of_program);
    }
    free(floats);
    return status;
}
