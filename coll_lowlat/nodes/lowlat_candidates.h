/*
 * The ways to make a call between nodes among which a communicator chooses, by its own calls
 * (select.h): the component below, and the algorithms for several nodes, each with one owner in
 * each node (a leader) or with all of them.
 *
 * Before anything is known rules choose (lowlat_rules.h), and guesses say what is worth a try.  Why
 * times are measured and not computed: docs/algorithms.md, "Which when".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_CANDIDATES_H
#define LOWLAT_CANDIDATES_H

#include "lowlat_net.h"
#include "lowlat_rules.h"
#include "select.h"

typedef struct lowlat_candidates {
    unsigned count;
    lowlat_candidate_t candidate[ARC_SELECT_CANDIDATES];
} lowlat_candidates_t;

/*
 * Those that keep the order of sums, on nodes of which the smallest has `owners` ranks; with
 * `reproducible` without the component below, which has another order.
 */
void lowlat_candidates_list(lowlat_candidates_t *list, unsigned owners, bool reproducible);

/* Ours once more, over puts; behind those that are there. */
void lowlat_candidates_add_puts(lowlat_candidates_t *list);

/* The number in the list; with one owner a node has no leaders.  `count` if there is none. */
unsigned lowlat_candidates_find(const lowlat_candidates_t *list, lowlat_candidate_t candidate);

/* The longest message of a class (select.h). */
static inline size_t lowlat_class_most(unsigned class)
{
    return class + 1 < ARC_SELECT_CLASSES ? arc_select_class_end(class) - 1 : SIZE_MAX;
}

/* The time of a candidate in thousandths of that of the fastest, at a guess (select.h). */
uint32_t lowlat_candidate_guess(lowlat_candidate_t candidate, const lowlat_net_t *net,
                                size_t bytes);

#endif
