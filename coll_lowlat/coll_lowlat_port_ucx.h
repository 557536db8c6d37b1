/*
 * What the windows of a process share: UCX's worker, and who drives it.
 *
 * When a communicator is freed, peers may still put into its window.  So the window, once all have
 * answered, says goodbye and goes to a list, from which it is freed when all peers' goodbyes have
 * come.  At the end of the process a peer is waited for only for a while: it may be dead.
 *
 * Open MPI's progress function drives the worker while a set-up is under way or there are ports
 * that are connected, and else does not know it.
 *
 * After a set-up whose partners did not all reach each other there are no new ports: it would take
 * as long for every communicator.  The port of that set-up, the worker and UCX stay as they are to
 * the end of the process (ucx_worker_close()).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_PORT_UCX_H
#define COLL_LOWLAT_PORT_UCX_H

#include <pthread.h>

#include "put_stream.h"
#include "settled.h"
#include "ucx_window.h"
#include "wait.h"

enum {
    LOWLAT_GREETING_SECONDS = ARC_SETTLED(15, 4), /* far more than connections take, also of many */
};

/* How far the set-up of puts came on a rank; of all ranks the least counts. */
typedef enum lowlat_outcome {
    LOWLAT_REFUSED, /* of an earlier communicator they did not reach each other */
    LOWLAT_NO_TRANSPORT,
    LOWLAT_NO_MEMORY,
    LOWLAT_NO_CONNECTION,
    LOWLAT_NO_ANSWER, /* of some partner so far */
    LOWLAT_CONNECTED
} lowlat_outcome_t;

/* The same types as in coll_lowlat_port.h, which sees nothing of UCX. */
typedef struct lowlat_puts lowlat_puts_t;
typedef struct lowlat_port lowlat_port_t;

/* The window of a communicator and what is put from. */
struct lowlat_port {
    struct lowlat_port *next; /* in the list of those that have left */
    ucx_window_t window;      /* of a rank that exchanges with nobody: without peers */
    arc_put_streams_t *streams;
    size_t counted_bytes;        /* of the limit (mca_pool.h) */
    int64_t end_ns;              /* partners are given up who have not answered by then */
    bool greeted;                /* ... all have */
    arc_wait_watch_t unanswered; /* ... since the port has left */
};

struct lowlat_puts {
    ucx_library_t ucx;
    pthread_mutex_t lock; /* of what follows */
    ucx_worker_t worker;  /* opened when first needed */
    bool tried;           /* ... to open it; once is enough */
    bool open;
    bool refused;           /* partners did not reach each other once */
    unsigned silent;        /* set-ups under way that want nobody to drive the worker; atomic */
    unsigned users;         /* set-ups and connected ports, also those that leave */
    lowlat_port_t *leaving; /* peers may still put into them */
};

/* Is there a worker for a new port?  LOWLAT_CONNECTED: yes, opened if this is its first use. */
lowlat_outcome_t lowlat_puts_worker(lowlat_puts_t *puts);

/* Free a port that nobody has been told of. */
void lowlat_port_free(lowlat_port_t *port);

/* LOWLAT_CONNECTED when all partners have answered, before LOWLAT_NO_ANSWER or .._CONNECTION. */
lowlat_outcome_t lowlat_port_greeted(lowlat_port_t *port);

/*
 * Around a set-up: peers connect to us, for `ns` at most.  Its port is connected then and counts as
 * a user until it is freed; or there will be no more ports, and this one, which partners did not
 * reach, is to be left as it is.
 */
void lowlat_puts_hold(lowlat_puts_t *puts, int64_t ns);
void lowlat_puts_settled(lowlat_puts_t *puts, bool connected);

#endif
