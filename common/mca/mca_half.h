/*
 * 16-bit floats by way of floats: those that a program keeps in MPI_UINT16_T, and MPIX_C_FLOAT16.
 *
 * MPIX_C_FLOAT16 (or MPIX_SHORT_FLOAT) is Open MPI's own type, from 5.0 on where its compiler has
 * _Float16.  No release of Open MPI has a type for bf16.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_HALF_H
#define MCA_HALF_H

#include "element.h"
#include "mca_module.h"

/* Open MPI's own type of fp16? */
static inline bool mca_half_is_native(const struct ompi_datatype_t *type)
{
    return ompi_datatype_is_predefined(type) && OPAL_DATATYPE_FLOAT2 == type->super.id;
}

/* Are these 16-bit floats of the kind that the user named?  `uint16`: of arc_uint16_type(). */
static inline bool mca_half_is_named(arc_type_t uint16, const struct ompi_datatype_t *type)
{
    return ARC_TYPE_UINT16 != uint16 &&
           (&ompi_mpi_uint16_t.dt == type || (ARC_TYPE_FP16 == uint16 && mca_half_is_native(type)));
}

/* ... and this their sum? */
static inline bool mca_half_is(arc_type_t uint16, const struct ompi_op_t *op,
                               const struct ompi_datatype_t *type)
{
    return mca_half_is_named(uint16, type) && OMPI_OP_SUM == op->op_type;
}

/* The 16-bit floats that this is a sum or a product of; ARC_TYPE_UINT16: it is none. */
static inline arc_type_t mca_half_of(arc_type_t uint16, const struct ompi_op_t *op,
                                     const struct ompi_datatype_t *type)
{
    if (mca_half_is(uint16, op, type)) {
        return uint16;
    }
    return mca_half_is_native(type) && (OMPI_OP_SUM == op->op_type || OMPI_OP_PROD == op->op_type)
               ? ARC_TYPE_FP16
               : ARC_TYPE_UINT16;
}

/*
 * The reduction that `call` is of 16-bit floats: widened, reduced in place as MPI_FLOAT by `sum`,
 * and rounded once.  An MPI error code.
 * Without memory for the floats nothing was sent; no other rank knows, so the module is broken
 * then: no later call can be taken for this one.
 */
int mca_half_call(arc_module_t *module, arc_type_t half, const arc_call_t *call,
                  arc_serve_fn_t sum);

#endif
