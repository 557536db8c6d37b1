/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stddef.h>

#include "queue.h"

enum {
    START_POLLS = 24,  /* in the start, with arc_wait_moment(): about half a microsecond */
    IDLE_POLLS = 1000, /* with nothing pending, before they end */
};

/* ---- who is in ---- */

static bool enter(arc_queues_t *queues)
{
    return !__atomic_load_n(&queues->in, __ATOMIC_RELAXED) &&
           !__atomic_exchange_n(&queues->in, true, __ATOMIC_ACQUIRE);
}

static void leave(arc_queues_t *queues)
{
    __atomic_store_n(&queues->in, false, __ATOMIC_RELEASE);
}

/* ---- stacks ---- */

/*
 * One more that nobody uses.  False: stacks would take more than half of the address space that
 * they and the rest of the process can have, and a library that finds none may crash.
 */
static bool make_fiber(arc_queues_t *queues)
{
    arc_fiber_t *fiber = arc_fiber_new(queues->fibers_out + queues->idle_fibers + 1);

    if (NULL != fiber) {
        queues->fiber[queues->idle_fibers++] = fiber;
    }
    return NULL != fiber;
}

/*
 * NULL: not now.  The operation that started before all others takes what there is; the others
 * leave one for it.
 */
static arc_fiber_t *take_fiber(arc_queues_t *queues, bool is_oldest)
{
    const unsigned needed = is_oldest ? 1 : 2;

    while (queues->idle_fibers < needed && !queues->short_of_memory) {
        queues->short_of_memory = !make_fiber(queues);
    }
    if (queues->idle_fibers >= needed) {
        queues->fibers_out += 1;
        return queues->fiber[--queues->idle_fibers];
    }
    arc_fiber_t *fiber = is_oldest ? arc_fiber_new(0) : NULL;
    queues->fibers_out += NULL != fiber;
    return fiber;
}

static void give_fiber_back(arc_queues_t *queues, arc_queue_t *queue)
{
    queues->fibers_out -= 1;
    queues->short_of_memory = false;
    if (queues->idle_fibers < ARC_QUEUE_FIBERS) {
        queues->fiber[queues->idle_fibers++] = queue->fiber;
    } else {
        arc_fiber_free(queue->fiber);
    }
    queue->fiber = NULL;
}

/* ---- run what is at the front ---- */

static void run_in_fiber(void *context)
{
    arc_queue_t *queue = context;

    queue->front->result = queue->ops->run(queue, queue->front->call);
}

/* As a task, or NULL: nothing has begun. */
static arc_task_t *begin_task(arc_queue_t *queue, const void *call)
{
    queue->task = queue->ops->begin(queue, call);
    queue->running = NULL != queue->task;
    if (queue->running) {
        arc_wait_watch(&queue->watch, queue->wait, queue->task);
    }
    return queue->task;
}

/*
 * False: it has not begun.  Without memory for a stack it waits for one that another operation will
 * give back; if there is none of these, it has ended, in an error.
 */
static bool begin_fiber(arc_queues_t *queues, arc_queue_t *queue, bool *ended)
{
    const bool is_oldest = queue->front->number <= queues->oldest;

    queue->fiber = take_fiber(queues, is_oldest);
    if (NULL == queue->fiber) {
        *ended = is_oldest && 0 == queues->fibers_out;
        if (*ended) {
            queue->front->result = queue->ops->give_up(queue, queue->front->call);
        }
        return false;
    }
    arc_fiber_begin(queue->fiber, run_in_fiber, queue);
    queue->running = true;
    return true;
}

/* One poll of the task.  ARC_IN_PROGRESS, or what it came to within its time limit. */
static arc_status_t poll_task(arc_queue_t *queue)
{
    const arc_status_t status = queue->task->ops->progress(queue->task);

    return __builtin_expect(ARC_IN_PROGRESS != status, 1)
               ? status
               : arc_wait_check(&queue->watch, queue->wait, queue->task);
}

static int end_task(arc_queue_t *queue, arc_status_t status)
{
    queue->running = false;
    return queue->ops->end(queue, status);
}

/* Has the one at the front ended?  Then its result is set. */
static bool advance(arc_queues_t *queues, arc_queue_t *queue)
{
    bool ended = false;

    if (!queue->running && NULL == begin_task(queue, queue->front->call) &&
        !begin_fiber(queues, queue, &ended)) {
        return ended;
    }
    if (NULL != queue->task) {
        const arc_status_t status = poll_task(queue);
        if (ARC_IN_PROGRESS == status) {
            return false;
        }
        queue->front->result = end_task(queue, status);
        return true;
    }
    queue->running = arc_fiber_resume(queue->fiber);
    if (!queue->running) {
        give_fiber_back(queues, queue);
    }
    return !queue->running;
}

static bool advance_in_its_mode(arc_queues_t *queues, arc_queue_t *queue)
{
    const arc_float_mode_t of_poll = arc_float_mode_enter(queue->front->mode);
    const bool ended = advance(queues, queue);
    (void) arc_float_mode_enter(of_poll);
    return ended;
}

