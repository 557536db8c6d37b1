/*
 * The rates that the model needs, measured on the ranks of a mesh: messages and bytes along each
 * axis, and multiplications.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SHARDING_RATES_H
#define ARC_SHARDING_RATES_H

#include "grid.h"

/* 2 MiB: 17 ms at 1 Gbit/s, a few hundred times the latency. */
enum { SHARD_LONG_FLOATS = 1 << 19 };

/* Two long messages, to send and to receive. */
void shard_rates_messages_new(shard_block_t message[2]);
void shard_rates_messages_free(shard_block_t message[2]);

/*
 * Seconds in which all ranks of a ring, and all rings of the mesh at once, pass a message to the
 * next rank and get one from the last; of the slowest rank.
 */
double shard_rates_shift(MPI_Comm ring, shard_block_t message[2], int floats);

/* The median of many shifts of one float. */
double shard_rates_message(MPI_Comm ring, shard_block_t message[2]);

/* The link on which shifts of one float and of long messages take so long. */
shard_link_t shard_rates_link(double none_seconds, double all_seconds);

/* Fills in the links: medians of shifts along each axis. */
void shard_rates_measure_links(const shard_grid_t *grid, shard_network_t *network);

/* Fills in the flops: all ranks multiply at once. */
void shard_rates_measure_flops(shard_network_t *network);

/* The median; sorts. */
double shard_rates_median(double *seconds, unsigned count);

/* Seconds, or anything else, of the rank of MPI_COMM_WORLD that has most. */
double shard_rates_most(double seconds);

#endif
