/*
 * The Open MPI side of coll_quant.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_H
#define COLL_QUANT_H

#include <stdio.h>

#include "mca_agreement.h"
#include "mca_break.h"
#include "mca_bridge.h"
#include "mca_log.h"
#include "mca_pass.h"
#include "mca_share.h"
#include "mca_stream.h"
#include "quant_fold.h"
#include "quant_gain.h"
#include "quant_measure.h"
#include "quant_settings.h"
#include "select.h"
#include "topology.h"
#include "wait.h"

/*
 * What is known about errors, the same on all ranks of a communicator, but for bounds of
 * MPI_Reduce_scatter_block: those are of the own block.
 */
typedef struct quant_stats {
    unsigned long long verified; /* calls that were measured */
    quant_measure_t last;
    quant_measure_t worst; /* each number by itself */
    double last_bound;     /* of any call: no element is farther off; 0: it was exact */
    double worst_bound;
} quant_stats_t;

/* What became of a call: quantized, or exact for a reason. */
enum { QUANT_LAST_NONE, QUANT_LAST_QUANTIZED, QUANT_LAST_EXACT /* + arc_reason_t */ };

/* What is learned by itself: each type of element of each collective; coll_quant_tried(). */
enum {
    QUANT_ELEMENT_TYPES = 2,
    QUANT_TRIED = EXCHANGE_COLLECTIVES * QUANT_ELEMENT_TYPES,
};

/* What was learned on a communicator. */
typedef struct quant_remembered {
    uint64_t key; /* of its processes and settings; 0: none */
    quant_gain_t gain[QUANT_TRIED];
} quant_remembered_t;

enum { QUANT_REMEMBERED = 16 }; /* communicators, the latest ones */

typedef struct quant_component {
    arc_component_t base;
    quant_settings_t settings;
    quant_kernels_t kernels;
    /* On all communicators; under base.lock. */
    quant_stats_t stats;
    quant_remembered_t remembered[QUANT_REMEMBERED];
    unsigned remembered_next; /* modulo QUANT_REMEMBERED */
} quant_component_t;

enum { QUANT_KEY_TEXT_BYTES = 16 }; /* an error as "%g" prints it */

/* A call that is timed; coll_quant_learn.c. */
typedef struct quant_timed {
    arc_select_t *select; /* NULL: none is */
    exchange_collective_t collective;
    const quant_element_t *element;
    unsigned class;
    uint64_t begin_ns;
    uint64_t end_ns; /* of the quantized part; 0: it has none */
} quant_timed_t;

enum { QUANT_SIZES = 16 }; /* lengths of vectors of which a communicator knows the size */

/* How large the results of calls of one length were. */
typedef struct quant_size {
    const quant_element_t *element; /* NULL: of no call yet */
    size_t count;
    double largest; /* magnitude to reckon with; 0: all were zeros */
    uint64_t used;  /* when, by the number of the call */
} quant_size_t;

/* Limits of the error of elements; coll_quant_limit.c. */
typedef struct quant_limit {
    unsigned pause;   /* calls to pass down after the last one that was of no use; 0: it was */
    unsigned waiting; /* of them are left */
    quant_size_t sizes[QUANT_SIZES];
    uint64_t calls;
    void *kept; /* what is sent, where the result takes its place; NULL: no room yet */
    size_t kept_bytes;
} quant_limit_t;

/* What calls left behind, of each vector; coll_quant_residual.c. */
typedef struct quant_residuals quant_residuals_t;

