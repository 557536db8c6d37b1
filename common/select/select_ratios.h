/*
 * The last few times of a candidate, each as a ratio to a time of another one that was measured
 * next to it: what slows both down for a while cancels.
 *
 * A rank that loses its core makes the upper time of a ratio longer as often as the lower one, so
 * the median of the ratios is right while fewer than half of them are hit.
 *
 * Pure.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SELECT_RATIOS_H
#define ARC_SELECT_RATIOS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ARC_RATIO_ONE = 1000, /* ratios are counted in thousandths */
    ARC_RATIOS = 64,      /* that are kept: a new one replaces the oldest */
};

typedef struct arc_ratios {
    unsigned count; /* added since it was last set to 0, which forgets them */
    uint16_t ratio[ARC_RATIOS];
} arc_ratios_t;

/* Add over / under, of positive times.  May forget those of other times. */
void arc_ratios_add(arc_ratios_t *ratios, uint64_t over, uint64_t under);

/* Turn them into ratios to another candidate, whose ratio to the former one is `base`. */
void arc_ratios_rebase(arc_ratios_t *ratios, uint32_t base);

/* Their median, in thousandths; 0: there are none. */
uint32_t arc_ratios_median(const arc_ratios_t *ratios);

/*
 * Is the median below 1, or above `limit`, by more than one and a half times its own uncertainty?
 */
bool arc_ratios_are_below_one(const arc_ratios_t *ratios);
bool arc_ratios_are_above(const arc_ratios_t *ratios, uint32_t limit);

#endif
