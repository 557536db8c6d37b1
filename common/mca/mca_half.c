/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "float_env.h"
#include "half.h"
#include "mca_break.h"
#include "mca_half.h"

/* `count` of them as floats, to be freed.  NULL: there is no memory, and the module is broken. */
static float *widen(arc_module_t *module, const arc_half_t *half, const void *numbers, size_t count)
{
    float *floats = malloc(count * sizeof *floats + 1);

    if (NULL == floats) {
        (void) arc_module_break(module, ARC_ERR_NO_MEMORY, " to widen 16-bit floats");
        return NULL;
    }
    /* Ranks must not round in different ways, so not as the program has it. */
    const arc_float_env_t of_program = arc_float_env_enter();
    half->widen(numbers, floats, count);
    arc_float_env_leave(of_program);
    return floats;
}

/* The end of a call that came to `status`: its result, which is at the front of `floats`. */
static int finish(const arc_half_t *half, int status, float *floats, void *receive, size_t count)
{
    if (OMPI_SUCCESS == status) {
        const arc_float_env_t of_program = arc_float_env_enter();
        half->narrow(floats, receive, count);
        arc_float_env_leave(of_program);
    }
    free(floats);
    return status;
}

int mca_half_allreduce(arc_module_t *module, arc_type_t half, const void *send, void *receive,
                       int count, struct ompi_op_t *op,
                       mca_coll_base_module_allreduce_fn_t allreduce)
{
    const arc_half_t scalar = arc_half_select(half, ARC_ISA_SCALAR);
    float *floats = widen(module, &scalar, MPI_IN_PLACE == send ? receive : send, (size_t) count);

    if (NULL == floats) {
        return MPI_ERR_NO_MEM;
    }
    const int status = allreduce(MPI_IN_PLACE, floats, count, &ompi_mpi_float.dt, op, module->comm,
                                 &module->super);
    return finish(&scalar, status, floats, receive, (size_t) count);
}

int mca_half_reduce_scatter_block(arc_module_t *module, arc_type_t half, const void *send,
                                  void *receive, int count,
                                  mca_coll_base_module_reduce_scatter_block_fn_t reduce_scatter)
{
    const arc_half_t scalar = arc_half_select(half, ARC_ISA_SCALAR);
    float *floats = widen(module, &scalar, MPI_IN_PLACE == send ? receive : send,
                          (size_t) ompi_comm_size(module->comm) * (size_t) count);

    if (NULL == floats) {
        return MPI_ERR_NO_MEM;
    }
    const int status = reduce_scatter(MPI_IN_PLACE, floats, count, &ompi_mpi_float.dt,
                                      &ompi_mpi_op_sum.op, module->comm, &module->super);
    return finish(&scalar, status, floats, receive, (size_t) count);
}
