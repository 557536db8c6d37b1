/*
 * The last few times of a candidate, each as a ratio to a time of another one that was measured
 * next to it: what slows both down for a while cancels.
 *
 * A time that a rank's lost core has made longer is as often the one above as the one below the
 * line, so the median of the ratios is right while fewer than half of them are hit.
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
    ARC_RATIOS = 64,      /* that are kept; of more the oldest go */
};

typedef struct arc_ratios {
    unsigned count; /* ever added, or since they were forgotten */
    uint16_t ratio[ARC_RATIOS];
} arc_ratios_t;

void arc_ratios_forget(arc_ratios_t *ratios);

/* Add over / under, of positive times. */
void arc_ratios_add(arc_ratios_t *ratios, uint64_t over, uint64_t under);

/* Those that are kept. */
static inline unsigned arc_ratios_kept(const arc_ratios_t *ratios)
{
    return ratios->count < ARC_RATIOS ? ratios->count : ARC_RATIOS;
}

/* The last one; 0: there is none. */
static inline uint32_t arc_ratios_last(const arc_ratios_t *ratios)
{
    return 0 == ratios->count ? 0 : ratios->ratio[(ratios->count - 1) % ARC_RATIOS];
}

/* Their median, in thousandths; 0: there are none. */
uint32_t arc_ratios_median(const arc_ratios_t *ratios);

/*
 * Is the median below `limit` and, without doubt, below 1; or, without doubt, above `limit`?  There
 * is doubt where it is no farther away than one and a half times its own uncertainty.
 */
bool arc_ratios_are_below(const arc_ratios_t *ratios, uint32_t limit);
bool arc_ratios_are_above(const arc_ratios_t *ratios, uint32_t limit);

/* Do the last `fresh` ratios tell something else than those before them? */
bool arc_ratios_have_moved(const arc_ratios_t *ratios, unsigned fresh);

/* Keep the last `fresh` only. */
void arc_ratios_keep(arc_ratios_t *ratios, unsigned fresh);

/* The ratios to another one, which itself has the ratio `base` to the one of before. */
void arc_ratios_rebase(arc_ratios_t *ratios, uint32_t base);

/* The ratios of the one of before to the one whose ratios these are. */
void arc_ratios_invert(arc_ratios_t *ratios);

#endif
