/*
 * A call in the component's terms.  The door (coll_quant_door.c) makes it, once, of what the
 * program says, and hands it down; what is found out on the way is noted in it:
 *
 *   coll_quant_door.c                    what a call says, and what becomes of it
 *       coll_quant_gather.c              an allgather of other types than floats and doubles
 *           coll_quant_serve.c           a call that is served: counted, and its numbers widened
 *               coll_quant_verify.c      is it accurate?
 *                   coll_quant_run.c     one operation
 *                       coll_quant_fold.c    of sums made in shared memory of the nodes
 *                       coll_quant_limit.c   are elements as exact as they have to be?
 *                           coll_quant_below.c   the same exactly, by the component below
 *
 * A file calls only files below it in this list; coll_quant_learn.c, does it pay?, and
 * coll_quant_setup.c, until the module is ready, are called by the door.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_CALL_H
#define COLL_QUANT_CALL_H

#include "coll_quant.h"

/* A call that is timed; coll_quant_learn.c. */
typedef struct quant_timed {
    arc_select_t *select; /* NULL: none is */
    unsigned class;
    uint64_t begin_ns;
    uint64_t end_ns; /* of the quantized part; 0: it has none */
} quant_timed_t;

typedef struct quant_call {
    const arc_call_t *said;       /* by the program */
    struct ompi_datatype_t *type; /* of its numbers; NULL: they are of no one type */
    bool is_half_sum;             /* of 16-bit floats, which nobody below can add */
    size_t bytes;                 /* of all blocks, as operation.element; 0: there is none */
    size_t said_bytes;            /* ..., as the program has them */
    uint64_t number;              /* among those that could be quantized */
    quant_operation_t operation;  /* element NULL: these numbers stay exact */
    quant_timed_t timed;
    float bound; /* of the result; 0: it is exact */
} quant_call_t;

/* How many times `count` elements a rank sends, and gets; of both the whole vector. */
static inline size_t coll_quant_blocks_sent(const quant_module_t *module,
                                            exchange_collective_t collective)
{
    return EXCHANGE_REDUCE_SCATTER == collective ? module->stream.base.ranks : 1;
}

static inline size_t coll_quant_blocks_received(const quant_module_t *module,
                                                exchange_collective_t collective)
{
    return EXCHANGE_ALLGATHER == collective ? module->stream.base.ranks : 1;
}

static inline size_t coll_quant_blocks(const quant_module_t *module,
                                       exchange_collective_t collective)
{
    return EXCHANGE_ALLREDUCE == collective ? 1 : module->stream.base.ranks;
}

static inline struct ompi_datatype_t *coll_quant_datatype(const quant_element_t *element)
{
    return &quant_doubles == element ? &ompi_mpi_double.dt : &ompi_mpi_float.dt;
}

/* All that follows returns an MPI error code; after an error the module is broken. */

/*
 * An allgather whose numbers do not lie one after the other on this rank, or on another one, which
 * it need not know.
 */
int coll_quant_gather_packed(quant_module_t *module, quant_call_t *call);

/* Serve a call. */
int coll_quant_run_call(quant_module_t *module, quant_call_t *call);

/*
 * coll_quant_run_and_note(), and an exact one to compare with.  The result is the exact one if the
 * error is above the limit.
 */
int coll_quant_verify(quant_module_t *module, quant_call_t *call);

/* Memory for a verification, on all ranks or, NULL, on none, which is said once. */
int coll_quant_get_memory(quant_module_t *module, size_t bytes, void **memory);

/* One operation, whose bound becomes known. */
int coll_quant_run_and_note(quant_module_t *module, quant_call_t *call);

/*
 * The operation by the component below, exactly, with its result in `receive` instead; `details`
 * tells what for.
 */
int coll_quant_below(quant_module_t *module, const quant_call_t *call, void *receive,
                     const char *details);

#endif
