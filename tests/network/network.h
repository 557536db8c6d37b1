/*
 * The algorithms between nodes on a simulated network: the files of coll_lowlat/nodes and
 * common/exchange, unchanged, over the seam stream.h on SimGrid.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef NETWORK_H
#define NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "stream.h"
#include "task.h"

typedef struct network_setting {
    const char *algorithm;
    unsigned nodes;
    unsigned owners;    /* ranks of a node that exchange, each its part of the vector */
    size_t bytes;       /* of the vector */
    size_t chunk_bytes; /* of int8 0: the vector is not cut */
    bool checked; /* with numbers, whose sums are compared; else all memory is the same page */
    bool carried; /* what messages are made of is looked at: of those, and of packs */
} network_setting_t;

/* The algorithm of which several shards go in one message; of the others with int8 none do. */
#define NETWORK_PACKED "int8_packed"

typedef struct network_job network_job_t;

/* What an owner of a node runs; NULL: there is no such algorithm.  `streams` has one for each of
   the exchanges that run at the same time. */
network_job_t *network_job_new(const network_setting_t *setting, unsigned node,
                               arc_stream_t *const *streams);

arc_task_t *network_job_start(network_job_t *job);

/* Bytes that it has added since it was asked last; not of `checked` ones. */
size_t network_job_take_added(network_job_t *job);

/* Are the sums right? */
bool network_job_is_right(const network_job_t *job);

void network_job_free(network_job_t *job);

#endif
