/*
 * Simulated nodes: the ranks of each map memory of their own (sim_memory.h), and all
 * ranks are on LOWLAT_EXCHANGES networks (sim_stream.h), one for each exchange, or
 * put into each other's windows (sim_window.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef NODES_JOB_H
#define NODES_JOB_H

#include "lowlat_job.h"
#include "lowlat_net.h"
#include "topology.h"
#include "sim_memory.h"
#include "put_stream.h"
#include "sim_stream.h"
#include "sim_window.h"

enum {
    NODES_MAX = 17,
    NODES_ARENA_BYTES =
        4096, /* for chunks of the longest kind: one slot more than a pipeline needs */
    NODES_LEADER_BYTES = 300,
    NODES_PIECE_BYTES = 128, /* of a message of a pipe */
    NODES_LONG_CHUNKS = 2,   /* a long chunk is so many others */
};

typedef struct nodes_options {
    unsigned nodes;
    unsigned size[NODES_MAX]; /* ranks of each */
    bool cyclic;              /* ranks are dealt to the nodes one by one, else node by node */
    bool loops;               /* long messages take the ring, else direct */
    bool gives_up;            /* there is a time limit */
    const char *levels;       /* of each node: actor_make_levels() */
    size_t chunk_bytes;
    uint64_t seed;
    const arc_put_config_t *puts; /* instead of messages; NULL: messages */
    unsigned faulty;              /* the network of this exchange ... */
    uint64_t fail_at;             /* ... fails at this operation; 0: none */
    uint64_t cut_at;              /* ... and cuts the end of this message off; 0: of none */
} nodes_options_t;

typedef struct sim_nodes {
    unsigned ranks;
    placement_t placement;
    size_t chunk_bytes;
    test_random_t random;
    sim_memory_t *memory[NODES_MAX];
    sim_network_t *network[LOWLAT_EXCHANGES];
    sim_windows_t *windows; /* NULL: no puts */
    arc_put_streams_t *streams[LOWLAT_JOB_MAX_RANKS];
    arc_topology_t topology[LOWLAT_JOB_MAX_RANKS];
    lowlat_net_t net[LOWLAT_JOB_MAX_RANKS];
    test_buffer_t scratch[LOWLAT_JOB_MAX_RANKS][LOWLAT_EXCHANGES];
    test_buffer_t pipe[LOWLAT_JOB_MAX_RANKS];
    actor_t actors[LOWLAT_JOB_MAX_RANKS];
} sim_nodes_t;

/* As after a set-up.  Ends the program if a topology is not as the options say. */
sim_nodes_t *sim_nodes_new(const nodes_options_t *options);
void sim_nodes_free(sim_nodes_t *nodes);

/* All ranks of `nodes` make these operations. */
job_t sim_nodes_job(sim_nodes_t *nodes, const operation_t *operations, size_t count);

/* For a job_t; the context is the sim_nodes_t. */
void sim_nodes_happen(void *context);
void sim_nodes_expect(const operation_t *operation, const void *context, unsigned char *sum);
void sim_nodes_down(void *context); /* all networks */

/* Requests of all networks that nobody completed or gave up, and writes behind a scratch. */
size_t sim_nodes_outstanding(const sim_nodes_t *nodes);
bool sim_nodes_intact(const sim_nodes_t *nodes);

#endif
