/*
 * Allreduce in pairwise exchanges, for any number of ranks.
 *
 *   half-butterfly   recursive doubling: log2 P exchanges of the whole vector
 *   butterfly        recursive halving, then doubling: 2 log2 P exchanges of
 *                    halves, quarters, ...
 *
 * Both pair ranks in the same way.  Let 2^k be the largest power of two not
 * above P, and e = P - 2^k.  The first 2e ranks form pairs: the odd one, the
 * *extra*, gives its part to the even one, its *proxy*, and gets the result
 * from it.  That leaves 2^k positions, in rank order:
 *
 *   P = 6, e = 2    ranks      0   1   2   3   4   5
 *                   positions  0  (0)  1  (1)  2   3
 *
 * Exchange s pairs positions that differ in bit s.  A position has then summed
 * a group of 2^(s+1) neighbouring positions, and adds the lower half of the
 * group on the left.  So both partners do the same additions on the same
 * numbers, all ranks end with the same bits, and an operation need not be
 * commutative.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_BUTTERFLY_H
#define LOWLAT_BUTTERFLY_H

#include "lowlat.h"

size_t lowlat_half_butterfly_max_bytes(const lowlat_group_t *group);
void lowlat_half_butterfly_start(lowlat_task_t *task);

size_t lowlat_butterfly_max_bytes(const lowlat_group_t *group);
void lowlat_butterfly_start(lowlat_task_t *task);

/* What a rank does. */
typedef struct lowlat_role {
    unsigned steps;    /* k: exchanges of a position */
    unsigned extras;   /* e */
    unsigned position; /* of an extra: that of its proxy */
    bool is_extra;
    bool is_proxy;
} lowlat_role_t;

static inline unsigned lowlat_steps(unsigned ranks)
{
    unsigned steps = 0;
    while (ranks >> (steps + 1)) {
        ++steps;
    }
    return steps;
}

static inline lowlat_role_t lowlat_role(unsigned rank, unsigned ranks)
{
    const unsigned steps = lowlat_steps(ranks);
    const unsigned extras = ranks - (1u << steps);
    const bool paired = rank < 2 * extras;
    return (lowlat_role_t){
        .steps = steps,
        .extras = extras,
        .position = paired ? rank / 2 : rank - extras,
        .is_extra = paired && rank % 2,
        .is_proxy = paired && !(rank % 2),
    };
}

/* The rank at a position; of a pair, the proxy. */
static inline unsigned lowlat_rank_at(const lowlat_role_t *role, unsigned position)
{
    return position < role->extras ? 2 * position : position + role->extras;
}

static inline unsigned lowlat_partner(const lowlat_role_t *role, unsigned step)
{
    return lowlat_rank_at(role, role->position ^ (1u << step));
}

/* The exchange of step 0 .. 2k-1 of a butterfly: 0 .. k-1 and back. */
static inline unsigned lowlat_exchange_of(const lowlat_role_t *role, unsigned step)
{
    return step < role->steps ? step : 2 * role->steps - 1 - step;
}

/* What a position is responsible for before exchange `step` of a butterfly; see there. */
lowlat_range_t lowlat_butterfly_range(unsigned position, unsigned step, size_t elems,
                                      size_t line_elems);

/* Does our group come after that of our partner in exchange `step`? */
static inline bool lowlat_is_upper(const lowlat_role_t *role, unsigned step)
{
    return role->position >> step & 1;
}

#endif
