/*
 * How many contributions are rounded, all in all, until a sum is complete: closed forms.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef GROWTH_H
#define GROWTH_H

static inline double growth_of_loop(unsigned ranks)
{
    return 0.5 * ranks * (ranks - 1.0);
}

static inline double growth_of_semi_loop(unsigned ranks)
{
    return 0 == ranks % 2 ? 0.25 * ranks * ranks : 0.25 * (ranks - 1.0) * (ranks + 1.0);
}

static inline double growth_of_direct(unsigned ranks)
{
    return ranks - 1.0;
}

/* All bits set in the numbers below; (N/2) log2 N for powers of two. */
static inline double growth_of_halving(unsigned ranks)
{
    double bits = 0;

    for (unsigned number = 1; number < ranks; ++number) {
        bits += __builtin_popcount(number);
    }
    return bits;
}

/* A chain for up to 4, two up to 16 and from 513 on. */
static inline double growth_of_nodes(unsigned nodes)
{
    return nodes <= 4                  ? growth_of_loop(nodes)
           : nodes > 16 && nodes < 513 ? growth_of_halving(nodes)
                                       : growth_of_semi_loop(nodes);
}

#endif
