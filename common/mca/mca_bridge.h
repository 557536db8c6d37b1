/*
 * MPI's datatypes and operations as reducers.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_BRIDGE_H
#define MCA_BRIDGE_H

#include "mca_compat.h"
#include "reduce.h"
#include "status.h"
#include "tally.h"

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

/* Is it one of them? */
bool mca_bridge_is_float(const struct ompi_datatype_t *type);
bool mca_bridge_is_double(const struct ompi_datatype_t *type);

/*
 * MPI_FLOAT, MPI_DOUBLE or MPI_UINT16_T, if the type, predefined or not, is made of nothing but
 * these; otherwise NULL.  It follows from the signature, which ranks have in common that send such
 * types to each other.
 */
struct ompi_datatype_t *mca_bridge_all_of(const struct ompi_datatype_t *type);

/*
 * Where the bytes of `count` > 0 elements are: *span_bytes of them from *gap_bytes behind the
 * address of element 0 on.  opal_datatype_span() is not for negative extents, with which element 0
 * is the last.  False if no memory can hold them.
 */
bool mca_bridge_span(const struct ompi_datatype_t *type, size_t count, ptrdiff_t *gap_bytes,
                     size_t *span_bytes);

#endif
