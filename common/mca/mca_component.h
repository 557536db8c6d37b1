/*
 * What both components do alike: parameters, opening, selection, stacking over
 * the component below, passing calls down, the report.
 *
 * A component is a descriptor (arc_component_t) plus callbacks of one line
 * each, because Open MPI's callbacks do not say which component they are for.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_COMPONENT_H
#define MCA_COMPONENT_H

#include <pthread.h>

#include "mca_compat.h"
#include "mca_slots.h"
#include "param.h"
#include "queue.h"
#include "tally.h"
#include "task.h"
#include "wait.h"

/* What a program calls to have done later (mca_request.h). */
typedef struct arc_call {
    arc_slot_t collective; /* ARC_SLOT_allreduce, ...: the blocking one */
    arc_form_t form;
    const void *send;
    void *receive;
    int count; /* of a vector, or of each block that is received */
    struct ompi_datatype_t *type;
    struct ompi_op_t *op; /* NULL: an allgather, which has a count and a type to send */
    int send_count;
    uint64_t number; /* component->number; 0: it has none */
    struct ompi_datatype_t *send_type;
} arc_call_t;

typedef struct arc_component {
    mca_coll_base_component_t super; /* first: Open MPI's view */

    /* Set by the component. */
    const arc_param_t *params;
    size_t params_count;
    const arc_retired_t *retired;
    void *config; /* what the parameters are stored in */
    const int *priority;
    const int *verbose;
    const bool *report;
    const bool *installed_everywhere;
    const int *setup_calls;
    const int *timeout;     /* seconds, of agreements; 0: none */
    int agreement_tag;      /* MCA_COMPAT_TAG_...: its own */
    const char *choice_key; /* info key, for arc_module_show() */
    const char *const *algorithm_names;
    size_t algorithms;
    opal_class_t *module_class; /* derives from arc_module_t */
    /* Of each slot: NULL if the component has none.  Each has an allreduce. */
#define X(_name, _call) mca_coll_base_module_##_name##_fn_t _name;
    ARC_SLOT_TABLE(X)
#undef X
    const struct mca_fold_ops *fold; /* mca_fold.h; NULL: it adds up nothing for others */
    /* Do the parameters want it?  If not, it need not be everywhere.  NULL: they do. */
    bool (*wanted)(void);
    /* Nothing is pending, and all ranks know the same of the module: keep it for `admit`. */
    void (*settled)(arc_module_t *module);
    /*
     * A call that is not blocking is started, served or not: the number that is to be
     * module->number while it is run.  It follows from what `admit` may look at.  May be NULL.
     */
    uint64_t (*number)(arc_module_t *module, const arc_call_t *call);
    /*
     * Of calls that are not blocking.  Is it served?  By what all ranks know alike at this place in
     * the order of calls: while module->unsettled is set, not by what pending operations change.
     */
    arc_reason_t (*admit)(arc_module_t *module, const arc_call_t *call);
    /* Set up the module of a persistent request.  Is it served?  All ranks are here together. */
    arc_reason_t (*prepare)(arc_module_t *module, const arc_call_t *call);
    /* Begin it as a task; NULL: only with waiting.  May be NULL itself. */
    arc_task_t *(*direct)(arc_module_t *module, const arc_call_t *call);
    /* The end of that task, which came to `status`: what MPI returns. */
    int (*directed)(arc_module_t *module, arc_status_t status);
    const arc_wait_t *(*wait)(const arc_module_t *module);
    /* module->tags is set: from now on messages have these tags.  May be NULL. */
    void (*retag)(arc_module_t *module);
    /* When the module is enabled, in the slot of allreduce, or made for a request: local, cannot
     * fail. */
    void (*enabled)(arc_module_t *module);

    /* Ours. */
    char *param_text[ARC_MAX_PARAMS]; /* of choices and fractions; Open MPI's storage */
    bool param_refused[ARC_MAX_PARAMS];
    bool param_set[ARC_MAX_PARAMS]; /* by the user, not the default */
    bool param_from_environment[ARC_MAX_PARAMS];
    bool in_whole_world; /* all processes of MPI_COMM_WORLD have it */
    bool absence_told;
    bool first_process; /* rank 0 of MPI_COMM_WORLD: the one that talks */
    pthread_mutex_t lock;
    arc_tally_t total[ARC_SLOTS]; /* of modules that are gone; under `lock`, */
    struct arc_module *counting;  /* as is the list of those that have a tally */
} arc_component_t;

