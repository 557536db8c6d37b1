/*
 * MPI's datatypes and operations as reducers.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_BRIDGE_H
#define MCA_BRIDGE_H

#include "mca_compat.h"
#include "reduce.h"
#include "tally.h"

/* A reducer for one call, with what its function needs; lives as long as the call. */
typedef struct arc_reduction {
    arc_reducer_t reducer;
    struct ompi_op_t *op;
    struct ompi_datatype_t *type;
} arc_reduction_t;

/*
 * How to reduce `type` with `op`: with a kernel of `kernels` where there is
 * one, else with Open MPI's own function.  Returns ARC_REASONS when that is
 * settled, else the reason for passing the call down.  Depends only on the
 * predefined type and operation, which MPI requires to be the same on all
 * ranks.
 */
arc_reason_t mca_bridge_reduction(const arc_reduce_table_t *kernels, struct ompi_op_t *op,
                                  struct ompi_datatype_t *type, arc_reduction_t *reduction);

/* Is it MPI_FLOAT (or a Fortran REAL of the same format) with MPI_SUM? */
arc_reason_t mca_bridge_float_sum(struct ompi_op_t *op, struct ompi_datatype_t *type);

#endif
