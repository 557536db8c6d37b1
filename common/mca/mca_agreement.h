/*
 * What all ranks of a communicator find out together, for set-ups and checks, with the time limit
 * of calls: the minimum of numbers, every rank's card, and which ranks are on which node.
 *
 * The messages have tags that nothing else uses, two for each component.  What a rank that does not
 * come leaves behind may be read or written until the end of the process; so a module that breaks
 * here never frees the memory of its messages.
 *
 * All of these return ARC_OK, or the module is broken, and it has been said who is missing: the
 * component's time limit ended it, or anything went wrong, perhaps on one rank alone.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_AGREEMENT_H
#define MCA_AGREEMENT_H

#include "agreement.h"
#include "mca_module.h"
#include "topology.h"

/*
 * MIN over all ranks of the communicator of each of `count` values, up to ARC_AGREEMENT_VALUES.
 * For set-up and checks, not for every call.
 */
arc_status_t arc_module_min(arc_module_t *module, uint64_t *values, int count) ARC_MUST_CHECK;

/* The same for a roll call (agreement.h), where some ranks may not take part. */
arc_status_t arc_module_call_roll(arc_module_t *module, uint64_t *values, arc_roll_fn_t ask,
                                  void *context) ARC_MUST_CHECK;

/* Before the component goes: nothing is kept for agreements to come. */
void arc_agreements_close(void);

/* Memory on all ranks or, NULL, on none.  Errors are those of arc_module_min(). */
arc_status_t arc_module_malloc(arc_module_t *module, size_t bytes, void **memory) ARC_MUST_CHECK;

/*
 * The first step of every module: is `hash`, of the configuration, the same on
 * all ranks?  Moves the module to ARC_PHASE_AGREED or ARC_PHASE_DECLINED; ARC_PHASE_BROKEN: a rank
 * did not come.
 */
void arc_module_agree(arc_module_t *module, uint64_t hash);

/* To ARC_PHASE_DECLINED, on all ranks, because some are not alike, or it cannot be found out. */
void arc_module_disagree(arc_module_t *module, arc_reason_t reason);

/* Messages of one step (arc_steps_trade()). */
arc_status_t arc_module_trade(arc_module_t *module, arc_stream_t *stream, arc_link_t *link,
                              unsigned links) ARC_MUST_CHECK;

/* A circle of ranks, as a node or a communicator. */
typedef struct mca_circle {
    const unsigned *members; /* [ranks] in the communicator; NULL: all of it */
    unsigned ranks;
    unsigned self; /* our number in it */
} mca_circle_t;

/* The place of number `member` in a list that begins with ourselves: by distance, as they come. */
static inline unsigned mca_gather_place(const mca_circle_t *circle, unsigned member)
{
    return arc_rank_distance(circle->self, circle->ranks, member);
}

/*
 * Every rank of the circle gets a card of each of them.  `cards` has a place of `card_bytes` for
 * each rank, and our card in the first.  All of them take part; others are not waited for.  After
 * an error what is there is not complete, and messages may still use `cards`.
 *
 *   step k = 1, 2, 4, ...   send the first k places to the rank before us at this distance, and
 *                           receive the next k from the rank after us (agreement.h); where these
 *                           are one, place p of rank self xor k is our place k + p, as p < k
 *
 *   cost   log2 P messages one after the other, P - 1 cards in all
 */
arc_status_t mca_gather(arc_module_t *module, const mca_circle_t *circle, void *cards,
                        size_t card_bytes) ARC_MUST_CHECK;

/*
 * Which ranks of the communicator are on which node, as Open MPI tells.  `declared`, the same on
 * all: 0, or what counts as a node instead, so many ranks of MPI_COMM_WORLD in their order.  An
 * error may be ARC_ERR_NO_MEMORY, which breaks nothing; nothing is allocated then.
 */
arc_status_t mca_nodes_find(arc_module_t *module, unsigned declared,
                            arc_topology_t *topology) ARC_MUST_CHECK;

#endif
