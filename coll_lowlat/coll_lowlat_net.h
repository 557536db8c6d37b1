/*
 * The network of a communicator on several nodes: messages of Open MPI's, or puts.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_NET_H
#define COLL_LOWLAT_NET_H

#include "coll_lowlat.h"

/* The streams, of messages, and buffers of the exchanges.  False: no memory. */
bool lowlat_net_make(lowlat_module_t *module);

/*
 * Puts instead of messages, if that is wanted and all ranks can.  All ranks take part and all come
 * to the same end.
 */
void lowlat_net_connect(lowlat_module_t *module);

/* While connections are under way, all ranks together: are there puts from now on? */
bool lowlat_net_opened(lowlat_module_t *module);

/* Puts, or messages, carry what comes; between two calls, on all ranks alike. */
void lowlat_net_use(lowlat_module_t *module, bool puts);

/* Undo all; harmless if there is nothing.  keeps: sends may still read our buffers, leave them. */
void lowlat_net_release(lowlat_module_t *module, bool keeps);

/* A rank to which the connection for puts is broken, or as many as there are ranks. */
unsigned lowlat_net_lost(const lowlat_module_t *module);

/* For the log: "messages; ", "puts over rc_mlx5/mlx5_0:1.0; ", or "" on one node. */
void lowlat_net_describe(const lowlat_module_t *module, char *text, size_t text_bytes);

#endif
