/*
 * How far apart the cores of ranks 0 and 1 are, by the bouncing cache line of bounce.h.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_BENCH_PING_PONG_H
#define ARC_BENCH_PING_PONG_H

#include <stdbool.h>

#include <mpi.h>

#include "bounce.h"

/** Fields are private. */
typedef struct ping_pong {
    MPI_Win window;  /* MPI_WIN_NULL: the ranks share no memory */
    bounce_t bounce; /* with counters in the window; its side is the rank */
    bool takes_part; /* ranks 0 and 1; the others only wait */
} ping_pong_t;

/** Collective over MPI_COMM_WORLD. Never fails: see ping_pong_nanoseconds(). */
void ping_pong_init(ping_pong_t *ping_pong);

/** Collective; frees what init made. */
void ping_pong_fini(ping_pong_t *ping_pong);

/**
 * Half a round trip in nanoseconds, on rank 0; 0 on the others, and everywhere if there is one rank
 * only or if the ranks are not all on one node. Takes about 50 us between two ranks that run.
 * Collective: the other ranks wait in a barrier, and all leave through one.
 */
double ping_pong_nanoseconds(ping_pong_t *ping_pong);

#endif