/* "lowlat", "quant" */
static inline const char *arc_component_name(const arc_component_t *component)
{
    return component->super.collm_version.mca_component_name;
}

/* Where a module stands; each step is taken by all ranks of the communicator together. */
typedef enum arc_phase {
    ARC_PHASE_FRESH,    /* few calls so far: nothing is agreed on, nothing is held */
    ARC_PHASE_AGREED,   /* the configuration is the same on all ranks */
    ARC_PHASE_READY,    /* set up */
    ARC_PHASE_DECLINED, /* passes everything down, for `declined` */
    ARC_PHASE_BROKEN,   /* failed in the middle of a call; the communicator's calls are lost */
} arc_phase_t;

struct arc_module {
    mca_coll_base_module_t super; /* first: Open MPI's view */
    arc_component_t *component;
    struct ompi_communicator_t *comm;
    /* Of a persistent request (mca_request.h): the communicator's; NULL: it is that one. */
    arc_module_t *of;
    bool has_requests; /* some were made, and said what there is to say */
    bool quiet;        /* what it has to say was said */
    unsigned wanted;   /* slots, the same on all ranks: by default that of allreduce */
    unsigned entered;  /* slots: in the chain of components that starts there */
    unsigned inside;   /* slots: a call of the component below is under way */
    /* What was in each slot before us. */
#define X(_name, _call)                                \
    mca_coll_base_module_##_name##_fn_t below_##_name; \
    mca_coll_base_module_t *below_##_name##_module;
    ARC_SLOT_TABLE(X)
#undef X
    arc_phase_t phase;
    bool params_known;   /* to be the same on all ranks, without an agreement */
    int64_t calls_to_go; /* in ARC_PHASE_FRESH, until the set-up; the same on all ranks */
    arc_reason_t declined;
    /* Of its agreements; the tag and the time limit are the component's, as a rule. */
    int agreement_tag;
    const int *timeout;
    struct mca_agreement *agreement; /* NULL: none so far */
    bool nested;        /* a set-up or a check is under way: calls that it makes are passed down */
    arc_form_t form;    /* of the call under way, */
    uint64_t number;    /* and its number among those that the component counts */
    bool unsettled;     /* nonblocking calls were made since the last blocking one */
    arc_queue_t *queue; /* of these; NULL: there were none */
    int tags; /* the first of those of nonblocking calls, going downwards; 0: none so far */
    arc_tally_t *tally[ARC_FORMS]; /* of each [ARC_COLLECTIVES]; NULL: no call was counted so far */
    struct arc_module *counting_next;
    struct arc_module **counting_link; /* what points to this module in the list; NULL: not in it */
};
OBJ_CLASS_DECLARATION(arc_module_t);

/* The bodies of the component's callbacks. */
int arc_component_register(arc_component_t *component);
int arc_component_open(arc_component_t *component);
int arc_component_close(arc_component_t *component);
int arc_component_init_query(arc_component_t *component);
mca_coll_base_module_t *arc_component_query(arc_component_t *component,
                                            struct ompi_communicator_t *comm, int *priority);

/* A module of the communicator, in no slot; released with OBJ_RELEASE.  NULL: no memory. */
arc_module_t *arc_module_new(arc_component_t *component, struct ompi_communicator_t *comm);

/*
 * Of the parameters in `config` that must be the same on all ranks, and of our version.  `config`:
 * the component's, or what info keys have made of it.
 */
uint64_t arc_component_hash(const arc_component_t *component, const void *config);

/* Is the component in the list that the user gave with --mca coll?  False for an exclude list. */
bool arc_component_listed(const arc_component_t *component);

/* Did the user set the parameter `name`? */
bool arc_component_param_set(const arc_component_t *component, const char *name);

/*
 * Take the slots that the module wants, keeping what is in them as the components below, and leave
 * the others.  Nothing for a slot if the module is in its chain of components already, or one of
 * higher priority is, which has not called us so far.
 */
void arc_module_install(arc_module_t *module);

/*
 * Leave the slots to the components below, so that a module that will not serve
 * the communicator costs nothing; nothing where another one has come above it.
 */
void arc_module_uninstall(arc_module_t *module);

/* The first call of a form is to be counted; false: there is no memory, it will not be. */
bool arc_module_begin_tally(arc_module_t *module, arc_form_t form);

