/*
 * Who exchanges with whom in recursive doubling and halving, for any number of nodes.
 *
 * Let 2^k be the largest power of two not above N, and e = N - 2^k.  The first 2e nodes form
 * pairs: one of them, the *extra*, gives its sum to the other one, its *proxy*, and gets the result
 * from it.  That leaves 2^k positions, in the order of the nodes:
 *
 *   N = 6, e = 2    nodes                     0   1   2   3   4   5
 *                   positions, even turn      0  (0)  1  (1)  2   3
 *                   positions, odd turn      (0)  0  (1)  1   2   3
 *
 * The nodes of a pair take turns from chunk to chunk.  Of two chunks of c bytes each of them sends
 *
 *   as the proxy   2 (1 - 2^-k) c by halving, and the result, c
 *   as the extra   c
 *
 * and a node without a pair 4 (1 - 2^-k) c: none sends more than twice the 2c bytes.
 *
 * Exchange s pairs positions that differ in bit s.  A position has then summed a group of 2^(s+1)
 * neighbouring positions, and adds the lower half of the group on the left.  So both partners do
 * the same additions on the same numbers, all nodes end with the same bits, and an operation need
 * not be commutative.
 *
 * Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", section 4.5 (there halves are taken from far to near, which does not keep
 * the order).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PAIRING_H
#define LOWLAT_PAIRING_H

#include <stdbool.h>

/* What a node does. */
typedef struct lowlat_role {
    unsigned steps;    /* k: exchanges of a position */
    unsigned extras;   /* e */
    unsigned position; /* of an extra: that of its proxy */
    unsigned turn;     /* who of a pair is the proxy: 0 the even node, 1 the odd one */
    bool is_extra;
    bool is_proxy;
} lowlat_role_t;

static inline unsigned lowlat_steps(unsigned nodes)
{
    unsigned steps = 0;
    while (nodes >> (steps + 1)) {
        ++steps;
    }
    return steps;
}

static inline lowlat_role_t lowlat_role(unsigned node, unsigned nodes, unsigned turn)
{
    const unsigned steps = lowlat_steps(nodes);
    const unsigned extras = nodes - (1u << steps);
    const bool paired = node < 2 * extras;
    return (lowlat_role_t){
        .steps = steps,
        .extras = extras,
        .position = paired ? node / 2 : node - extras,
        .turn = turn,
        .is_extra = paired && node % 2 != turn,
        .is_proxy = paired && node % 2 == turn,
    };
}

/* The other node of our pair. */
static inline unsigned lowlat_mate(const lowlat_role_t *role)
{
    return 2 * role->position + (role->is_extra ? role->turn : 1 - role->turn);
}

/* The node at a position; of a pair, the proxy. */
static inline unsigned lowlat_node_at(const lowlat_role_t *role, unsigned position)
{
    return position < role->extras ? 2 * position + role->turn : position + role->extras;
}

/* Does our group come after that of our partner in exchange `step`? */
static inline bool lowlat_is_upper(const lowlat_role_t *role, unsigned step)
{
    return role->position >> step & 1;
}

#endif