typedef struct quant_module {
    arc_module_t base;
    arc_type_t uint16;       /* what sums of MPI_UINT16_T are */
    quant_storage_t storage; /* if these are floats */
    bool active;             /* the user wants it on this communicator */
    bool key_was_set;        /* by the program, perhaps on this rank alone */
    /* As at the end of the last blocking call: what decides over nonblocking ones. */
    struct {
        bool same; /* settings, on all ranks */
        arc_type_t uint16;
        quant_gain_t gain[QUANT_TRIED];
    } settled;
    quant_settings_t settings; /* the component's, but for what the info key says */
    quant_wish_t wish;         /* of the info key */
    char key_text[QUANT_KEY_TEXT_BYTES];

    /* From the first call on: */
    arc_topology_t topology; /* if the algorithm may depend on it; 0 nodes: not known */
    bool levels_warned;      /* there are no levels for the algorithm that is set, which was said */
    bool attainable;         /* the settings leave something to choose */
    quant_config_t config;
    size_t algo;                    /* its row in the list of algorithms */
    quant_gain_t gain[QUANT_TRIED]; /* what was learned so far */
    uint64_t gain_key;              /* for those that are remembered */
    arc_select_t *selectors;        /* [QUANT_TRIED][ARC_SELECT_CLASSES] for the rest; or NULL */
    quant_timed_t timed;

    mca_stream_t stream;
    arc_wait_t wait;
    void *memory;     /* for the algorithm; NULL before the set-up */
    arc_task_t *task; /* in `memory` */
    struct {
        bool looked;        /* whether memory can be shared on the nodes */
        mca_share_t share;  /* none: it cannot */
        size_t asked_bytes; /* for its arenas */
        lowlat_group_t group;
        arc_wait_t wait;
        void *memory;
        quant_fold_t *exchange; /* in `memory` */
    } fold;
    uint32_t sequence; /* operations that were quantized */
    uint32_t sums;     /* that could be, by what they are; vectors are known by it */
    unsigned
        calls[EXCHANGE_COLLECTIVES]; /* of the program that were quantized, if some are verified */
    float bound;                     /* of the result of the last call; 0: it was exact */
    quant_stats_t stats;             /* of the communicator */
    int last_call;                   /* QUANT_LAST_... */

    quant_limit_t limit; /* of the error of elements, if there is one */

    quant_residuals_t *residuals;  /* with error feedback; NULL: none yet */
    bool residual_memory_warned;   /* what was said about them: there was no memory, */
    bool residual_room_warned;     /* one was forgotten, */
    bool residual_length_warned;   /* a vector is too long, */
    bool residual_sequence_warned; /* the sequence does not repeat, */
    bool residual_stage_warned;    /* a stage has none */

    bool skip_warned; /* a call could not be verified, which was said */
} quant_module_t;
OBJ_CLASS_DECLARATION(quant_module_t);

extern quant_component_t mca_coll_quant_component;

/* How the component serves calls that are not blocking (mca_component.h). */
void coll_quant_settled(arc_module_t *base);
uint64_t coll_quant_number(arc_module_t *base, const arc_call_t *call);

/* The number of the next call that could be quantized: how many of these and before it add. */
static inline uint64_t coll_quant_next_number(quant_module_t *module,
                                              exchange_collective_t collective)
{
    module->sums += EXCHANGE_ALLGATHER != collective;
    return module->sums;
}

arc_reason_t coll_quant_admit(arc_module_t *base, const arc_call_t *call);
arc_reason_t coll_quant_prepare_init(arc_module_t *base, const arc_call_t *call);
void coll_quant_retag(arc_module_t *base);

int coll_quant_iallreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                          struct ompi_op_t *op, struct ompi_communicator_t *comm,
                          ompi_request_t **request, mca_coll_base_module_t *base);
int coll_quant_allreduce_init(const void *send, void *receive, int count,
                              struct ompi_datatype_t *type, struct ompi_op_t *op,
                              struct ompi_communicator_t *comm, struct ompi_info_t *info,
                              ompi_request_t **request, mca_coll_base_module_t *base);
int coll_quant_ireduce_scatter_block(const void *send, void *receive, int count,
                                     struct ompi_datatype_t *type, struct ompi_op_t *op,
                                     struct ompi_communicator_t *comm, ompi_request_t **request,
                                     mca_coll_base_module_t *base);
int coll_quant_reduce_scatter_block_init(const void *send, void *receive, int count,
                                         struct ompi_datatype_t *type, struct ompi_op_t *op,
                                         struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                         ompi_request_t **request, mca_coll_base_module_t *base);
int coll_quant_iallgather(const void *send, int send_count, struct ompi_datatype_t *send_type,
                          void *receive, int receive_count, struct ompi_datatype_t *receive_type,
                          struct ompi_communicator_t *comm, ompi_request_t **request,
                          mca_coll_base_module_t *base);
int coll_quant_allgather_init(const void *send, int send_count, struct ompi_datatype_t *send_type,
                              void *receive, int receive_count,
                              struct ompi_datatype_t *receive_type,
                              struct ompi_communicator_t *comm, struct ompi_info_t *info,
                              ompi_request_t **request, mca_coll_base_module_t *base);

int coll_quant_allreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                         struct ompi_op_t *op, struct ompi_communicator_t *comm,
                         mca_coll_base_module_t *base);

int coll_quant_reduce_scatter_block(const void *send, void *receive, int count,
                                    struct ompi_datatype_t *type, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm, mca_coll_base_module_t *base);

int coll_quant_allgather(const void *send, int send_count, struct ompi_datatype_t *send_type,
                         void *receive, int receive_count, struct ompi_datatype_t *receive_type,
                         struct ompi_communicator_t *comm, mca_coll_base_module_t *base);