/* Where calls of a collective in a form are counted; NULL: nowhere. */
static inline arc_tally_t *arc_module_tally(arc_module_t *module, arc_form_t form,
                                            arc_slot_t collective)
{
    return NULL != module->tally[form] || arc_module_begin_tally(module, form)
               ? &module->tally[form][collective]
               : NULL;
}

/* Count a call that one of the component's algorithms serves; `bytes` of all blocks. */
static inline void arc_module_count_served(arc_module_t *module, arc_slot_t collective,
                                           size_t algorithm, size_t bytes)
{
    arc_tally_t *tally = arc_module_tally(module, module->form, collective);

    if (NULL != tally) {
        arc_tally_count(&tally->served[algorithm], bytes);
    }
}

/* Count, and say if the user wants to know, that a call goes to the component below. */
void arc_module_count_pass(arc_module_t *module, arc_slot_t slot, arc_reason_t reason, int count,
                           const struct ompi_datatype_t *type, const struct ompi_op_t *op);

/* The same of a call that is not blocking. */
void arc_module_count_pass_call(arc_module_t *module, arc_reason_t reason, const arc_call_t *call);

/* Count, and give the call to the component below. */
int arc_module_pass(arc_module_t *module, arc_reason_t reason, const void *send, void *receive,
                    int count, struct ompi_datatype_t *type, struct ompi_op_t *op);
int arc_module_pass_reduce_scatter_block(arc_module_t *module, arc_reason_t reason,
                                         const void *send, void *receive, int count,
                                         struct ompi_datatype_t *type, struct ompi_op_t *op);
int arc_module_pass_allgather(arc_module_t *module, arc_reason_t reason, const void *send,
                              int send_count, struct ompi_datatype_t *send_type, void *receive,
                              int receive_count, struct ompi_datatype_t *receive_type);

/*
 * MIN over all ranks of the communicator of each of `count` values.  For set-up and checks, not
 * for every call.  Up to ARC_AGREEMENT_VALUES values are under the component's time limit; if that
 * ends it, or anything goes wrong, the module is broken, and it has been said who is missing.  More
 * values go through the component below.
 */
arc_status_t arc_module_min(arc_module_t *module, uint64_t *values, int count) ARC_MUST_CHECK;

/* When the module goes: free what its agreements need, unless messages may still be in it. */
void arc_module_forget_agreements(arc_module_t *module);

/*
 * Count a call of `bytes` bytes on a communicator in ARC_PHASE_FRESH.  Is the communicator still
 * too young, and the call to be passed down?  A set-up takes as long as some hundred short calls,
 * and programs and Open MPI itself make communicators for a few.  A long call counts as several,
 * whose time it takes.  All ranks make the same calls, so all count alike.
 */
static inline bool arc_module_is_young(arc_module_t *module, size_t bytes)
{
    enum { SHORT_BYTES = 4096 };

    module->calls_to_go -= 1 + (int64_t) (bytes / SHORT_BYTES);
    return module->calls_to_go > 0;
}

/*
 * The first step of every module: is `hash`, of the configuration, the same on
 * all ranks?  Moves the module to ARC_PHASE_AGREED or ARC_PHASE_DECLINED; ARC_PHASE_BROKEN: a rank
 * did not come.
 */
void arc_module_agree(arc_module_t *module, uint64_t hash);

/* The same for the parameters, where all ranks do not know them already. */
void arc_module_agree_on_params(arc_module_t *module);

/*
 * A call, an allreduce or that of a slot, failed after its first byte was out: say so, break the
 * module for good, and return an MPI error.  If it is broken already, nothing is said.  Later calls
 * return arc_module_broken_error().
 */
int arc_module_break(arc_module_t *module, arc_status_t status, const char *details);
int arc_module_break_call(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                          const char *details);
int arc_module_broken_error(void);

/*
 * What concerns a whole communicator: its rank 0 prints "coll_<name>: ..." on standard error if
 * the user asked for this level.
 */
enum { ARC_LOG_WARN = 1, ARC_LOG_CHOICE = 10, ARC_LOG_CALL = 20 };
void arc_module_log(const arc_module_t *module, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * What is in effect on the communicator, in a line: MPI_Comm_get_info has it under the component's
 * choice_key.  NULL: nothing any more.  Not before the set-up: a communicator that is never used
 * is to cost nothing.
 */
enum { ARC_SHOWN_BYTES = 256 }; /* longer lines are cut off by MPI */
void arc_module_show(const arc_module_t *module, const char *text);

/* What concerns this rank, unless the user wants no warnings. */
void arc_module_warn(const arc_module_t *module, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
