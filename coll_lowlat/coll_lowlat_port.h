/*
 * What puts between nodes need of UCX.  Puts are optional: a build without UCX has none, and this
 * header and coll_lowlat_puts.h stand for them.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_PORT_H
#define COLL_LOWLAT_PORT_H

#include "coll_lowlat.h"

typedef struct lowlat_puts lowlat_puts_t; /* what the communicators of a process share */
typedef struct lowlat_port lowlat_port_t; /* what a communicator has */

#ifdef ARC_HAVE_UCX
/*
 * In MPI_Init only: UCX is opened (ucx_worker.h).  NULL, and in *why a static text: there can be
 * no puts.
 */
lowlat_puts_t *lowlat_puts_new(const char **why);
void lowlat_puts_free(lowlat_puts_t *puts); /* may be NULL */

/* One of the streams of a connected port. */
arc_stream_t *lowlat_port_stream(const lowlat_port_t *port, unsigned number);

/* Nothing is put any more by a connected port, or one that opens yet; what peers put is awaited. */
void lowlat_port_leave(lowlat_puts_t *puts, lowlat_port_t *port);

/* A rank of the module to which the connection is broken, or as many as there are ranks. */
unsigned lowlat_port_lost(const lowlat_module_t *module);

/* For the log: "rc_mlx5/mlx5_0:1.0". */
const char *lowlat_puts_transports(const lowlat_puts_t *puts);
#else
static inline lowlat_puts_t *lowlat_puts_new(const char **why)
{
    *why = "ARC was built without UCX";
    return NULL;
}
/* Never called without what lowlat_puts_new() makes. */
#define lowlat_puts_free(_puts) ((void) (_puts))
#define lowlat_port_stream(_port, _number) ((void) (_port), (void) (_number), (arc_stream_t *) NULL)
#define lowlat_port_leave(_puts, _port) ((void) (_puts), (void) (_port))
#define lowlat_port_lost(_module) ((unsigned) ompi_comm_size((_module)->base.comm))
#define lowlat_puts_transports(_puts) ((void) (_puts), "")
#endif

#endif
