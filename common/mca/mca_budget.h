/*
 * The limit of the memory that a process shares or lets others put into, for one component: its
 * part of what that may have on a node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_BUDGET_H
#define MCA_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* Nothing is taken yet of `most_bytes`, of all processes of the job on this node together. */
void mca_budget_open(size_t most_bytes);

/* Windows may take the first half of the limit only: without segments nothing is served. */
typedef enum mca_budget { MCA_BUDGET_WHOLE = 1, MCA_BUDGET_HALF } mca_budget_t;

/*
 * Count memory of this process: `best` bytes, or as many whole pages as its part of the node's
 * limit leaves, but not less than `least`.  Returns how many; 0: none.
 */
size_t mca_budget_take(size_t least, size_t best, mca_budget_t part);
void mca_budget_return(size_t bytes);

/*
 * A segment of `bytes` bytes for a persistent request, out of half of the limit: a program may keep
 * any number of them, and communicators to come need memory, too.  False: that is used up.
 */
bool mca_budget_take_for_request(size_t bytes);
void mca_budget_return_of_request(size_t bytes);

#endif
