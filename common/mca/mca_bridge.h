/*
 * MPI's datatypes and operations as reducers.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_BRIDGE_H
#define MCA_BRIDGE_H

#include "mca_module.h"
#include "reduce.h"

/*
 * A reducer for one call, with what its function needs; lives as long as the call.
 *
 * What a reducer works on are vectors that look the same on all ranks.  For
 * predefined types and operations that is the program's buffer.  A function of the
 * program may work on elements with gaps, which may even be elsewhere on another rank:
 * its vectors travel `packed`.
 */
typedef struct arc_reduction {
    arc_reducer_t reducer;
    struct ompi_op_t *op;
    struct ompi_datatype_t *type;
    bool packed; /* a function of the program: to be given whole vectors, packed */
    int error;   /* MPI_SUCCESS, or what this rank, which no other one knows of, met on the way */
    /* packed, from mca_bridge_pack() on: */
    unsigned char *vector;   /* [count] our part, then the result */
    unsigned char *typed[2]; /* [count] elements as the type describes them; NULL: no memory */
    void *vector_memory;
    void *typed_memory;
} arc_reduction_t;

/*
 * What a communicator's reductions are made from, and the kernel that was found last: programs
 * repeat themselves.  Predefined types and operations, which alone have kernels, live as long as
 * Open MPI does: an address stands for one of them, always for the same.
 */
typedef struct mca_bridge {
    const arc_reduce_table_t *kernels;
    arc_type_t uint16; /* ARC_TYPE_UINT16, or what the user said that sums of MPI_UINT16_T are */
    const struct ompi_op_t *last_op; /* NULL: none was found */
    const struct ompi_datatype_t *last_type;
    arc_reducer_t last_reducer;
} mca_bridge_t;

void mca_bridge_init(mca_bridge_t *bridge, const arc_reduce_table_t *kernels, arc_type_t uint16);

/* mca_bridge_reduction() of another type or operation than the last one. */
arc_reason_t mca_bridge_find(mca_bridge_t *bridge, struct ompi_op_t *op,
                             struct ompi_datatype_t *type, arc_reduction_t *reduction);

/*
 * How to reduce `type` with `op`: with a kernel where there is one, else with the
 * operation's own function.  Returns ARC_REASON_NONE when that is settled, else the
 * reason for passing the call down.  Depends only on the
 * datatype's signature and the operation, which MPI requires to be the same on all ranks.
 */
static inline arc_reason_t mca_bridge_reduction(mca_bridge_t *bridge, struct ompi_op_t *op,
                                                struct ompi_datatype_t *type,
                                                arc_reduction_t *reduction)
{
    reduction->packed = false;
    reduction->error = MPI_SUCCESS;
    reduction->op = op;
    reduction->type = type;
    if (OPAL_LIKELY(op == bridge->last_op && type == bridge->last_type)) {
        reduction->reducer = bridge->last_reducer;
        return ARC_REASON_NONE;
    }
    return mca_bridge_find(bridge, op, type, reduction);
}

/*
 * For a packed reduction: allocate, and pack `count` elements from `in` to `vector`, of at most
 * INT32_MAX bytes.  ARC_ERR_NO_MEMORY: nothing is allocated.  ARC_OK with an `error` in
 * `reduction`: this rank can take part, but its result is lost.  Without `typed`, whose size
 * follows from this rank's extents, its reducer does nothing: that is for algorithms in which
 * nobody else needs what a rank reduces.
 */
arc_status_t mca_bridge_pack(arc_reduction_t *reduction, const void *in,
                             size_t count) ARC_MUST_CHECK;

/* Unpack `vector` to `out`, unless there was an `error`, and free.  Returns the error. */
int mca_bridge_unpack(arc_reduction_t *reduction, void *out, size_t count) ARC_MUST_CHECK;

/* Free without unpacking. */
void mca_bridge_discard(arc_reduction_t *reduction);

/* Is it MPI_FLOAT or MPI_DOUBLE (or a Fortran type of the same format) with MPI_SUM? */
arc_reason_t mca_bridge_is_sum(struct ompi_op_t *op, struct ompi_datatype_t *type);

/* Is it a predefined type, of C or Fortran, in this format: OPAL_DATATYPE_FLOAT4, ...? */
static inline bool mca_bridge_is(const struct ompi_datatype_t *type, unsigned format)
{
    return ompi_datatype_is_predefined(type) && format == type->super.id;
}

/*
 * MPI_FLOAT, MPI_DOUBLE or MPI_UINT16_T, if the type, predefined or not, is made of nothing but
 * these; otherwise NULL.  It follows from the signature, which ranks have in common that send such
 * types to each other.
 */
struct ompi_datatype_t *mca_bridge_all_of(const struct ompi_datatype_t *type);

/*
 * Memory for so many vectors of `count` > 0 elements as the type describes them: *memory, which is
 * to be freed, and in typed[] the addresses of their elements 0, which are aligned.  False: there
 * is none.
 */
bool mca_bridge_allocate(const struct ompi_datatype_t *type, size_t count, unsigned vectors,
                         void **memory, unsigned char *typed[]);

/* ---- 16-bit floats ---- */

/*
 * 16-bit floats by way of floats: those that a program keeps in MPI_UINT16_T, and MPIX_C_FLOAT16.
 *
 * MPIX_C_FLOAT16 (or MPIX_SHORT_FLOAT) is Open MPI's own type, from 5.0 on where its compiler has
 * _Float16.  No release of Open MPI has a type for bf16.
 */

/* Are these 16-bit floats of the kind that the user named?  `uint16`: of arc_uint16_type(). */
static inline bool mca_half_is_named(arc_type_t uint16, const struct ompi_datatype_t *type)
{
    return ARC_TYPE_UINT16 != uint16 &&
           (&ompi_mpi_uint16_t.dt == type ||
            (ARC_TYPE_FP16 == uint16 && mca_bridge_is(type, OPAL_DATATYPE_FLOAT2)));
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
    return mca_bridge_is(type, OPAL_DATATYPE_FLOAT2) &&
                   (OMPI_OP_SUM == op->op_type || OMPI_OP_PROD == op->op_type)
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
