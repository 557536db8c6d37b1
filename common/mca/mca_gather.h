/*
 * Every rank of a circle, as a node or a communicator, gets a few bytes from each of them, over
 * Open MPI's point-to-point layer.
 *
 *   step k = 1, 2, 4, ...   send the first k places to the k-th rank before us, and receive the
 *                           next k from the k-th rank behind us
 *
 *   cost   log2 P messages one after the other, P - 1 cards in all
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_GATHER_H
#define MCA_GATHER_H

#include "mca_module.h"

typedef struct mca_circle {
    const unsigned *members; /* [ranks] in the communicator; NULL: all of it */
    unsigned ranks;
    unsigned self; /* our number in it */
} mca_circle_t;

/* The place of number `member` in a list that begins with ourselves; the others follow. */
static inline unsigned mca_gather_place(const mca_circle_t *circle, unsigned member)
{
    return (member + circle->ranks - circle->self) % circle->ranks;
}

/*
 * `cards` has a place of `card_bytes` for each rank of the circle, and our card in the first.  All
 * of them take part; others are not waited for.  An error may be that of one rank alone, or that
 * some rank did not come within the component's time limit; the module is broken then, what is
 * there is not complete, and messages may still use `cards`, which must stay until the end of the
 * process.
 */
arc_status_t mca_gather(arc_module_t *module, const mca_circle_t *circle, void *cards,
                        size_t card_bytes) ARC_MUST_CHECK;

#endif
