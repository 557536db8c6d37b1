/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "select_ratios.h"

enum {
    /* Beyond a factor of 60 nothing is decided by how far. */
    RATIO_MAX = 60 * ARC_RATIO_ONE,
    LEAST_SPREAD = 50, /* nothing is measured better than to 5 % by one ratio */
    FEW = 4,           /* of fewer ratios the spread says little ... */
    FEW_SPREAD = 200,  /* ... and is taken for this, or more */
    NEWEST = FEW - 1,
};

static uint16_t ratio_of(uint64_t over, uint64_t under)
{
    assert(over > 0 && under > 0);
    const uint64_t ratio = over / under >= RATIO_MAX / ARC_RATIO_ONE
                               ? RATIO_MAX
                               : (over * ARC_RATIO_ONE + under / 2) / under;
    return ratio > 0 ? (uint16_t) ratio : 1;
}

/*
 * Rounds become rare, so the kept ratios may reach far back, to other times.  Where the newest few
 * are below 1 beyond doubt, and all together above, only these count.
 */
static void forget_other_times(arc_ratios_t *ratios)
{
    arc_ratios_t newest = {.count = NEWEST};

    if (ratios->count <= NEWEST) {
        return;
    }
    for (unsigned i = 0; i < NEWEST; ++i) {
        newest.ratio[i] = ratios->ratio[(ratios->count - NEWEST + i) % ARC_RATIOS];
    }
    if (arc_ratios_are_below_one(&newest) && arc_ratios_are_above(ratios, ARC_RATIO_ONE)) {
        *ratios = newest;
    }
}

void arc_ratios_add(arc_ratios_t *ratios, uint64_t over, uint64_t under)
{
    ratios->ratio[ratios->count % ARC_RATIOS] = ratio_of(over, under);
    ratios->count += 1;
    forget_other_times(ratios);
}

void arc_ratios_rebase(arc_ratios_t *ratios, uint32_t base)
{
    for (unsigned i = 0; i < ratios->count && i < ARC_RATIOS; ++i) {
        ratios->ratio[i] = ratio_of(ratios->ratio[i], base);
    }
}

typedef struct spread {
    unsigned count;
    uint32_t median;
    uint32_t width; /* half of the ratios are in an interval so wide */
} spread_t;

static spread_t spread_of(const arc_ratios_t *ratios)
{
    uint32_t sorted[ARC_RATIOS];
    const unsigned count = ratios->count < ARC_RATIOS ? ratios->count : ARC_RATIOS;

    if (0 == count) {
        return (spread_t){.count = 0};
    }
    for (unsigned i = 0; i < count; ++i) {
        unsigned place = i;
        for (; place > 0 && sorted[place - 1] > ratios->ratio[i]; --place) {
            sorted[place] = sorted[place - 1];
        }
        sorted[place] = ratios->ratio[i];
    }
    const bool are_few = count < FEW;
    const uint32_t width =
        are_few ? sorted[count - 1] - sorted[0] : sorted[3 * count / 4] - sorted[count / 4];
    const uint32_t least = are_few ? FEW_SPREAD : LEAST_SPREAD;

    return (spread_t){.count = count,
                      .median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
                      .width = width > least ? width : least};
}

uint32_t arc_ratios_median(const arc_ratios_t *ratios)
{
    return spread_of(ratios).median;
}

/*
 * The standard deviation of a median of n normal ratios is 0.93 width / sqrt(n), since `width` is
 * 1.35 standard deviations of one.  One and a half times that: (2 away)^2 n > (3 width)^2, nearly.
 */
static bool is_beyond_doubt(const spread_t *spread, uint32_t away)
{
    const uint64_t twice_away = 2 * (uint64_t) away;
    const uint64_t doubt = 3 * (uint64_t) spread->width;

    return spread->count > 1 && twice_away * twice_away * spread->count > doubt * doubt;
}

bool arc_ratios_are_below_one(const arc_ratios_t *ratios)
{
    const spread_t spread = spread_of(ratios);

    return spread.median < ARC_RATIO_ONE && is_beyond_doubt(&spread, ARC_RATIO_ONE - spread.median);
}

bool arc_ratios_are_above(const arc_ratios_t *ratios, uint32_t limit)
{
    const spread_t spread = spread_of(ratios);

    return spread.median > limit && is_beyond_doubt(&spread, spread.median - limit);
}