static int run_queue(arc_queues_t *queues, arc_queue_t *queue, arc_pending_t **ended)
{
    int count = 0;

    while (count < ARC_QUEUE_AT_ONCE && NULL != queue->front &&
           advance_in_its_mode(queues, queue)) {
        arc_pending_t *pending = queue->front;

        queue->front = pending->next;
        pending->next = *ended;
        *ended = pending;
        ++count;
        /* Another thread may look at the module as soon as nothing is pending. */
        (void) __atomic_sub_fetch(&queue->started, 1, __ATOMIC_RELEASE);
    }
    return count;
}

/* ---- polls ---- */

static void put_into_queue(arc_queues_t *queues, arc_pending_t *pending)
{
    arc_queue_t *queue = pending->queue;

    pending->next = NULL;
    pending->number = ++queues->starts;
    if (NULL != queue->front) {
        queue->last->next = pending;
        queue->last = pending;
        return;
    }
    queue->front = queue->last = pending;
    queue->next_active = NULL;
    queues->oldest = NULL == queues->active ? pending->number : queues->oldest;
    *queues->active_end = queue;
    queues->active_end = &queue->next_active;
}

/* To the queues.  What is missed here is found in the next poll. */
static void take_arrived(arc_queues_t *queues)
{
    if (NULL == __atomic_load_n(&queues->arrived, __ATOMIC_RELAXED)) {
        return;
    }
    (void) pthread_mutex_lock(&queues->lock);
    arc_pending_t *pending = queues->arrived;
    __atomic_store_n(&queues->arrived, NULL, __ATOMIC_RELAXED);
    (void) pthread_mutex_unlock(&queues->lock);
    while (NULL != pending) {
        arc_pending_t *next = pending->next;
        put_into_queue(queues, pending);
        pending = next;
    }
}

static int run_all(arc_queues_t *queues, arc_pending_t **ended)
{
    arc_queue_t **at = &queues->active;
    uint64_t oldest = queues->starts;
    int count = 0;

    while (NULL != *at) {
        arc_queue_t *queue = *at;
        count += run_queue(queues, queue, ended);
        if (NULL != queue->front) {
            at = &queue->next_active;
            oldest = queue->front->number < oldest ? queue->front->number : oldest;
        } else {
            *at = queue->next_active;
        }
    }
    queues->active_end = at;
    queues->oldest = oldest;
    return count;
}

static void stop_polls(arc_queues_t *queues)
{
    (void) pthread_mutex_lock(&queues->lock);
    if (queues->driven && NULL == queues->arrived) {
        queues->driven = false;
        queues->drive(queues, false);
    }
    (void) pthread_mutex_unlock(&queues->lock);
}

int arc_queues_poll(arc_queues_t *queues, arc_pending_t **ended)
{
    if (!enter(queues)) {
        return 0;
    }
    take_arrived(queues);
    const int count = run_all(queues, ended);
    queues->idle_polls = NULL == queues->active ? queues->idle_polls + 1 : 0;
    if (queues->idle_polls > IDLE_POLLS) {
        stop_polls(queues);
    }
    leave(queues);
    return count;
}

/* ---- what is started ---- */

static bool try_task(arc_queue_t *queue, const void *call, int *result)
{
    const unsigned polls = 0 == queue->wait->spins ? 1 : START_POLLS;
    arc_status_t status = ARC_IN_PROGRESS;

    if (NULL == begin_task(queue, call)) {
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

bool arc_queue_try(arc_queues_t *queues, arc_queue_t *queue, const void *call, int *result)
{
    if (!arc_queue_is_idle(queue) || !enter(queues)) {
        return false;
    }
    const bool ended = try_task(queue, call, result);
    leave(queues);
    return ended;
}

void arc_queue_append(arc_queues_t *queues, arc_queue_t *queue, arc_pending_t *pending)
{
    pending->next = NULL;
    pending->queue = queue;
    pending->mode = arc_float_mode_get();
    (void) __atomic_add_fetch(&queue->started, 1, __ATOMIC_RELAXED);
    (void) pthread_mutex_lock(&queues->lock);
    if (NULL == queues->arrived) {
        __atomic_store_n(&queues->arrived, pending, __ATOMIC_RELAXED);
    } else {
        queues->last_arrived->next = pending;
    }
    queues->last_arrived = pending;
    if (!queues->driven) {
        queues->driven = true;
        queues->drive(queues, true);
    }
    (void) pthread_mutex_unlock(&queues->lock);
}

/* ---- the begin and the end ---- */

void arc_queues_open(arc_queues_t *queues, void (*drive)(arc_queues_t *queues, bool on))
{
    *queues = (arc_queues_t){.drive = drive, .active_end = &queues->active};
    (void) pthread_mutex_init(&queues->lock, NULL);
}

void arc_queues_close(arc_queues_t *queues)
{
    if (queues->driven) {
        queues->driven = false;
        queues->drive(queues, false);
    }
    while (queues->idle_fibers > 0) {
        arc_fiber_free(queues->fiber[--queues->idle_fibers]);
    }
}
