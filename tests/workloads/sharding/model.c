/*
 * Times of the four primitives on a torus and on a switch.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "model.h"

#include <math.h>

#include "layout.h"

/* Rings, one after the other, that a primitive is made of. */
static double passes_of(shard_primitive_t primitive)
{
    return SHARD_ALLREDUCE == primitive ? 2 : 1;
}

/*
 * An all-to-all one way: a shard of V/D bytes loses the part of V/D^2 that has arrived with each of
 * D-1 hops, D (D-1)/2 parts in all.  Both ways with an even D: (D/2 + ... + 1) parts to one side
 * and (D/2-1 + ... + 1) to the other, D^2/4 in all; with an odd one (D^2-1)/4 (question 10,
 * footnote 5).
 */
static double all_to_all_share(unsigned ranks, bool one_way)
{
    if (SHARD_ENDLESS == ranks) {
        return one_way ? 1.0 / 2 : 1.0 / 8;
    }
    const double d = ranks;
    return one_way ? (d - 1) / (2 * d) : floor(d * d / 4) / 2 / (d * d);
}

double shard_ring_share(shard_primitive_t primitive, unsigned ranks, bool one_way)
{
    if (SHARD_ALL_TO_ALL == primitive) {
        return all_to_all_share(ranks, one_way);
    }
    const double all = SHARD_ENDLESS == ranks ? 1 : (ranks - 1.0) / ranks;
    return passes_of(primitive) * (one_way ? all : all / 2);
}

/* The text says X/2 hops around a ring, and in a footnote ceil(X/2). */
static double torus_latency_seconds(const shard_network_t *network, const shard_mesh_t *mesh,
                                    shard_primitive_t primitive, const shard_axes_t *axes)
{
    double seconds = 0;

    for (unsigned i = 0; i < axes->count; ++i) {
        const shard_link_t *link = &network->link[axes->axis[i]];
        const unsigned ranks = mesh->ranks[axes->axis[i]];
        seconds += link->message_seconds * (link->one_way ? ranks - 1.0 : ceil(ranks / 2.0));
    }
    return passes_of(primitive) * seconds;
}

/* The axes share V where they gather or reduce; in an all-to-all the slowest one counts. */
static double torus_transfer_seconds(const shard_network_t *network, const shard_mesh_t *mesh,
                                     shard_primitive_t primitive, const shard_axes_t *axes,
                                     double array_bytes)
{
    const double group_ranks = shard_axes_ranks(mesh, axes);
    double arrays_per_second = 0; /* of V bytes */
    double slowest = 0;

    for (unsigned i = 0; i < axes->count; ++i) {
        const shard_link_t *link = &network->link[axes->axis[i]];
        const double ranks = mesh->ranks[axes->axis[i]];
        const double seconds = array_bytes *
                               shard_ring_share(primitive, SHARD_ENDLESS, link->one_way) /
                               link->bytes_per_second;
        arrays_per_second += ranks > 1 ? 1 / seconds : 0; /* no link leads to oneself */
        slowest = fmax(slowest, ranks > 1 ? seconds * ranks / group_ranks : 0);
    }
    return SHARD_ALL_TO_ALL == primitive ? slowest : 1 / arrays_per_second;
}

double shard_sent_bytes(shard_primitive_t primitive, unsigned group_ranks, double array_bytes)
{
    const double p = group_ranks;
    const double once = array_bytes * (p - 1) / p;

    return SHARD_ALL_TO_ALL == primitive ? once / p : passes_of(primitive) * once;
}

/* Where the links of the axes differ the slowest counts. */
static double switch_seconds(const shard_network_t *network, const shard_mesh_t *mesh,
                             shard_primitive_t primitive, const shard_axes_t *axes,
                             double array_bytes)
{
    const unsigned group_ranks = shard_axes_ranks(mesh, axes);
    double message_seconds = 0;
    double byte_seconds = 0;

    for (unsigned i = 0; i < axes->count; ++i) {
        const shard_link_t *link = &network->link[axes->axis[i]];
        message_seconds = fmax(message_seconds, link->message_seconds);
        byte_seconds = fmax(byte_seconds, 1 / link->bytes_per_second);
    }
    return passes_of(primitive) * (group_ranks - 1) * message_seconds +
           shard_sent_bytes(primitive, group_ranks, array_bytes) * byte_seconds;
}

double shard_primitive_seconds(const shard_network_t *network, const shard_mesh_t *mesh,
                               shard_primitive_t primitive, const shard_axes_t *axes,
                               double array_bytes)
{
    if (shard_axes_ranks(mesh, axes) < 2) {
        return 0;
    }
    if (SHARD_SWITCH == network->topology) {
        return switch_seconds(network, mesh, primitive, axes, array_bytes);
    }
    return fmax(torus_latency_seconds(network, mesh, primitive, axes),
                torus_transfer_seconds(network, mesh, primitive, axes, array_bytes));
}
