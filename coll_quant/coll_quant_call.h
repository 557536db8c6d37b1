/*
 * What the files of the component do for each other, and a call in its terms.  The door
 * (coll_quant_door.c) makes it, once, of what the program says, and hands it down; what is found
 * out on the way is noted in it:
 *
 *   coll_quant_door.c                    what a call says, and what becomes of it
 *       coll_quant_run.c                 a call that is served: counted, its numbers widened; is it
 *                                        accurate?  Each operation of it
 *           coll_quant_fold.c            of sums made in shared memory of the nodes
 *           coll_quant_limit.c           are elements as exact as they have to be?  Or the same
 *                                        exactly, by the component below
 *
 * A file calls only files below it in this list; coll_quant_learn.c, does it pay?, and
 * coll_quant_setup.c, until the module is ready, are called by the door.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_CALL_H
#define COLL_QUANT_CALL_H

#include <stdio.h>

#include "coll_quant.h"

/* A call that is timed; coll_quant_learn.c. */
typedef struct quant_timed {
    arc_select_t *select; /* NULL: none is */
    unsigned class;
    uint64_t called_ns; /* when the call began, and ... */
    uint64_t begin_ns;
    uint64_t end_ns;     /* of the quantized part; 0: it has none */
    uint64_t packing_ns; /* before and behind it */
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

/* Now, if the call is timed; otherwise 0. */
static inline uint64_t coll_quant_timed_ns(const quant_call_t *call)
{
    return NULL == call->timed.select ? 0 : (uint64_t) arc_now_ns();
}

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

/* ---- coll_quant_keys.c: the info key of a communicator ---- */

/*
 * When the module is made: settings from the parameters and the communicator's info key; from now
 * on also from what the program sets it to.
 */
void coll_quant_keys_enable(quant_module_t *module);

/* ---- coll_quant_setup.c: until a module is ready, and its end ---- */

/*
 * First of all in a call, of `bytes` in all blocks, that the module did not make itself: once there
 * were enough of them, do the ranks agree?
 */
void coll_quant_agree_if_due(quant_module_t *module, size_t bytes);

/*
 * The module is not ready: set it up, if a call could be served but for that (`verdict`
 * ARC_REASON_NONE).  ARC_REASON_NONE when ready, otherwise why not.
 */
arc_reason_t coll_quant_set_up_if_needed(quant_module_t *module, arc_reason_t verdict);

/* Give the module's memory back, if it has any. */
void coll_quant_teardown(quant_module_t *module);

/*
 * The module of a persistent request begins with the settings of its communicator's, and keeps
 * them.
 */
void coll_quant_adopt(quant_module_t *module, const quant_module_t *of);

/* The settings may have changed: the ranks compare them in the next call. */
void coll_quant_renew(quant_module_t *module);

/* ---- coll_quant_learn.c: does quantizing pay? ---- */

/*
 * What was decided of calls like this one: ARC_REASON_NONE, it pays to quantize them,
 * ARC_REASON_SLOWER, or ARC_REASON_LEARNING, nothing yet.
 */
arc_reason_t coll_quant_gain_reason(const quant_module_t *module,
                                    const quant_gain_t gain[QUANT_TRIED], const quant_call_t *call);

/*
 * The call could be served: does it pay to quantize it?  ARC_REASON_NONE, or why not; the same on
 * all ranks.  coll_quant_learn() is to follow the call.
 */
arc_reason_t coll_quant_learned(quant_module_t *module, quant_call_t *call);

/*
 * The end of every call, which came to `status`, an MPI error code: learn from the time that it
 * took, if it is timed.  What the call is to return.
 */
int coll_quant_learn(quant_module_t *module, quant_call_t *call, int status);

/* ---- coll_quant_show.c: what is in effect, for MPI_Comm_get_info ---- */

extern char coll_quant_key[]; /* "arc_quant" */

/* The key's value for what is in force; it lives until the next one is asked for. */
mca_compat_info_string_t coll_quant_in_force(quant_module_t *module);

/* Something was agreed on, or decided: MPI_Comm_get_info is to tell what is in effect. */
void coll_quant_show(quant_module_t *module);

/* ---- coll_quant_stats.c: bounds, which all calls tell, and errors, which verified ones tell ----
 */

/*
 * What has become known with a call, of its communicator.  ARC_REASON_NONE: quantized, with that
 * bound; otherwise exact.
 */
void coll_quant_stats_note(quant_module_t *module, arc_reason_t reason, float bound);
void coll_quant_stats_note_measure(quant_module_t *module, const quant_measure_t *measure);

/* Lines about it for the report. */
void coll_quant_stats_print(FILE *stream, const quant_component_t *component);

/* Make it readable through MPI_T. */
void coll_quant_pvars_register(const quant_component_t *component);

/* ---- coll_quant_residual.c: error feedback ---- */

/*
 * With error feedback what the last call of the same vector left, zeros if there was none; NULL:
 * there is no feedback, or no memory, which is said.  Only this rank's error depends on it.  The
 * operation has the program's buffers.
 */
float *coll_quant_residual(quant_module_t *module, const quant_call_t *call);

void coll_quant_residuals_free(quant_module_t *module);

/* ---- coll_quant_fold.c: sums in shared memory of the nodes; an int is an MPI error code ---- */

/* With the component: what it may share; it gives that back with mca_pool_close(). */
void coll_quant_fold_open(void);

/*
 * The module is ready: before a call that may be timed, share memory on the nodes to add up there.
 * Once; nothing where the operation, of which no memory needs to be told, is not for that.
 */
int coll_quant_fold_look(quant_module_t *module, const quant_operation_t *operation);

/* Is this operation added up so?  All ranks together: memory may have to grow. */
int coll_quant_fold_check(quant_module_t *module, const quant_operation_t *operation, bool *folds);

/* Run it so, and note the bound of the result. */
int coll_quant_fold_run(quant_module_t *module, quant_call_t *call);

/* Give the memory back, unless messages may still be in it. */
void coll_quant_fold_release(quant_module_t *module);

/* ---- coll_quant_limit.c: limits of the error of elements ---- */

/*
 * The call could be served: is some format likely to keep the limits?  ARC_REASON_NONE, or
 * ARC_REASON_BOUND; the same on all ranks.
 */
arc_reason_t coll_quant_limit_reason(quant_module_t *module, exchange_collective_t collective);

/*
 * The call gets the limits, and may get its numbers from another place.  An MPI error code; *exact,
 * false before: it was made exactly, and is not to be run.
 */
int coll_quant_limit_begin(quant_module_t *module, quant_call_t *call, bool *exact);

/* After it was run; *exact: it was made again, as it could not be known to be within the limits. */
int coll_quant_limit_end(quant_module_t *module, quant_call_t *call, bool *exact);

/* Forget all calls. */
void coll_quant_limit_reset(quant_module_t *module);

/*
 * The operation by the component below, exactly, with its result in `receive` instead; `details`
 * tells what for.
 */
int coll_quant_below(quant_module_t *module, const quant_call_t *call, void *receive,
                     const char *details);

/* ---- coll_quant_run.c: an MPI error code; after an error the module is broken ---- */

/* Serve a call. */
int coll_quant_run_call(quant_module_t *module, quant_call_t *call);

#endif
