/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stddef.h>

#include "queue.h"

enum {
    START_POLLS = 24,  /* in the start, with arc_wait_moment(): about half a microsecond */
    IDLE_POLLS = 1000, /* with nothing pending, before they end */
};

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

static bool begin_fiber(arc_queue_t *queue)
{
    if (NULL == queue->fiber) {
        queue->fiber = arc_fiber_new();
    }
    if (NULL == queue->fiber) {
        queue->front->result = queue->ops->give_up(queue, queue->front->call);
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
static bool advance(arc_queue_t *queue)
{
    if (!queue->running && NULL == begin_task(queue, queue->front->call) && !begin_fiber(queue)) {
        return true;
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
    return !queue->running;
}

static int run_queue(arc_queue_t *queue, arc_pending_t **ended)
{
    int count = 0;

    while (count < ARC_QUEUE_AT_ONCE && NULL != queue->front && advance(queue)) {
        arc_pending_t *pending = queue->front;

        /* Another thread may look at the module as soon as nothing is pending. */
        __atomic_store_n(&queue->front, pending->next, __ATOMIC_RELEASE);
        pending->next = *ended;
        *ended = pending;
        ++count;
    }
    return count;
}

int arc_queues_poll(arc_queues_t *queues, arc_pending_t **ended)
{
    int count = 0;

    for (arc_queue_t **place = &queues->active; NULL != *place;) {
        arc_queue_t *queue = *place;

        count += run_queue(queue, ended);
        if (NULL == queue->front) {
            *place = queue->next_active;
        } else {
            place = &queue->next_active;
        }
    }
    queues->idle_polls = NULL == queues->active ? queues->idle_polls + 1 : 0;
    if (queues->idle_polls > IDLE_POLLS) {
        arc_queues_close(queues);
    }
    return count;
}

/* ---- what is started ---- */

bool arc_queue_try(arc_queue_t *queue, const void *call, int *result)
{
    const unsigned polls = 0 == queue->wait->spins ? 1 : START_POLLS;
    arc_status_t status = ARC_IN_PROGRESS;

    if (NULL != queue->front || NULL == begin_task(queue, call)) {
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

static void be_driven(arc_queues_t *queues, arc_queue_t *queue)
{
    queue->next_active = queues->active;
    queues->active = queue;
    queues->idle_polls = 0;
    if (!queues->driven) {
        queues->driven = true;
        queues->drive(queues, true);
    }
}

void arc_queue_append(arc_queues_t *queues, arc_queue_t *queue, arc_pending_t *pending)
{
    pending->next = NULL;
    if (NULL == queue->front) {
        queue->front = pending;
        be_driven(queues, queue);
    } else {
        queue->last->next = pending;
    }
    queue->last = pending;
}

/* ---- the end ---- */

void arc_queues_close(arc_queues_t *queues)
{
    if (queues->driven) {
        queues->driven = false;
        queues->drive(queues, false);
    }
}

void arc_queue_fini(arc_queue_t *queue)
{
    arc_fiber_free(queue->fiber);
}