/* ---- what differs between the collectives; coll_quant_collectives.c ---- */

/* The slot of a collective. */
arc_slot_t coll_quant_slot(exchange_collective_t collective);

/*
 * The slots that a module with these settings takes.  Allreduce: the ranks agree there,
 * so it is always there, also where the user wants nothing quantized.
 */
unsigned coll_quant_slots(const quant_module_t *module);

/* How many times `count` elements a rank sends, and gets; the larger of both: the whole vector. */
size_t coll_quant_blocks_sent(const quant_module_t *module, exchange_collective_t collective);
size_t coll_quant_blocks_received(const quant_module_t *module, exchange_collective_t collective);
size_t coll_quant_blocks(const quant_module_t *module, exchange_collective_t collective);

/* Has each rank another share of the result? */
bool coll_quant_shares(exchange_collective_t collective);

/*
 * The operation by the component below, exactly, with its result in `receive` instead; `details`
 * tells what for.  An MPI error code, the module is broken then.
 */
int coll_quant_below(quant_module_t *module, const quant_operation_t *operation, void *receive,
                     const char *details);

/* ---- from a call to its operation; coll_quant_call.c ---- */

/* What numbers of this type are here; NULL: the user wants them exact, or they are none. */
const quant_element_t *coll_quant_element(const quant_module_t *module,
                                          const struct ompi_datatype_t *type);

/* The same of an operation on 16-bit floats. */
const quant_element_t *coll_quant_element_of_halves(const quant_module_t *module,
                                                    exchange_collective_t collective);

/*
 * Why a call of `element`, of `bytes` in all blocks, is not served as the program makes it,
 * whatever the state of the module.  `verdict`: what else its arguments say; ARC_REASON_NONE if it
 * can be, and the answer alike.
 */
arc_reason_t coll_quant_reason_of_call(const quant_module_t *module,
                                       exchange_collective_t collective,
                                       const quant_element_t *element, size_t bytes,
                                       arc_reason_t verdict);

/* Why no call is served in this state of the module; ARC_REASON_NONE: those that can be are. */
arc_reason_t coll_quant_reason_of_module(const quant_module_t *module);

/*
 * Is a call of `element` served, and why not?  *verdict: what its type and operation say,
 * ARC_REASON_NONE if it can be, and the answer alike; `bytes`: of the whole vector; all the same on
 * all ranks, which have agreed.  Sets the module up if need be.  An MPI error code if the module is
 * broken.
 */
int coll_quant_check_call(quant_module_t *module, exchange_collective_t collective,
                          const quant_element_t *element, size_t bytes, arc_reason_t *verdict);

/* Is the next call of the collective to be verified? */
bool coll_quant_is_verified_next(const quant_module_t *module, exchange_collective_t collective);

/* Serve a call of the program; `operation` lacks its sequence only.  An MPI error code. */
int coll_quant_run_call(quant_module_t *module, const quant_operation_t *operation, bool verified);

/*
 * The same for an operation of 16-bit floats, which is verified if there is memory for all of it;
 * coll_quant_halves.c.
 */
int coll_quant_run_halves(quant_module_t *module, const quant_operation_t *operation);

/* ---- until the module is ready; coll_quant_setup.c ---- */

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

/* The module of a persistent request begins with the settings of its communicator's, and keeps
 * them. */
void coll_quant_adopt(quant_module_t *module, const quant_module_t *of);

/* The settings have changed: the next call sets the module up anew, after the ranks have agreed. */
void coll_quant_renew(quant_module_t *module);

/* The place in `gain`, from 0 to QUANT_TRIED - 1. */
static inline unsigned coll_quant_tried(exchange_collective_t collective,
                                        const quant_element_t *element)
{
    return (unsigned) collective * QUANT_ELEMENT_TYPES + (&quant_doubles == element);
}

static inline struct ompi_datatype_t *coll_quant_datatype(const quant_element_t *element)
{
    return &quant_doubles == element ? &ompi_mpi_double.dt : &ompi_mpi_float.dt;
}

/*
 * With error feedback what the last call of the same vector left, zeros if there was none; NULL:
 * there is no feedback, or no memory, which is said.  Only this rank's error depends on it.
 * `operation` has the program's buffers; coll_quant_residual.c.
 */
float *coll_quant_residual(quant_module_t *module, const quant_operation_t *operation);

void coll_quant_residuals_free(quant_module_t *module);

/* Say once that error feedback, which is set, does nothing for this collective. */
void coll_quant_residual_warn_of_stage(quant_module_t *module, exchange_collective_t collective);

