/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_request.h"

#include <stdlib.h>

#include "mca_below.h"
#include "wait.h"

enum {
    TAGS = 8,          /* for each communicator that has nonblocking calls */
    START_POLLS = 24,  /* in the start, with arc_wait_moment(): about half a microsecond */
    AT_ONCE = 8,       /* operations of a communicator that may end in one poll */
    IDLE_POLLS = 1000, /* with nothing pending, before the progress function is taken back */
};

typedef struct arc_request {
    ompi_coll_base_nbc_request_t super; /* first: Open MPI's view */
    struct arc_request *next;           /* in the queue, or of those that have ended */
    arc_module_t *module;
    arc_call_t call;
    int result; /* of a fiber */
} arc_request_t;

OBJ_CLASS_INSTANCE(arc_request_t, ompi_coll_base_nbc_request_t, NULL, NULL);

struct arc_queue {
    arc_module_t *module;
    arc_request_t *front; /* NULL: nothing is pending */
    arc_request_t *last;
    arc_queue_t *next_active;
    bool running;     /* the one at the front has begun, */
    arc_task_t *task; /* as this task; NULL: in the fiber */
    arc_wait_watch_t watch;
    arc_fiber_t *fiber; /* NULL: none was needed so far */
};

/* Of this process and component. */
static struct {
    opal_free_list_t requests;
    pthread_mutex_t lock; /* with threads; else `busy` is enough */
    bool busy;
    arc_queue_t *active; /* with something pending */
    bool registered;
    unsigned idle;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- one at a time ---- */

/* Only to start something, from which nobody comes back to here. */
static void enter(void)
{
    if (mca_compat_threads()) {
        (void) pthread_mutex_lock(&all.lock);
    }
    all.busy = true;
}

/* False: somebody is in, perhaps further up on our own stack. */
static bool try_to_enter(void)
{
    if (mca_compat_threads() ? 0 != pthread_mutex_trylock(&all.lock) : all.busy) {
        return false;
    }
    all.busy = true;
    return true;
}

static void leave(void)
{
    all.busy = false;
    if (mca_compat_threads()) {
        (void) pthread_mutex_unlock(&all.lock);
    }
}

/* ---- run what is at the front ---- */

static void run_in_fiber(void *context)
{
    arc_request_t *request = context;

    request->result = arc_own_blocking(request->module, &request->call);
}

/* As a task, or NULL: in a fiber. */
static arc_task_t *begin_task(arc_queue_t *queue, const arc_call_t *call)
{
    arc_module_t *module = queue->module;

    module->form = call->form;
    queue->task =
        NULL == module->component->direct ? NULL : module->component->direct(module, call);
    arc_wait_watch(&queue->watch, module->component->wait(module), queue->task);
    queue->running = true;
    return queue->task;
}

static bool begin_fiber(arc_queue_t *queue, arc_request_t *request)
{
    if (NULL == queue->fiber) {
        queue->fiber = arc_fiber_new();
    }
    if (NULL == queue->fiber) {
        request->result = arc_module_break_call(queue->module, request->call.collective,
                                                ARC_ERR_NO_MEMORY, " for a stack");
        return false;
    }
    arc_fiber_begin(queue->fiber, run_in_fiber, request);
    return true;
}

/* One poll of a task.  ARC_IN_PROGRESS, or what it came to within its time limit. */
static arc_status_t poll_task(arc_queue_t *queue)
{
    arc_module_t *module = queue->module;
    const arc_status_t status = queue->task->ops->progress(queue->task);

    return OPAL_LIKELY(ARC_IN_PROGRESS != status)
               ? status
               : arc_wait_check(&queue->watch, module->component->wait(module), queue->task);
}

static int end_task(arc_queue_t *queue, arc_status_t status)
{
    arc_module_t *module = queue->module;
    const int result = module->component->directed(module, status);

    module->form = ARC_FORM_BLOCKING;
    queue->running = false;
    return result;
}

/* Has the one at the front ended?  Then *result says how. */
static bool advance(arc_queue_t *queue, int *result)
{
    arc_request_t *request = queue->front;

    if (!queue->running && NULL == begin_task(queue, &request->call) &&
        !begin_fiber(queue, request)) {
        queue->module->form = ARC_FORM_BLOCKING;
        queue->running = false;
        *result = request->result;
        return true;
    }
    if (NULL != queue->task) {
        const arc_status_t status = poll_task(queue);
        if (ARC_IN_PROGRESS == status) {
            return false;
        }
        *result = end_task(queue, status);
        return true;
    }
    if (arc_fiber_resume(queue->fiber)) {
        return false;
    }
    queue->module->form = ARC_FORM_BLOCKING;
    queue->running = false;
    *result = request->result;
    return true;
}

/* Run a queue as far as it comes; what has ended is put in front of *ended. */
static int run_queue(arc_queue_t *queue, arc_request_t **ended)
{
    int count = 0;
    int result = MPI_SUCCESS;

    while (count < AT_ONCE && NULL != queue->front && advance(queue, &result)) {
        arc_request_t *request = queue->front;

        /* Another thread may look at the module as soon as nothing is pending. */
        __atomic_store_n(&queue->front, request->next, __ATOMIC_RELEASE);
        request->super.super.req_status.MPI_ERROR = result;
        request->next = *ended;
        *ended = request;
        ++count;
    }
    return count;
}

/* From the last to the first.  A request that is complete may be gone at once. */
static void complete_all(arc_request_t *ended)
{
    while (NULL != ended) {
        arc_request_t *next = ended->next;

        (void) ompi_request_complete(&ended->super.super, true);
        ended = next;
    }
}

/* ---- for Open MPI's progress function ---- */

static int progress(void)
{
    arc_request_t *ended = NULL;
    int count = 0;

    if (!try_to_enter()) {
        return 0;
    }
    for (arc_queue_t **place = &all.active; NULL != *place;) {
        arc_queue_t *queue = *place;

        count += run_queue(queue, &ended);
        if (NULL == queue->front) {
            *place = queue->next_active;
        } else {
            place = &queue->next_active;
        }
    }
    all.idle = NULL == all.active ? all.idle + 1 : 0;
    if (all.idle > IDLE_POLLS) {
        all.registered = false;
        (void) opal_progress_unregister(progress);
    }
    complete_all(ended);
    leave();
    return count;
}

static void be_driven(arc_queue_t *queue)
{
    queue->next_active = all.active;
    all.active = queue;
    all.idle = 0;
    if (!all.registered) {
        all.registered = true;
        (void) opal_progress_register(progress);
    }
}

/* ---- requests ---- */

static int request_free(ompi_request_t **handle)
{
    arc_request_t *request = (arc_request_t *) *handle;
    struct ompi_communicator_t *comm = request->module->comm;

    if (!REQUEST_COMPLETE(&request->super.super)) {
        return MPI_ERR_REQUEST;
    }
    if (request->super.super.req_persistent) {
        arc_call_hold(&request->call, false);
    }
    OMPI_REQUEST_FINI(&request->super.super);
    opal_free_list_return(&all.requests, &request->super.super.super);
    *handle = MPI_REQUEST_NULL;
    OBJ_RELEASE(comm); /* which may be its end */
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
    OBJ_RETAIN(module->comm);
    return request;
}

/* The queue of the module, and tags of its own, at the first call that is admitted. */
static bool have_queue(arc_module_t *module)
{
    if (NULL == module->queue) {
        module->queue = calloc(1, sizeof *module->queue);
        if (NULL == module->queue) {
            return false;
        }
        module->queue->module = module;
    }
    if (0 == module->tags) {
        module->tags = ompi_coll_base_nbc_reserve_tags(module->comm, TAGS);
        if (NULL != module->component->retag) {
            module->component->retag(module);
        }
    }
    return true;
}

static void append(arc_queue_t *queue, arc_request_t *request)
{
    request->next = NULL;
    if (NULL == queue->front) {
        queue->front = request;
        be_driven(queue);
    } else {
        queue->last->next = request;
    }
    queue->last = request;
}

/*
 * An operation on a module with nothing pending, if it can be a task, and ends within a few polls.
 * Otherwise it may have begun, and must be appended.
 */
static bool run_at_once(arc_queue_t *queue, const arc_call_t *call, int *result)
{
    const unsigned polls =
        0 == queue->module->component->wait(queue->module)->spins ? 1 : START_POLLS;
    arc_status_t status = ARC_IN_PROGRESS;

    if (NULL == begin_task(queue, call)) {
        queue->running = false;
        queue->module->form = ARC_FORM_BLOCKING;
        return false;
    }
    for (unsigned poll = 0; poll < polls && ARC_IN_PROGRESS == status; ++poll) {
        status = poll_task(queue);
        if (ARC_IN_PROGRESS == status) {
            arc_wait_moment();
        }
    }
    if (ARC_IN_PROGRESS == status) {
        return false;
    }
    *result = end_task(queue, status);
    return true;
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

int arc_request_start(arc_module_t *module, const arc_call_t *call, ompi_request_t **request)
{
    int result = MPI_SUCCESS;

    if (OPAL_UNLIKELY(is_open_mpis_own(call))) {
        return arc_below_start(module, call, request);
    }
    enter();
    if (!module->unsettled) {
        module->component->settled(module);
    }
    const arc_reason_t reason = module->component->admit(module, call);
    if (ARC_REASON_NONE != reason) {
        arc_module_count_pass_call(module, reason, call);
        leave();
        return arc_below_start(module, call, request);
    }
    if (!have_queue(module)) {
        /* The other ranks start it. */
        result = arc_module_break_call(module, call->collective, ARC_ERR_NO_MEMORY, "");
        leave();
        return result;
    }
    module->unsettled = true;
    if (NULL == module->queue->front && run_at_once(module->queue, call, &result)) {
        leave();
        *request = &ompi_request_empty;
        return result;
    }
    arc_request_t *made = make_request(module, call, false);
    if (NULL == made) {
        /* It may have begun: there is no way back. */
        result = arc_module_break_call(module, call->collective, ARC_ERR_NO_MEMORY, "");
    } else {
        made->super.super.req_state = OMPI_REQUEST_ACTIVE;
        append(module->queue, made);
        *request = &made->super.super;
    }
    leave();
    return result;
}

/* ---- persistent ones ---- */

static int start_one(arc_request_t *request)
{
    arc_module_t *module = request->module;
    ompi_request_t *base = &request->super.super;
    int result = MPI_SUCCESS;

    base->req_state = OMPI_REQUEST_ACTIVE;
    base->req_status.MPI_ERROR = MPI_SUCCESS;
    base->req_complete = REQUEST_PENDING;
    enter();
    if (!module->unsettled) {
        module->component->settled(module);
    }
    module->unsettled = true;
    if (NULL == module->queue->front && run_at_once(module->queue, &request->call, &result)) {
        base->req_status.MPI_ERROR = result;
        (void) ompi_request_complete(base, false);
    } else {
        append(module->queue, request);
    }
    leave();
    return MPI_SUCCESS;
}

static int start_all(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        (void) start_one((arc_request_t *) requests[i]);
    }
    return OMPI_SUCCESS;
}

int arc_request_init(arc_module_t *module, const arc_call_t *call, struct ompi_info_t *info,
                     ompi_request_t **request)
{
    arc_module_settle(module);
    const arc_reason_t reason = module->component->prepare(module, call);
    if (ARC_PHASE_BROKEN == module->phase) {
        return arc_module_broken_error();
    }
    if (ARC_REASON_NONE != reason) {
        arc_module_count_pass_call(module, reason, call);
        return arc_below_init(module, call, info, request);
    }
    enter();
    arc_request_t *made = have_queue(module) ? make_request(module, call, true) : NULL;
    leave();
    if (NULL == made) {
        return MPI_ERR_NO_MEM;
    }
    made->super.super.req_start = start_all;
    arc_call_hold(call, true);
    *request = &made->super.super;
    return OMPI_SUCCESS;
}

/* ---- the rest ---- */

void arc_module_settle_pending(arc_module_t *module)
{
    if (arc_fiber_inside()) {
        return;
    }
    while (NULL != __atomic_load_n(&module->queue->front, __ATOMIC_ACQUIRE)) {
        (void) opal_progress();
    }
    module->unsettled = false;
}

void arc_queue_free(arc_queue_t *queue)
{
    if (NULL != queue) {
        arc_fiber_free(queue->fiber);
        free(queue);
    }
}

void arc_requests_open(void)
{
    enum { PER_ALLOCATION = 64 };

    OBJ_CONSTRUCT(&all.requests, opal_free_list_t);
    (void) opal_free_list_init(&all.requests, sizeof(arc_request_t), opal_cache_line_size,
                               OBJ_CLASS(arc_request_t), 0, 0, 0, -1, PER_ALLOCATION, NULL, 0, NULL,
                               NULL, NULL);
}

void arc_requests_close(void)
{
    if (all.registered) {
        all.registered = false;
        (void) opal_progress_unregister(progress);
    }
    OBJ_DESTRUCT(&all.requests);
}
