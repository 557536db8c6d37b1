/*
 * The network of a communicator on several nodes: messages of Open MPI's, or puts.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_NET_H
#define COLL_LOWLAT_NET_H

#include <pthread.h>

#include "put_stream.h"
#include "ucx_window.h"

enum { LOWLAT_PUTS_TEXT_BYTES = UCX_TRANSPORTS_BYTES + 16 };

struct lowlat_module;

/* The window of a communicator and what is put from. */
typedef struct lowlat_port {
    struct lowlat_port *next; /* in the list of those that have left */
    bool has_window;          /* not of a rank that exchanges with nobody */
    ucx_window_t window;
    arc_put_streams_t *streams;
    size_t counted_bytes; /* of the component's `memory_bytes` */
} lowlat_port_t;

/* What the windows of a process share. */
typedef struct lowlat_puts {
    pthread_mutex_t lock;
    ucx_worker_t worker; /* opened when first needed */
    bool tried;          /* ... to open it; once is enough */
    bool open;
    bool refused;                      /* partners did not reach each other once */
    char text[LOWLAT_PUTS_TEXT_BYTES]; /* "puts over rc,dc; " */
    bool complained;                   /* that there are no puts; likewise */
    lowlat_port_t *leaving;            /* peers may still put into them */
} lowlat_puts_t;

void lowlat_puts_open(lowlat_puts_t *puts);
void lowlat_puts_close(lowlat_puts_t *puts);

/* base->tags, if there are any, are those of messages from now on. */
void lowlat_net_retag(arc_module_t *base);

/* The streams, of messages, and buffers of the exchanges.  False: no memory. */
bool lowlat_net_make(struct lowlat_module *module);

/*
 * Puts instead of messages, if that is wanted and all ranks can.  All ranks take part and all come
 * to the same end.
 */
void lowlat_net_connect(struct lowlat_module *module);

/* Undo all; harmless if there is nothing.  keeps: sends may still read our buffers, leave them. */
void lowlat_net_release(struct lowlat_module *module, bool keeps);

/* For the log: "messages; ", "puts over rc,dc; ", or "" on one node. */
const char *lowlat_net_text(const struct lowlat_module *module);

#endif
