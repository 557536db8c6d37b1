/*
 * What Open MPI and the common code know of a component: a descriptor with callbacks of one line
 * each, because Open MPI's do not say which component they are for; and of each communicator: a
 * module.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_MODULE_H
#define MCA_MODULE_H

#include <pthread.h>

#include "mca_call.h"
#include "param.h"
#include "queue.h"
#include "settled.h"
#include "tally.h"
#include "task.h"
#include "wait.h"

typedef struct arc_module arc_module_t;

/* What Open MPI calls, of each slot; NULL if the component has none (mca_entry.h). */
typedef struct arc_entries {
#define X(_name, _call) mca_coll_base_module_##_name##_fn_t _name;
    ARC_SLOT_TABLE(X)
#undef X
} arc_entries_t;

/* Serve a call, or pass it down, and wait for its end: an MPI error code. */
typedef int (*arc_serve_fn_t)(arc_module_t *module, const arc_call_t *call);

/*
 * When it is decided whether a call is served.  START: a nonblocking one is started, no rank waits,
 * and only what all know alike counts.  INIT: a persistent request is made, all ranks are here.
 * RUN: a blocking call, or one that was admitted and is not begun.
 */
typedef enum arc_moment { ARC_AT_START, ARC_AT_INIT, ARC_AT_RUN } arc_moment_t;