/*
 * The call could be served: does it pay to quantize its `bytes`, of the whole vector?
 * ARC_REASON_NONE, or why not; the same on all ranks.  coll_quant_learn() is to follow the call;
 * coll_quant_learn.c.
 */
arc_reason_t coll_quant_learned(quant_module_t *module, exchange_collective_t collective,
                                const quant_element_t *element, size_t bytes);

/*
 * The end of every call, which came to `status`, an MPI error code: learn from the time that it
 * took, if it is timed.  What the call is to return.
 */
int coll_quant_learn(quant_module_t *module, int status);

/*
 * The call could be served: is some format likely to keep coll_quant_target_abs and _rel?
 * ARC_REASON_NONE, or ARC_REASON_BOUND; the same on all ranks; coll_quant_limit.c.
 */
arc_reason_t coll_quant_limit_reason(quant_module_t *module, exchange_collective_t collective);

/*
 * One operation within the limits, if there are any: *operation gets them, and may get its numbers
 * from another place.  An MPI error code; *run: whether it is to be run, or was made exactly.
 */
int coll_quant_limit_begin(quant_module_t *module, quant_operation_t *operation, bool *run);

/* After it was run: the result is exact if it could not be known to be within the limits. */
int coll_quant_limit_end(quant_module_t *module, const quant_operation_t *operation);

/* Forget all calls. */
void coll_quant_limit_reset(quant_module_t *module);

/* Drive a task to its end, in C's default floating-point environment; coll_quant_run.c. */
arc_status_t coll_quant_drive(const arc_wait_t *wait, arc_task_t *task) ARC_MUST_CHECK;

/* With the component: what it may share; it gives that back with mca_share_close(). */
void coll_quant_fold_open(void);

/*
 * The module is ready: before a call that may be timed, share memory on the nodes to add up there.
 * Once; nothing where the operation, of which no memory needs to be told, is not for that.  An MPI
 * error code; coll_quant_fold.c.
 */
int coll_quant_fold_look(quant_module_t *module, const quant_operation_t *operation);

/*
 * Is this operation added up so?  All ranks together: memory may have to grow.  An MPI error code,
 * and *folds.
 */
int coll_quant_fold_check(quant_module_t *module, const quant_operation_t *operation, bool *folds);

/* Run it so; an MPI error code, and the bound of the result. */
int coll_quant_fold_run(quant_module_t *module, const quant_operation_t *operation);

/* Give the memory back, unless messages may still be in it. */
void coll_quant_fold_release(quant_module_t *module);

/* One operation; an MPI error code; coll_quant_run.c. */
int coll_quant_run_and_note(quant_module_t *module, const quant_operation_t *operation);

/*
 * What is remembered of a communicator of the same processes, in the same order, with the same
 * settings; of this process, others may remember something else.  A number that is the same where
 * that is, for the ranks to compare; coll_quant_remember.c.
 */
uint64_t coll_quant_recall(quant_module_t *module);

/* Remember what was learned here. */
void coll_quant_remember(const quant_module_t *module);

/*
 * coll_quant_run_and_note(), and an exact one to compare with; coll_quant_verify.c.  The result is
 * the exact one if the error is above the limit.
 */
int coll_quant_verify(quant_module_t *module, const quant_operation_t *operation);

/* Say once that some rank has no memory of so many bytes for a verification. */
void coll_quant_warn_unverified(quant_module_t *module, size_t bytes);

/* What has become known with a call, of its communicator; coll_quant_stats.c. */
void coll_quant_stats_note_bound(quant_module_t *module, float bound);
void coll_quant_stats_note_exact(quant_module_t *module, arc_reason_t reason);
void coll_quant_stats_note_measure(quant_module_t *module, const quant_measure_t *measure);

/* Lines about it for the report. */
void coll_quant_stats_print(FILE *stream, const quant_component_t *component);

/* Make it readable through MPI_T; coll_quant_pvars.c. */
void coll_quant_pvars_register(const quant_component_t *component);

/* Do the parameters want it where no info key says anything? */
bool coll_quant_keys_wanted(void);

/*
 * When the module is made: settings from the parameters and the communicator's info key; from now
 * on also from what the program sets it to.
 */
void coll_quant_keys_enable(quant_module_t *module);

extern char coll_quant_key[]; /* "arc_quant" */

/* The key's value for what is in force; it lives until the next one is asked for. */
mca_compat_info_string_t coll_quant_in_force(quant_module_t *module);

/* Something was agreed on, or decided: MPI_Comm_get_info is to tell what is in effect. */
void coll_quant_show(quant_module_t *module);

#endif
