/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static arc_wait_cause_t cause(const arc_wait_times_t *times, const arc_task_t *task, unsigned *rank)
{
    const arc_module_t *module =
        (const arc_module_t *) ((const char *) times - offsetof(arc_module_t, times));

    unsigned from = 0;

    return module->component->awaited(module, task, &from, rank);
}

arc_module_t *arc_module_new(arc_component_t *component, struct ompi_communicator_t *comm)
{
    arc_module_t *module = (arc_module_t *) opal_obj_new(component->module_class);

    if (NULL != module) {
        module->component = component;
        module->comm = comm;
        module->agreement_tag = component->agreement_tag;
        module->times.cause = cause;
        module->wait = arc_module_wait(module);
        module->wait.times = component->timed ? &module->times : NULL;
    }
    return module;
}

void arc_module_free(const arc_module_t *module, void *memory)
{
    if (ARC_PHASE_BROKEN != module->phase) {
        free(memory);
    }
}

/* ---- what is counted ---- */

/* Other threads may be in calls of other communicators; a session may begin with some meanwhile. */
static void lock(arc_component_t *component, bool threads, int (*act)(pthread_mutex_t *mutex))
{
    if (threads) {
        (void) act(&component->lock);
    }
}

void arc_module_tally(arc_module_t *module, const arc_call_t *call, size_t outcome, size_t bytes)
{
    const uint32_t fact[ARC_TALLY_FACTS] = {
        [ARC_TALLY_COLLECTIVE] = arc_call_slot(call),
        [ARC_TALLY_OUTCOME] = (uint32_t) outcome,
        [ARC_TALLY_CLASS] = arc_tally_class(bytes),
        [ARC_TALLY_RANKS] = (uint32_t) ompi_comm_size(module->comm),
        [ARC_TALLY_NODES] = module->nodes,
    };

    const bool threads = mca_compat_threads();

    lock(module->component, threads, pthread_mutex_lock);
    arc_tally_row_t *row = arc_tally_count(module->component->tally, fact, bytes);
    lock(module->component, threads, pthread_mutex_unlock);
    /* Pending ones may end in a blocking one. */
    if (ARC_FORM_BLOCKING == call->form) {
        module->counted = row;
    }
}

/* UINT32_MAX: it is none of this job. */
static uint32_t world_rank(const arc_module_t *module, unsigned rank)
{
    if (rank >= (unsigned) ompi_comm_size(module->comm)) {
        return UINT32_MAX;
    }
    const opal_process_name_t name =
        ompi_group_get_proc_name(module->comm->c_local_group, (int) rank);
    return name.jobid == ompi_proc_local()->super.proc_name.jobid ? name.vpid : UINT32_MAX;
}

int arc_module_serve_timed(arc_module_t *module, const arc_call_t *call)
{
    if (0 != module->inside) {
        return module->component->serve(module, call); /* in the middle of one that is timed */
    }
    const int64_t begin_ns = arc_now_ns();

    module->counted = NULL;
    /* `cause` stays: before the call settles another thread may poll an operation that calls it. */
    memset(module->times.for_ns, 0, sizeof module->times.for_ns);
    module->times.longest_ns = 0;
    const int result = module->component->serve(module, call);
    arc_tally_row_t *row = module->counted;
    if (NULL != row) {
        const bool threads = mca_compat_threads();
        lock(module->component, threads, pthread_mutex_lock);
        row->call_ns += (uint64_t) (arc_now_ns() - begin_ns);
        row->late_ns += (uint64_t) module->times.for_ns[ARC_WAIT_LATE];
        row->messages_ns += (uint64_t) module->times.for_ns[ARC_WAIT_MESSAGES];
        if (module->times.longest_ns > (int64_t) row->wait_ns) {
            row->wait_ns = (uint64_t) module->times.longest_ns;
            row->awaited = world_rank(module, module->times.rank);
        }
        lock(module->component, threads, pthread_mutex_unlock);
    }
    return result;
}

