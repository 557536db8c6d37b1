/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_request.h"

#include "mca_below.h"
#include "mca_presence.h"

/*
 * For each communicator that has nonblocking calls, and for each persistent request: those of the
 * component's streams, from the first one downwards; of a gather and of an agreement; and that of
 * mca_plain.c.
 */
enum { TAGS = 8, AGREEMENT_TAG = 6 };

typedef struct arc_request {
    ompi_coll_base_nbc_request_t super; /* first: Open MPI's view */
    arc_pending_t pending;              /* its call is the one below */
    arc_module_t *module;               /* a persistent one's own */
    arc_call_t call;
} arc_request_t;

OBJ_CLASS_INSTANCE(arc_request_t, ompi_coll_base_nbc_request_t, NULL, NULL);

/* Of this process and component. */
static struct {
    opal_free_list_t requests;
    arc_queues_t queues;
} all;

/* ---- run a call of a queue ---- */

static arc_module_t *module_of(arc_queue_t *queue)
{
    return (arc_module_t *) ((char *) queue - offsetof(arc_module_t, queue));
}

/* A request's own module has its tags for good. */
static void use_tags(arc_module_t *module, const arc_call_t *call)
{
    module->tags = NULL == module->of ? call->tags : module->reserved;
}

static arc_task_t *begin_task(arc_queue_t *queue, const void *call)
{
    arc_module_t *module = module_of(queue);

    use_tags(module, call);
    return NULL == module->component->direct ? NULL : module->component->direct(module, call);
}

static int end_task(arc_queue_t *queue, arc_status_t status)
{
    return module_of(queue)->component->directed(module_of(queue), status);
}

static int run_blocking(arc_queue_t *queue, const void *call)
{
    use_tags(module_of(queue), call);
    return module_of(queue)->component->serve(module_of(queue), call);
}

static int lack_fiber(arc_queue_t *queue, const void *call)
{
    return arc_module_break(module_of(queue), arc_call_slot(call), ARC_ERR_NO_MEMORY,
                            " for a stack");
}

static const arc_queue_ops_t queue_ops = {begin_task, end_task, run_blocking, lack_fiber};

/* ---- for Open MPI's progress function ---- */

/* A request that is complete may be gone at once. */
static void complete(ompi_request_t *base, int result, bool signals)
{
    base->req_status.MPI_ERROR = result;
    base->req_type = MPI_SUCCESS == result ? OMPI_REQUEST_COLL : MCA_COMPAT_REQUEST_FAILED;
    (void) ompi_request_complete(base, signals);
}

static int progress(void)
{
    arc_pending_t *ended = NULL;

    const int count = arc_queues_poll(&all.queues, &ended);
    while (NULL != ended) { /* from the last to the first */
        void *request = (char *) ended - offsetof(arc_request_t, pending);
        const int result = ended->result;

        ended = ended->next;
        complete(request, result, true);
    }
    return count;
}

static void drive(arc_queues_t *queues, bool on)
{
    (void) queues;
    (void) (on ? opal_progress_register : opal_progress_unregister)(progress);
}

/* ---- requests ---- */

static int request_free(ompi_request_t **handle)
{
    arc_request_t *request = (arc_request_t *) *handle;
    struct ompi_communicator_t *comm = request->module->comm;
    const bool persistent = request->super.super.req_persistent;
    const bool failed = MPI_SUCCESS != request->super.super.req_status.MPI_ERROR;

    if (!REQUEST_COMPLETE(&request->super.super)) {
        return MPI_ERR_REQUEST;
    }
    OMPI_REQUEST_FINI(&request->super.super);
    if (persistent) {
        arc_call_hold(&request->call, false);
        OBJ_RELEASE(request->module);
    }
    opal_free_list_return(&all.requests, &request->super.super.super);
    *handle = MPI_REQUEST_NULL;
    if (!failed || (persistent && !MCA_COMPAT_FREES_FAILED_PERSISTENT)) {
        OBJ_RELEASE(comm); /* which may be its end */
    }
    return OMPI_SUCCESS;
}

