/*
 * The limit of the memory that a process shares or lets others put into: its part of
 * coll_lowlat_max_memory, which is that of a node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_BUDGET_H
#define COLL_LOWLAT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* Nothing is taken yet of `most_bytes`, of all processes of the job on this node together. */
void lowlat_budget_open(size_t most_bytes);

/* Windows may take the first half of the limit only: without segments nothing is served. */
typedef enum lowlat_budget { LOWLAT_BUDGET_WHOLE = 1, LOWLAT_BUDGET_HALF } lowlat_budget_t;

/*
 * Count memory of this process: `best` bytes, or as many whole pages as its part of the node's
 * limit leaves, but not less than `least`.  Returns how many; 0: none.
 */
size_t lowlat_budget_take(size_t least, size_t best, lowlat_budget_t part);
void lowlat_budget_return(size_t bytes);

/*
 * A segment of `bytes` bytes for a persistent request, out of half of the limit: a program may keep
 * any number of them, and communicators to come need memory, too.  False: that is used up.
 */
bool lowlat_budget_take_for_request(size_t bytes);
void lowlat_budget_return_of_request(size_t bytes);

#endif