/* ---- what is said ---- */

/* "coll_lowlat: communicator 3 of 4 ranks: ..." */
void arc_module_log(const arc_module_t *module, int level, const char *format, ...)
{
    enum { TEXT_BYTES = 512 };
    const bool of_rank = ARC_LOG_RANK == level;
    const int least = of_rank ? ARC_LOG_WARN : module->quiet ? ARC_LOG_CALL : level;
    char text[TEXT_BYTES];
    va_list arguments;

    if (*module->component->verbose < least || (!of_rank && 0 != ompi_comm_rank(module->comm))) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    opal_output(0, "coll_%s: %scommunicator %u of %d ranks: %s",
                arc_component_name(module->component),
                NULL != module->of ? "a persistent request on " : "",
                mca_compat_comm_id(module->comm), ompi_comm_size(module->comm), text);
}

void arc_module_show(const arc_module_t *module, const char *text)
{
    if (!module->quiet) {
        mca_compat_info_show(module->comm, module->component->choice_key, text);
    }
}

/* ---- the end ---- */

int arc_module_break(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                     const char *details)
{
    if (ARC_PHASE_BROKEN == module->phase) {
        return arc_module_broken_error(); /* which has been said */
    }
    module->phase = ARC_PHASE_BROKEN;
    arc_module_log(module, ARC_LOG_RANK,
                   "rank %d: %s failed: %s%s. It cannot be used on this communicator any more",
                   ompi_comm_rank(module->comm),
                   ARC_SLOTS == slot ? "a collective" : arc_slot_call(slot),
                   arc_status_text(status), details);
    return arc_module_broken_error();
}

int arc_module_broken_error(void)
{
    return MPI_ERR_OTHER;
}

int arc_module_fail(arc_module_t *module, arc_slot_t slot, arc_task_t *task, arc_status_t status)
{
    enum { TEXT_BYTES = 256 };
    char text[TEXT_BYTES] = "";
    size_t used = 0;
    unsigned from = 0;
    unsigned rank = 0;

    while (ARC_ERR_TIMEOUT == status && used < sizeof text) {
        (void) module->component->awaited(module, task, &from, &rank);
        if (UINT_MAX == rank) {
            break;
        }
        used += (size_t) snprintf(text + used, sizeof text - used, "%s%u",
                                  0 == used ? "; waiting for rank " : ", ", rank);
    }
    if (ARC_ERR_TIMEOUT == status) {
        arc_task_abort(task);
    }
    return arc_module_break(module, slot, status, text);
}

int arc_module_break_without(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                             const char *details, unsigned missing)
{
    enum { TEXT_BYTES = 96 };
    char text[TEXT_BYTES];

    if (ARC_ERR_TIMEOUT != status) {
        return arc_module_break(module, slot, status, details);
    }
    (void) snprintf(text, sizeof text, "%s; %s rank %u", details,
                    missing == (unsigned) ompi_comm_rank(module->comm)
                        ? "the others have waited for this one,"
                        : "waiting for",
                    missing);
    return arc_module_break(module, slot, status, text);
}

/* ---- the class ---- */

/* All that is ours, and the component's, is 0, NULL or false where nothing else is said. */
static void module_construct(arc_module_t *module)
{
    const size_t bytes = ((opal_object_t *) module)->obj_class->cls_sizeof;

    memset((char *) module + sizeof module->super, 0, bytes - sizeof module->super);
    module->wanted = arc_slot_bit(ARC_SLOT_allreduce);
    module->declined = ARC_REASON_OFF;
}

static void module_destruct(arc_module_t *module)
{
#define X(_name, _call)                              \
    if (NULL != module->below_##_name##_module) {    \
        OBJ_RELEASE(module->below_##_name##_module); \
    }
    ARC_SLOT_TABLE(X)
#undef X
}

OBJ_CLASS_INSTANCE(arc_module_t, mca_coll_base_module_t, module_construct, module_destruct);