static arc_request_t *make_request(arc_module_t *module, const arc_call_t *call, bool persistent)
{
    arc_request_t *request = (arc_request_t *) opal_free_list_get(&all.requests);

    if (NULL == request) {
        return NULL;
    }
    ompi_request_t *base = &request->super.super;
    OMPI_REQUEST_INIT(base, persistent);
    base->req_type = OMPI_REQUEST_COLL;
    base->req_status = (ompi_status_public_t){
        .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
    base->req_free = request_free;
    base->req_cancel = NULL;
    base->req_start = NULL;
    base->req_mpi_object.comm = module->comm;
    request->module = module;
    request->call = *call;
    request->pending.call = &request->call;
    OBJ_RETAIN(module->comm);
    return request;
}

/*
 * A queue and tags at the first call that is admitted; new tags at ARC_TAGS_REACH.  All ranks start
 * the nonblocking collectives of a communicator in one order, so they come there at the same call.
 */
static void begin_queue(arc_module_t *module)
{
    const int behind = module->reserved - module->comm->c_nbc_tag;

    if (0 == module->reserved || behind < 0 || behind > module->component->tags_reach) {
        module->reserved = ompi_coll_base_nbc_reserve_tags(module->comm, TAGS);
        module->queue.ops = &queue_ops;
        module->queue.wait = &module->wait;
    }
}

/*
 * Open MPI agrees on the number of a new communicator by a few of these on the old one, some of
 * them in its progress function, where ranks may have another order.  They are no sign that the
 * program uses the communicator, nor the program's calls, and so go down uncounted.
 */
static bool is_open_mpis_own(const arc_call_t *call)
{
    enum { MOST_INTS = 4 };

    return &ompi_mpi_int.dt == call->type && call->count <= MOST_INTS &&
           (&ompi_mpi_op_max.op == call->op || &ompi_mpi_op_min.op == call->op);
}

/*
 * A sum of 16-bit floats, which is to be served, before the module knows its ranks: those without
 * the component would add MPI_UINT16_T as integers.  (They can add MPIX_C_FLOAT16.)
 */
static int refuse_halves(arc_module_t *module)
{
    if (arc_module_first(module, ARC_SAID_HALVES)) {
        arc_module_log(
            module, ARC_LOG_WARN,
            "a sum of 16-bit floats that is not blocking needs a blocking one before it");
    }
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

int arc_request_start(arc_module_t *module, arc_call_t *call, ompi_request_t **request)
{
    int result = MPI_SUCCESS;

    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    if (ARC_PHASE_BROKEN == module->phase) {
        return arc_module_broken_error(); /* below it would wait for the rank that is missing */
    }
    if (OPAL_UNLIKELY(is_open_mpis_own(call))) {
        return arc_below_start(module, call, request);
    }
    if (!module->unsettled) {
        module->component->settled(module);
    }
    arc_reason_t reason = module->component->decide(module, call, ARC_AT_START);
    if (ARC_REASON_NONE == reason && ARC_PHASE_FRESH == module->phase &&
        (ARC_PRESENCE_UNKNOWN == module->presence || arc_module_is_only_said(module))) {
        if (&ompi_mpi_uint16_t.dt == call->type) {
            return refuse_halves(module);
        }
        reason = ARC_REASON_YOUNG;
    }
    if (ARC_REASON_NONE != reason) {
        arc_module_count_pass(module, reason, call);
        return arc_below_start(module, call, request);
    }
    begin_queue(module);
    call->tags = module->reserved;
    module->unsettled = true;
    if (arc_queue_try(&all.queues, &module->queue, call, &result)) {
        *request = &ompi_request_empty;
        return result;
    }
    arc_request_t *made = make_request(module, call, false);
    if (NULL == made) {
        /* It may have begun: there is no way back, but no message may come into its memory. */
        if (arc_queue_is_idle(&module->queue) && module->queue.running) {
            arc_task_abort(module->queue.task);
        }
        return arc_module_break(module, arc_call_slot(call), ARC_ERR_NO_MEMORY, "");
    }
    made->super.super.req_state = OMPI_REQUEST_ACTIVE;
    *request = &made->super.super;
    arc_queue_append(&all.queues, &module->queue, &made->pending);
    return MPI_SUCCESS;
}

/* ---- persistent ones ---- */

static int start_all(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        arc_request_t *request = (arc_request_t *) requests[i];
        arc_queue_t *queue = &request->module->queue;
        int result = MPI_SUCCESS;

        requests[i]->req_state = OMPI_REQUEST_ACTIVE;
        requests[i]->req_status.MPI_ERROR = MPI_SUCCESS;
        requests[i]->req_complete = REQUEST_PENDING;
        if (arc_queue_try(&all.queues, queue, &request->call, &result)) {
            complete(requests[i], result, false);
        } else {
            arc_queue_append(&all.queues, queue, &request->pending);
        }
    }
    return OMPI_SUCCESS;
}

/*
 * A module for a persistent request, still to be set up.  It begins with what the ranks have agreed
 * on so far.  It has nothing below it: what it passes down goes to mca_plain.c.  NULL: no memory.
 */
static arc_module_t *open_own(arc_module_t *module)
{
    arc_module_t *own = arc_module_new(module->component, module->comm);

    if (NULL == own) {
        return NULL;
    }
    own->of = module;
    own->quiet = module->has_requests || ARC_PHASE_READY == module->phase;
    module->has_requests = true;
    own->presence = ARC_PHASE_FRESH == module->phase ? module->presence : ARC_PRESENCE_KNOWN;
    if (ARC_PHASE_DECLINED == module->phase) {
        own->phase = ARC_PHASE_DECLINED;
        own->declined = module->declined;
    }
    own->component->enabled(own);
    begin_queue(own);
    own->tags = own->reserved;
    own->agreement_tag = own->tags - AGREEMENT_TAG;
    return own;
}

/* A request with a module of its own, still to be set up.  NULL: no memory. */
static arc_request_t *make_persistent(arc_module_t *module, const arc_call_t *call)
{
    arc_module_t *own = open_own(module);
    arc_request_t *made = NULL == own ? NULL : make_request(own, call, true);

    if (NULL != made) {
        arc_call_hold(call, true);
        made->super.super.req_start = start_all;
    } else if (NULL != own) {
        OBJ_RELEASE(own);
    }
    return made;
}

int arc_request_init(arc_module_t *module, const arc_call_t *call, struct ompi_info_t *info,
                     ompi_request_t **request)
{
    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    arc_module_settle(module);
    const bool may_be_alone = arc_module_may_be_alone(module); /* then no tag may be taken */
    if (!may_be_alone) {
        arc_presence_find(module);
    }
    if (ARC_PHASE_BROKEN == module->phase) {
        return arc_module_broken_error();
    }
    if (may_be_alone && ARC_PHASE_FRESH == module->phase && &ompi_mpi_uint16_t.dt == call->type) {
        arc_call_t asked = *call;
        if (ARC_REASON_NONE == module->component->decide(module, &asked, ARC_AT_INIT)) {
            return refuse_halves(module);
        }
    }
    if (may_be_alone ||
        (ARC_PRESENCE_KNOWN != module->presence && ARC_PRESENCE_SAID != module->presence)) {
        arc_module_count_pass(
            module, ARC_PHASE_FRESH == module->phase ? ARC_REASON_YOUNG : module->declined, call);
        return arc_below_init(module, call, info, request);
    }
    arc_request_t *made = make_persistent(module, call);
    if (NULL == made) {
        /* The other ranks wait for this one, or will start theirs. */
        return arc_module_break(module, arc_call_slot(call), ARC_ERR_NO_MEMORY, "");
    }
    ompi_request_t *base = &made->super.super;
    arc_module_t *own = made->module;
    const arc_reason_t reason = own->component->decide(own, &made->call, ARC_AT_INIT);
    const bool broken = ARC_PHASE_BROKEN == own->phase;
    if (!broken && ARC_REASON_NONE == reason) {
        *request = base;
        return MPI_SUCCESS;
    }
    (void) request_free(&base);
    if (broken) {
        return arc_module_broken_error();
    }
    arc_module_count_pass(module, reason, call);
    return arc_below_init(module, call, info, request);
}

/* ---- the rest ---- */

void arc_module_settle_pending(arc_module_t *module)
{
    if (arc_fiber_inside()) {
        return;
    }
    while (!arc_queue_is_idle(&module->queue)) {
        (void) opal_progress();
    }
    module->unsettled = false;
    module->tags = 0;
}

void arc_requests_open(void)
{
    enum { PER_ALLOCATION = 64 };

    OBJ_CONSTRUCT(&all.requests, opal_free_list_t);
    (void) opal_free_list_init(&all.requests, sizeof(arc_request_t), opal_cache_line_size,
                               OBJ_CLASS(arc_request_t), 0, 0, 0, -1, PER_ALLOCATION, NULL, 0, NULL,
                               NULL, NULL);
    arc_queues_open(&all.queues, drive);
}

void arc_requests_close(void)
{
    arc_queues_close(&all.queues);
    OBJ_DESTRUCT(&all.requests);
}
