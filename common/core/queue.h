/*
 * Operations of one rank that are pending, in queues: one for each communicator.
 *
 *     start     -->  [front] [next] [next] ...   --> ended, in this order
 *                    runs    wait
 *
 * A queue runs one operation at a time, in the order in which they were started.  If all ranks
 * start the same operations in the same order, they run them in the same order, however they poll;
 * and whatever memory and streams the operations share, they share as calls that follow each other.
 * Queues do not wait for each other: one poll moves the front of each as far as it comes.
 *
 * The front is a task if that can begin without waiting, otherwise a function in a fiber.  An
 * operation that ends in an error ends as any other, and the next one begins: what an error means
 * for those behind it is up to whoever runs them.
 *
 * This is the logic alone, the same under Open MPI (mca_request.c) and in simulations.  Any thread
 * may start operations, and any may poll, also from within an operation:
 *
 *     start --> [arrived] ... --> queues --> poll: runs the front of each
 *               under `lock`      only by the one thread that is `in`
 *
 * Whoever finds another thread in there leaves an operation to it.  So a start never waits for an
 * operation, which may be a function of the program that waits for the one who starts.
 *
 * Where memory for stacks is short, operations in fibers wait for each other's stacks.  One stack
 * is kept for the oldest operation that is pending: if all ranks start the operations of all queues
 * in the same order, this operation is the same on all ranks that still have it, so it ends.
 *
 * An operation runs in the floating-point mode of its start, whoever polls: else ranks would round
 * differently.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_QUEUE_H
#define ARC_QUEUE_H

#include <pthread.h>
#include <stdint.h>

#include "fiber.h"
#include "float_env.h"
#include "wait.h"

enum {
    ARC_QUEUE_AT_ONCE = 8, /* operations of a queue that may end in one poll */
    /* Stacks kept: to make one takes some microseconds, and what it has grown to stays with it. */
    ARC_QUEUE_FIBERS = 8,
};

typedef struct arc_queue arc_queue_t;
typedef struct arc_queues arc_queues_t;

/* An operation in a queue; the owner embeds it.  From its start to its end it stays where it is. */
typedef struct arc_pending {
    struct arc_pending *next; /* in the list of what has arrived, waits, or has ended */
    const void *call;         /* what it is, to the owner; stays to its end */
    arc_queue_t *queue;
    uint64_t number;       /* of its start among those of all queues */
    arc_float_mode_t mode; /* of its start */
    int result;            /* of its end */
} arc_pending_t;

/* How the owner runs a call. */
typedef struct arc_queue_ops {
    /* Begin it as a task; NULL: only with waiting, and nothing has begun. */
    arc_task_t *(*begin)(arc_queue_t *queue, const void *call);
    /* The end of that task, which came to `status`: the result. */
    int (*end)(arc_queue_t *queue, arc_status_t status);
    /* All of it, in a fiber: the result. */
    int (*run)(arc_queue_t *queue, const void *call);
    /* The same without a fiber, for which there is no memory, and nobody has one. */
    int (*give_up)(arc_queue_t *queue, const void *call);
} arc_queue_ops_t;

struct arc_queue {
    const arc_queue_ops_t *ops;
    const arc_wait_t
        *wait;        /* how long a task may stand still, and whether polls pay at its start */
    unsigned started; /* operations that have not ended; atomic */
    /* Of whoever is in: */
    arc_pending_t *front; /* NULL: nothing is pending but what has arrived */
    arc_pending_t *last;
    arc_queue_t *next_active;
    bool running;       /* the one at the front has begun, */
    arc_task_t *task;   /* as this task, */
    arc_fiber_t *fiber; /* or in this fiber; NULL: none is needed now */
    arc_wait_watch_t watch;
};

/* All queues of a rank. */
struct arc_queues {
    /* Have arc_queues_poll() called again and again, or no more. */
    void (*drive)(arc_queues_t *queues, bool on);
    pthread_mutex_t lock; /* held shortly: no thread waits while it holds the lock */
    bool driven;          /* under the lock, and */
    arc_pending_t *arrived;
    arc_pending_t *last_arrived;
    bool in; /* somebody is; atomic */
    /* Of whoever is in: */
    arc_queue_t *active; /* those with something pending, in order */
    arc_queue_t **active_end;
    unsigned idle_polls;
    uint64_t starts; /* that have been numbered */
    uint64_t oldest; /* of all that are pending; in a poll, of those that were in the poll before */
    arc_fiber_t *fiber[ARC_QUEUE_FIBERS]; /* [idle_fibers] that nobody uses */
    unsigned idle_fibers;
    unsigned fibers_out;
    bool short_of_memory; /* for another fiber, until one is given back */
};

void arc_queues_open(arc_queues_t *queues, void (*drive)(arc_queues_t *queues, bool on));

/*
 * Begin `call`, if nothing is pending, nobody is in, and it can be a task.  True: it has ended
 * within a few polls, and *result is set.  False: it may have begun, and arc_queue_append() is to
 * follow, with nothing of the queue in between.
 */
bool arc_queue_try(arc_queues_t *queues, arc_queue_t *queue, const void *call, int *result);

/* Append it behind all that is pending.  pending->call is the call that was tried. */
void arc_queue_append(arc_queues_t *queues, arc_queue_t *queue, arc_pending_t *pending);

/*
 * Run each queue as far as it comes; nothing if somebody is in.  Operations that have ended are put
 * in front of *ended, the last one first; returns how many.  They are in no queue any more, and
 * empty queues are not touched, so the caller may free both.
 */
int arc_queues_poll(arc_queues_t *queues, arc_pending_t **ended);

/* No more polls, whatever is pending; stacks that nobody uses are given back. */
void arc_queues_close(arc_queues_t *queues);

/*
 * Is nothing pending?  A blocking call of the same communicator waits for that before anything
 * else: it then follows all that was started before it, as on the other ranks.
 */
static inline bool arc_queue_is_idle(const arc_queue_t *queue)
{
    /* What an operation has written is seen by the thread that sees it gone. */
    return 0 == __atomic_load_n(&queue->started, __ATOMIC_ACQUIRE);
}

#endif
