/*
 * Between the two halves of the selector: select.c counts calls and decides, select_round.c says
 * what a round is made of and when there is time for one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SELECT_ROUND_H
#define ARC_SELECT_ROUND_H

#include "select.h"

/* After a turn of the present choice alone, at first, its time is known, and others can be tried.
 */
enum { ARC_SELECT_FIRST_ROUND = 1 };

/* The ratio of a candidate to the present choice, measured or guessed. */
uint32_t arc_select_ratio(const arc_select_t *select, unsigned candidate);

/* The share for exploring of the time of all calls. */
uint64_t arc_select_share_ns(const arc_select_t *select);

/* Fill the list of turns; the round under way is this one. */
void arc_select_compose_round(arc_select_t *select);

/* Set `left`, to the call before the next round. */
void arc_select_wait_for_round(arc_select_t *select);

#endif