typedef struct arc_component {
    mca_coll_base_component_t super; /* first: Open MPI's view */

    /* Set by the component. */
    const arc_param_t *params; /* up to one without a name */
    void *config;              /* what the parameters are stored in */
    const int *priority;
    const int *verbose;
    const bool *installed_everywhere;
    const int *setup_calls;
    const int *timeout;      /* seconds, of agreements; 0: none */
    const char *const *file; /* to write the report to; "": none */
    int agreement_tag;       /* MCA_COMPAT_TAG_...: its own */
    int tags_reach;          /* ARC_TAGS_REACH */
    const char *choice_key;  /* info key, for arc_module_show() */
    char *presence_key;      /* what it is published as (mca_presence.h) */
    const char *const *algorithm_names;
    size_t algorithms;
    opal_class_t *module_class;   /* derives from arc_module_t */
    const arc_entries_t *entries; /* each component has an allreduce */
    arc_serve_fn_t serve;         /* a blocking call, or in a fiber one that was admitted */
    /* Do the parameters want the component?  If not, ranks may lack it.  NULL: they do. */
    bool (*wanted)(void);
    /* Nothing is pending, and all ranks know the same: keep for `decide` what it may look at. */
    void (*settled)(arc_module_t *module);
    /*
     * Is this call, not a blocking one, served?  ARC_AT_START: by what all ranks know alike at this
     * place in the order of calls: while module->unsettled is set, not by what pending operations
     * change.  ARC_AT_INIT: sets up the module, which is a persistent request's.
     */
    arc_reason_t (*decide)(arc_module_t *module, arc_call_t *call, arc_moment_t moment);
    /* Begin the call as a task; returns NULL if that has to wait.  May be NULL itself. */
    arc_task_t *(*direct)(arc_module_t *module, const arc_call_t *call);
    /* That task has ended with `status`: returns what MPI is to return. */
    int (*directed)(arc_module_t *module, arc_status_t status);
    /*
     * What does a task of ours wait for, and which rank of the communicator?  UINT_MAX: none.
     * *from, 0 at first, leads to the next one.
     */
    arc_wait_cause_t (*awaited)(const arc_module_t *module, const arc_task_t *task, unsigned *from,
                                unsigned *rank);
    /* The module is enabled, in the slot of allreduce, or made for a request.  Cannot fail. */
    void (*enabled)(arc_module_t *module);
    /* Ranks are not alike: none does any more what only its own parameters say. */
    void (*disagreed)(arc_module_t *module);

    /* Ours. */
    char *param_text[ARC_MAX_PARAMS]; /* what the user wrote; of text Open MPI's storage */
    bool param_refused[ARC_MAX_PARAMS];
    bool param_set[ARC_MAX_PARAMS]; /* by the user, not the default */
    bool in_whole_world;            /* all processes of MPI_COMM_WORLD have it */
    bool asks_in_vain; /* a process has not answered: this one knows of no other any more */
    bool absence_told;
    bool first_process; /* rank 0 of MPI_COMM_WORLD: the one that talks */
    unsigned rank;      /* in MPI_COMM_WORLD; UINT32_MAX: not known */
    pthread_mutex_t lock;
    arc_tally_t *tally; /* of all communicators, also those that are gone; NULL: nobody asks */
    bool timed;         /* blocking calls are, for files */
    char *report_file;
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

/* Have all ranks the component, with the same parameters?  The same on all that have it. */
typedef enum arc_presence {
    ARC_PRESENCE_UNKNOWN, /* nobody was asked so far */
    ARC_PRESENCE_SAID,    /* all have it, says the user; parameters may differ */
    ARC_PRESENCE_KNOWN,   /* yes */
    ARC_PRESENCE_LACKING  /* no: declined for ever */
} arc_presence_t;

typedef struct arc_module_calls {
    unsigned long long calls;
    unsigned long long bytes;
} arc_module_calls_t;

struct arc_module {
    mca_coll_base_module_t super; /* first: Open MPI's view */
    arc_component_t *component;
    struct ompi_communicator_t *comm;
    /* For a persistent request's (mca_request.h): the communicator's module; NULL: this is it. */
    arc_module_t *of;
    bool has_requests; /* some were made, and have logged the choice */
    bool quiet;        /* another module has logged the same */
    unsigned said;     /* once: bits of arc_module_first() */
    unsigned wanted;   /* slots, the same on all ranks: by default that of allreduce */
    unsigned entered;  /* slots in whose chain of components this module is */
    unsigned inside;   /* slots in which a call of the component below is under way */
    /* What was in each slot before us. */
#define X(_name, _call)                                \
    mca_coll_base_module_##_name##_fn_t below_##_name; \
    mca_coll_base_module_t *below_##_name##_module;
    ARC_SLOT_TABLE(X)
#undef X
    /* Its calls, and those of its requests, for MPI_T. */
    arc_module_calls_t served;
    arc_module_calls_t passed;
    int last_call; /* 1 + its outcome; 0: there was none */
    arc_phase_t phase;
    arc_presence_t presence;
    bool key_was_set;    /* by the program, perhaps on this rank alone */
    bool slots_alike;    /* all ranks are in the same slots, whatever a key says */
    int64_t calls_to_go; /* in ARC_PHASE_FRESH, until the set-up; the same on all ranks */
    arc_reason_t declined;
    int agreement_tag;        /* the component's, or a request's own */
    unsigned nodes;           /* of the communicator; 0: not known so far */
    arc_wait_times_t times;   /* of that call */
    arc_tally_row_t *counted; /* where a call that is timed is counted; NULL: not yet */
    bool unsettled;           /* nonblocking calls were made since the last blocking one */
    arc_queue_t queue;        /* of these; without `reserved` there were none */
    arc_wait_t wait;          /* of its tasks: for messages, but for what the component sets */
    int reserved; /* the first of the tags of nonblocking calls, going downwards; 0: none so far */
    int tags;     /* those of the call that runs, likewise; 0: a blocking one */
};
OBJ_CLASS_DECLARATION(arc_module_t);

/* A module of the communicator, in no slot; released with OBJ_RELEASE.  NULL: no memory. */
arc_module_t *arc_module_new(arc_component_t *component, struct ompi_communicator_t *comm);

/* A wait for messages, with the component's time limit. */
static inline arc_wait_t arc_module_wait(const arc_module_t *module)
{
    return (arc_wait_t){.progress = mca_compat_progress,
                        .timeout_ns = *module->component->timeout * ARC_NS_PER_SECOND};
}

/*
 * Free memory that messages of the module are sent from or received in, unless one may still be
 * under way: in a broken module a send cannot be taken back.
 */
void arc_module_free(const arc_module_t *module, void *memory);

/* Count a call and its outcome (tally.h); `bytes` of all blocks. */
void arc_module_tally(arc_module_t *module, const arc_call_t *call, size_t outcome, size_t bytes);
static inline void arc_module_count(arc_module_t *module, const arc_call_t *call, size_t outcome,
                                    size_t bytes)
{
    arc_module_t *told = NULL == module->of ? module : module->of;
    arc_module_calls_t *sum = outcome < ARC_TALLY_PASSED ? &told->served : &told->passed;

    told->last_call = 1 + (int) outcome;
    bytes >>= call->widened;
    if (OPAL_UNLIKELY(mca_compat_threads())) {
        (void) __atomic_add_fetch(&sum->calls, 1, __ATOMIC_RELAXED);
        (void) __atomic_add_fetch(&sum->bytes, bytes, __ATOMIC_RELAXED);
    } else {
        sum->calls += 1;
        sum->bytes += bytes;
    }
    if (OPAL_UNLIKELY(NULL != module->component->tally)) {
        arc_module_tally(module, call, outcome, bytes);
    }
}

/* Serve a blocking call, where calls are timed. */
int arc_module_serve_timed(arc_module_t *module, const arc_call_t *call);

/* Do the slots follow parameters of which only the user has said that all ranks have the same? */
static inline bool arc_module_is_only_said(const arc_module_t *module)
{
    return ARC_PRESENCE_SAID == module->presence && NULL != module->component->wanted;
}

/* Has the comparison of parameters, or of what the key says, found that they differ? */
static inline bool arc_module_has_differed(const arc_module_t *module)
{
    return ARC_PHASE_DECLINED == module->phase && ARC_REASON_CONFIG_DIFFERS == module->declined;
}

/*
 * May other ranks be absent from slots of calls that do not block?  Then no call there may send
 * messages, take tags or count towards the set-up.
 */
static inline bool arc_module_may_be_alone(const arc_module_t *module)
{
    const bool is_fresh = ARC_PHASE_FRESH == module->phase;

    return (is_fresh && arc_module_is_only_said(module)) ||
           (!module->slots_alike &&
            ((is_fresh && module->key_was_set) || arc_module_has_differed(module)));
}

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
 * ---- what is said of a communicator, on standard error and in its info; and the end of a module
 * in the middle of a call, which is said ----
 */

/*
 * Levels of parameter verbose.  ARC_LOG_RANK: none of them, but a warning that concerns this rank.
 * ARC_LOG_REPORT: what was served, at MPI_Finalize.
 */
enum { ARC_LOG_RANK, ARC_LOG_WARN, ARC_LOG_REPORT, ARC_LOG_CHOICE = 10, ARC_LOG_CALL = 20 };

/*
 * Print "coll_<name>: ..." on standard error if the user asked for this level: rank 0 of the
 * communicator does, or of a warning that concerns a rank, this one.
 */
void arc_module_log(const arc_module_t *module, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * What is in effect on the communicator, in a line: MPI_Comm_get_info has it under the component's
 * choice_key.  NULL: nothing any more.  Not before the set-up: a communicator that is never used
 * is to cost nothing.
 */
enum { ARC_SHOWN_BYTES = 256 }; /* longer lines are cut off by MPI */
void arc_module_show(const arc_module_t *module, const char *text);

enum { ARC_SAID_HALVES = 31 }; /* that a sum of 16-bit floats was refused */

/* Is it the first time on the communicator?  `what`: that, or a smaller number of the component. */
static inline bool arc_module_first(arc_module_t *module, unsigned what)
{
    const unsigned before = module->said;

    module->said |= 1U << what;
    return before != module->said;
}

/*
 * A call of a slot, or what several calls have in common (ARC_SLOTS), failed after its first byte
 * was out: say so, break the module for good, and return an MPI error.  If it is broken already,
 * nothing is said.  Later calls return arc_module_broken_error().
 */
int arc_module_break(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                     const char *details);
int arc_module_broken_error(void);

/* The same of a task, which is given up; after a time limit it says for which ranks it waits. */
int arc_module_fail(arc_module_t *module, arc_slot_t slot, arc_task_t *task, arc_status_t status);

/* The same without a task; after a time limit it says that rank `missing` was waited for. */
int arc_module_break_without(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                             const char *details, unsigned missing);

/*
 * ---- what both components do alike when they are opened and closed, and asked whether they serve
 * a communicator (mca_component.c) ----
 */

/* The bodies of the component's callbacks. */
int arc_component_register(arc_component_t *component);
int arc_component_open(arc_component_t *component);
int arc_component_close(arc_component_t *component);
int arc_component_init_query(arc_component_t *component);
mca_coll_base_module_t *arc_component_query(arc_component_t *component,
                                            struct ompi_communicator_t *comm, int *priority);

/*
 * So many tags Open MPI's nonblocking collectives may take before calls of ours take new ones: some
 * networks carry 24 bits, and would take theirs for ours after 2^24.
 */
enum { ARC_TAGS_REACH = ARC_SETTLED(1 << 20, 24) };

/*
 * The descriptor of coll_<name>, with fields that only this one has: what it calls its functions
 * and its parameters is the same in all components.  `_config`: the field with the parameters.
 */
#define ARC_COMPONENT(_name, _config, ...)                                                       \
    {                                                                                            \
        .super =                                                                                 \
            {                                                                                    \
                .collm_version =                                                                 \
                    {                                                                            \
                        MCA_COMPAT_COLL_VERSION,                                                 \
                        .mca_component_name = #_name,                                            \
                        MCA_BASE_MAKE_VERSION(component, ARC_MAJOR, ARC_MINOR, ARC_PATCH),       \
                        .mca_open_component = _name##_open,                                      \
                        .mca_close_component = _name##_close,                                    \
                        .mca_register_component_params = _name##_register,                       \
                    },                                                                           \
                .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},                     \
                .collm_init_query = _name##_init_query,                                          \
                .collm_comm_query = _name##_comm_query,                                          \
            },                                                                                   \
        .config = &mca_coll_##_name##_component._config, .params = _name##_params,               \
        .priority = &mca_coll_##_name##_component._config.priority,                              \
        .verbose = &mca_coll_##_name##_component._config.arc_verbose,                            \
        .file = &mca_coll_##_name##_component._config.arc_report_file,                           \
        .timeout = &mca_coll_##_name##_component._config.arc_timeout,                            \
        .installed_everywhere = &mca_coll_##_name##_component._config.arc_installed_everywhere,  \
        .setup_calls = &mca_coll_##_name##_component._config.arc_setup_calls,                    \
        .choice_key = "arc_" #_name "_choice", .presence_key = (char[]){"arc coll_" #_name},     \
        .module_class = OBJ_CLASS(_name##_module_t), .entries = &coll_##_name##_entries,         \
        .serve = coll_##_name##_serve, .settled = coll_##_name##_settled,                        \
        .decide = coll_##_name##_decide, .awaited = _name##_awaited, .enabled = _name##_enabled, \
        .disagreed = _name##_disagreed, .tags_reach = ARC_TAGS_REACH, __VA_ARGS__                \
    }

/* Is the component in the list that the user gave with --mca coll?  False for an exclude list. */
bool arc_component_listed(const arc_component_t *component);

#endif
