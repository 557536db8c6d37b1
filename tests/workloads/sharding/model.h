/*
 * How long the four primitives take on a mesh of ranks: allgather, reduce-scatter, allreduce and
 * all-to-all, on two kinds of networks.
 *
 * SHARD_TORUS is the network of the text: each axis of the mesh is a ring (or, where it does not
 * wrap around, a line) of links of its own.  A primitive over N axes uses the links of all of them.
 * V bytes, W both directions of a link together, X ranks on an axis, T_min for a hop:
 *
 *   allgather, reduce-scatter   max(T_min sum X/2, V / (N W))
 *   allreduce                   twice that
 *   all-to-all                  max(T_min sum X/2, V max(X) / (4 prod(X) W))
 *
 * These are limits of long rings, as the text uses them also for rings of 4.  A line, or a ring
 * used one way, has X - 1 hops and W/2, and the all-to-all costs 1/2 and not 1/4 of an allgather.
 *
 * SHARD_SWITCH is a cluster: each rank has one full-duplex link of W bytes/s each way to one
 * switch, and no axis has links of its own.  A group of p ranks, alpha for a message:
 *
 *   allgather, reduce-scatter   (p-1) alpha + V (p-1)/p / W       ring, or any that sends no more
 *   allreduce                   twice that                        ring
 *   all-to-all                  (p-1) alpha + V/p (p-1)/p / W     one message to each
 *
 * All groups of a mesh communicate at the same time and do not meet: each rank is in one of them.
 *
 * V is what the array has when a group of ranks holds it once: the result of an allgather, what
 * each rank has before a reduce-scatter or an allreduce, and p times what a rank has in an
 * all-to-all.
 *
 * Source: Austin et al., part 3, "A Deeper Dive into TPU Communication Primitives" and question 10
 * for the torus; counted messages for the switch.  Pure functions, no state.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SHARDING_MODEL_H
#define ARC_SHARDING_MODEL_H

#include "notation.h"

typedef enum shard_topology { SHARD_TORUS, SHARD_SWITCH } shard_topology_t;

typedef enum shard_primitive {
    SHARD_ALLGATHER,
    SHARD_REDUCE_SCATTER,
    SHARD_ALLREDUCE,
    SHARD_ALL_TO_ALL,
    SHARD_PRIMITIVES,
} shard_primitive_t;

typedef struct shard_link {
    double bytes_per_second; /* one direction; half of the text's W */
    double message_seconds;  /* of an empty message to a neighbour: T_min, alpha */
    bool one_way; /* torus: the axis is a line, or a ring of which one direction is used */
} shard_link_t;

typedef struct shard_network {
    shard_topology_t topology;
    shard_link_t link[SHARD_MAX_AXES]; /* of ranks that are neighbours along an axis */
    double flops_per_second;           /* of one rank */
    bool overlapped; /* a strategy takes the longer of computing and communicating, not the sum */
} shard_network_t;

/* For a ring of no certain length, the longer the better. */
enum { SHARD_ENDLESS = 0 };

/*
 * The part of V that passes over each direction of each link of one ring of so many ranks; one way:
 * over the direction that is used.  Exact for a number of ranks, their limit for SHARD_ENDLESS.
 */
double shard_ring_share(shard_primitive_t primitive, unsigned ranks, bool one_way);

/* Switch: bytes that each rank of a group sends, and receives, for an array of V bytes. */
double shard_sent_bytes(shard_primitive_t primitive, unsigned group_ranks, double array_bytes);

/* Seconds over `axes` for an array of V bytes; 0 for one rank. */
double shard_primitive_seconds(const shard_network_t *network, const shard_mesh_t *mesh,
                               shard_primitive_t primitive, const shard_axes_t *axes,
                               double array_bytes);

#endif
