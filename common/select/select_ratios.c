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
    MOVED = 150,       /* thousandths by which a median must have moved */
};

void arc_ratios_forget(arc_ratios_t *ratios)
{
    ratios->count = 0;
}

static uint16_t ratio_of(uint64_t over, uint64_t under)
{
    assert(over > 0 && under > 0);
    const uint64_t ratio = over / under >= RATIO_MAX / ARC_RATIO_ONE
                               ? RATIO_MAX
                               : (over * ARC_RATIO_ONE + under / 2) / under;
    return ratio > 0 ? (uint16_t) ratio : 1;
}

void arc_ratios_add(arc_ratios_t *ratios, uint64_t over, uint64_t under)
{
    ratios->ratio[ratios->count % ARC_RATIOS] = ratio_of(over, under);
    ratios->count += 1;
}

typedef struct spread {
    unsigned count;
    uint32_t median;
    uint32_t width; /* half of the ratios are in an interval so wide */
} spread_t;

/* Of the ratios from number `first` to the one before number `end`, which are kept. */
static spread_t spread_of(const arc_ratios_t *ratios, unsigned first, unsigned end)
{
    uint32_t sorted[ARC_RATIOS];
    spread_t spread = {.count = 0};

    for (unsigned i = first; i < end; ++i) {
        const uint32_t ratio = ratios->ratio[i % ARC_RATIOS];
        unsigned place = spread.count++;
        for (; place > 0 && sorted[place - 1] > ratio; --place) {
            sorted[place] = sorted[place - 1];
        }
        sorted[place] = ratio;
    }
    const unsigned count = spread.count;
    if (0 == count) {
        return spread;
    }
    spread.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    if (count < FEW) {
        const uint32_t width = sorted[count - 1] - sorted[0];
        spread.width = width > FEW_SPREAD ? width : FEW_SPREAD;
    } else {
        const uint32_t width = sorted[3 * count / 4] - sorted[count / 4];
        spread.width = width > LEAST_SPREAD ? width : LEAST_SPREAD;
    }
    return spread;
}

static spread_t spread_of_all(const arc_ratios_t *ratios)
{
    return spread_of(ratios, ratios->count - arc_ratios_kept(ratios), ratios->count);
}

uint32_t arc_ratios_median(const arc_ratios_t *ratios)
{
    return spread_of_all(ratios).median;
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

bool arc_ratios_are_below(const arc_ratios_t *ratios, uint32_t limit)
{
    const spread_t spread = spread_of_all(ratios);

    return spread.median < limit && spread.median < ARC_RATIO_ONE &&
           is_beyond_doubt(&spread, ARC_RATIO_ONE - spread.median);
}

bool arc_ratios_are_above(const arc_ratios_t *ratios, uint32_t limit)
{
    const spread_t spread = spread_of_all(ratios);

    return spread.median > limit && is_beyond_doubt(&spread, spread.median - limit);
}

bool arc_ratios_have_moved(const arc_ratios_t *ratios, unsigned fresh)
{
    const unsigned kept = arc_ratios_kept(ratios);

    if (fresh < FEW || kept < fresh + FEW) {
        return false;
    }
    const spread_t late = spread_of(ratios, ratios->count - fresh, ratios->count);
    const spread_t early = spread_of(ratios, ratios->count - kept, ratios->count - fresh);
    const uint32_t away =
        late.median > early.median ? late.median - early.median : early.median - late.median;
    return away > MOVED && is_beyond_doubt(&late, away / 2) && is_beyond_doubt(&early, away / 2);
}

void arc_ratios_keep(arc_ratios_t *ratios, unsigned fresh)
{
    uint16_t last[ARC_RATIOS];

    assert(fresh <= arc_ratios_kept(ratios));
    for (unsigned i = 0; i < fresh; ++i) {
        last[i] = ratios->ratio[(ratios->count - fresh + i) % ARC_RATIOS];
    }
    for (unsigned i = 0; i < fresh; ++i) {
        ratios->ratio[i] = last[i];
    }
    ratios->count = fresh;
}

void arc_ratios_rebase(arc_ratios_t *ratios, uint32_t base)
{
    for (unsigned i = 0; i < arc_ratios_kept(ratios); ++i) {
        ratios->ratio[i] = ratio_of(ratios->ratio[i], base);
    }
}

void arc_ratios_invert(arc_ratios_t *ratios)
{
    for (unsigned i = 0; i < arc_ratios_kept(ratios); ++i) {
        ratios->ratio[i] = ratio_of(ARC_RATIO_ONE, ratios->ratio[i]);
    }
}
