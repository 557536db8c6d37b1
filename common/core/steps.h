/*
 * The runner of exchanges in steps: in each step a rank sends messages to some ranks and gets
 * messages from some; when all have come and gone it acts on what came, and the next step begins.
 * It serves exchanges in which messages cost more than bytes: short vectors, agreements.
 * exchange_pipeline.h serves long vectors.
 *
 * The operations of an exchange tell who exchanges what with whom, and what is done with it.
 *
 * No deadlock, even if a send ends only when its receive is started.  The steps of all ranks can be
 * numbered so that the two ends of a message are in steps of one number, and each rank goes through
 * its steps in ascending order.  The ranks whose step has the least number of all have started all
 * messages of it, so these come and go.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_STEPS_H
#define ARC_STEPS_H

#include "stream.h"
#include "wait.h"

/* What goes to one rank, and what comes from it. */
typedef struct arc_link {
    unsigned peer; /* of the stream */
    const void *sent;
    size_t sent_bytes; /* 0: nothing */
    void *received;
    size_t received_bytes; /* at most; 0: nothing */
    arc_stream_request_t send;
    arc_stream_request_t receive; /* tells how many bytes came */
} arc_link_t;

typedef struct arc_steps arc_steps_t;

typedef struct arc_steps_ops {
    /*
     * Write the links of `steps->step`, their requests idle; how many.  What is sent is not touched
     * until end().  0: there is no such step, the exchange is over.
     */
    unsigned (*begin)(arc_steps_t *steps);

    /* All messages of the step have come and gone. */
    arc_status_t (*end)(arc_steps_t *steps) ARC_MUST_CHECK;
} arc_steps_ops_t;

/* Embedded as the first member of the struct that has the operations. */
struct arc_steps {
    arc_task_t task; /* first: the steps are a task */
    const arc_steps_ops_t *ops;
    arc_stream_t *stream;
    arc_link_t *link; /* as many as the step with most of them has */
    unsigned links;   /* of the step under way; 0: it is not begun */
    unsigned step;
    arc_status_t status;
};

/* Make an exchange ready to run; its progress does the work.  What was started before is over. */
void arc_steps_start(arc_steps_t *steps, const arc_steps_ops_t *ops, arc_stream_t *stream,
                     arc_link_t *link);

/*
 * One step alone: run the messages of these links, their requests idle, to the end.  All at the
 * same time: there is no order that could be wrong.  ARC_ERR_PROTOCOL: what came has another length
 * than `received_bytes`.  After ARC_ERR_TIMEOUT *missing is a rank that is awaited, the last one of
 * the links.  After any error the stream is dead, and messages that are under way may still use
 * their memory.
 *   cost   alpha + P n beta for P links of n bytes
 */
arc_status_t arc_steps_trade(arc_stream_t *stream, arc_link_t *link, unsigned links,
                             const arc_wait_t *wait, unsigned *missing) ARC_MUST_CHECK;

#endif
