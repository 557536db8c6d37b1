/*
 * THE SEAM between what a node adds up in its shared memory (coll_lowlat) and an exchange of these
 * sums between nodes that somebody else makes (coll_quant).
 *
 *   node       stage k, reduce k                              publish k, gather k
 *   exchange           +-- allow k --> segments k of all shards --> complete k --+
 *
 * Rank i of every node exchanges with rank i of the others.  What belongs to a rank is a part of
 * each chunk of the vector; its numbers count from 0, one chunk's after the other, and lie in
 * memory of the node: first the node's sum, then, stored by the exchange, the total.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EXCHANGE_FOLD_H
#define EXCHANGE_FOLD_H

#include "exchange_pipeline.h"

/* The parts of a rank, in a call; valid until it ends. */
typedef struct exchange_parts {
    size_t count; /* numbers, of all chunks; may be 0 */

    /* Where number `number` lies, with those of the same chunk that follow. */
    unsigned char *(*at)(const void *context, size_t number);

    /* Which element of the vector it belongs to. */
    size_t (*element)(const void *context, size_t number);

    /* What rank `place` of the node gave to it, likewise; until the total is stored. */
    const unsigned char *(*given)(const void *context, unsigned place, size_t number);
    unsigned places; /* ranks of the node */
    const void *context;
} exchange_parts_t;

typedef struct exchange_fold exchange_fold_t;

/* The exchange.  Embedded as the first member of an implementation. */
struct exchange_fold {
    arc_task_t *exchange; /* exchange_pipeline.h: its ranks are the nodes */

    size_t row_elems; /* elements that stay together: parts begin at multiples of so many */

    /* Numbers of a message, whole rows: no rank has more in a chunk for any node. */
    size_t message_elems;

    /* A call begins: what the exchange is to run, to be cut into chunks. */
    exchange_operation_t (*begin)(exchange_fold_t *fold, const exchange_parts_t *parts);
};

#endif
