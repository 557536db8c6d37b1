/*
 * A job of simulated ranks that start operations on several communicators, as a program does with
 * nonblocking, persistent and blocking calls.  Each rank has queues (queue.h), and its own mind
 * about when it looks at what is pending; operations are those of coll_lowlat on simulated memory
 * or networks, as tasks or in fibers.
 *
 *     plans, the same on all ranks     a rank, one step at a time
 *     [comm 0, nonblocking]            start the next one; or poll; or wait for any that is
 *     [comm 2, blocking]               pending; a blocking one waits for its queue, then runs,
 *     [comm 0, persistent] ...         and polls all queues meanwhile
 *
 * Results are compared as in lowlat_job.h, and every rank asserts that operations of a communicator
 * begin in their order, one at a time.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUEUE_JOB_H
#define QUEUE_JOB_H

#include "nodes_job.h"
#include "queue.h"

enum {
    QUEUE_JOB_COMMS = 4,
    QUEUE_JOB_RANKS = 5,
    QUEUE_JOB_PENDING = 64,
    QUEUE_JOB_REQUESTS = 6, /* persistent ones of a rank */
    QUEUE_JOB_ARENA_BYTES = 4096,
};

typedef enum form { NONBLOCKING, PERSISTENT, BLOCKING, FORMS } form_t;

/* An operation to be started; the same on all ranks. */
typedef struct plan {
    unsigned comm;
    form_t form;
    unsigned request; /* a persistent one: which of QUEUE_JOB_REQUESTS */
    bool waits;       /* not to be had as a task */
    size_t number;    /* on its communicator */
    bool last;        /* there; the communicator is freed at once */
    operation_t operation;
} plan_t;

typedef struct queue_job_options {
    unsigned ranks;
    unsigned comms;
    unsigned over_nodes; /* so many of the communicators, the last ones, have two nodes */
    unsigned pending;    /* at most, on all communicators of a rank */
    uint64_t fail_at;    /* the poll of communicator 0 that fails; 0: none */
    uint64_t seed;
} queue_job_options_t;

/* Is this communicator one of two nodes? */
bool queue_job_over_nodes(const queue_job_options_t *options, unsigned comm);

/* `count` operations; queue_plan.c. */
void queue_job_draw(const queue_job_options_t *options, test_random_t *random, plan_t *plans,
                    size_t count);

typedef struct queue_job queue_job_t;

/* The job keeps `plans`, which queue_job_draw() has drawn and which stay the caller's. */
queue_job_t *queue_job_new(const queue_job_options_t *options, const plan_t *plans, size_t count);
void queue_job_free(queue_job_t *job);

/*
 * Run until every rank has started and completed everything, or `steps` are over: false.  Asserts
 * what is promised.
 */
bool queue_job_run(queue_job_t *job, test_random_t *random, size_t steps)
    __attribute__((warn_unused_result));

/* Operations that have ended in an error, on all ranks together. */
size_t queue_job_failures(const queue_job_t *job);

#endif
