/*
 * How far apart two cores are: the time a cache line takes from one to the other
 * and back, halved.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_BENCH_BOUNCE_H
#define ARC_BENCH_BOUNCE_H

#include <stdint.h>

enum {
    BOUNCE_SIDES = 2,
    BOUNCE_SPACING_BYTES = 128, /* of the counters: the prefetcher fetches pairs of lines */
};

/** One of the two sides. */
typedef struct bounce {
    unsigned side;                   /* 0 or 1; for rank 0 and rank 1 */
    uint64_t *counter[BOUNCE_SIDES]; /* zero at first, in memory of both, each alone on its lines */
    uint64_t served;                 /* zero at first: what they were last set to */
} bounce_t;

/**
 * Wait until *counter, which only grows, is `number` or more; what was written before it was set
 * can then be read. Yields after a while: both sides may be on one core.
 */
void bounce_await(const uint64_t *counter, uint64_t number);

/**
 * Half a round trip in nanoseconds; about the same on both sides, which call this together. Takes
 * about 50 us if both run.
 */
double bounce_nanoseconds(bounce_t *bounce);

#endif
