/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "lowlat_turn.h"
#include "sizes.h"

enum {
    BLOCK_ELEMS = 1024, /* two blocks of floats stay in the first-level cache */
    ALIGN_BYTES = 64,
    HALF_BYTES = sizeof(uint16_t),
};

static unsigned char *place_at(const lowlat_turn_t *turn, unsigned place)
{
    return turn->places + place * turn->place_bytes;
}

/* ---- as they are ---- */

static void add_all(const lowlat_turn_t *turn, void *to)
{
    const arc_reducer_t *reducer = turn->reducer;
    const lowlat_order_t *order = turn->order;
    const void *sum = turn->came;

    for (unsigned i = order->first[turn->number]; i < order->first[turn->number + 1]; ++i) {
        const lowlat_merge_t *merge = &order->merge[i];
        const void *with =
            LOWLAT_ORDER_OWN == merge->with ? turn->own : place_at(turn, merge->with);
        const void *parts[] = {merge->with_is_left ? with : sum, merge->with_is_left ? sum : with};
        reducer->reduce(parts, 2, to, turn->count, reducer->context);
        sum = to;
    }
    if (sum == turn->came) {
        memcpy(to, sum, turn->count * reducer->stride_bytes);
    }
}

/* ---- widened, a block after the other ---- */

static const void *halves_at(const void *halves, size_t first)
{
    return (const unsigned char *) halves + first * HALF_BYTES;
}

static float *floats_at(const lowlat_turn_t *turn, unsigned place, size_t first)
{
    return (float *) (void *) place_at(turn, place) + first;
}

/* sum[0 .. elems) = what all merges of the turn make of the elements from `first` on. */
static void add_block(const lowlat_turn_t *turn, size_t first, size_t elems, float *sum)
{
    _Alignas(ALIGN_BYTES) float own[BLOCK_ELEMS];
    const lowlat_widened_t *widened = turn->widened;
    const lowlat_order_t *order = turn->order;

    widened->half.widen(halves_at(turn->came, first), sum, elems);
    for (unsigned i = order->first[turn->number]; i < order->first[turn->number + 1]; ++i) {
        const lowlat_merge_t *merge = &order->merge[i];
        const float *with = own;
        if (LOWLAT_ORDER_OWN == merge->with) {
            widened->half.widen(halves_at(turn->own, first), own, elems);
        } else {
            with = floats_at(turn, merge->with, first);
        }
        const void *parts[] = {merge->with_is_left ? with : sum, merge->with_is_left ? sum : with};
        widened->add(parts, 2, sum, elems, NULL);
    }
}

void lowlat_turn_keep(const lowlat_turn_t *turn)
{
    _Alignas(ALIGN_BYTES) float sum[BLOCK_ELEMS];
    const unsigned kept = turn->order->kept[turn->number];

    if (NULL == turn->widened) {
        add_all(turn, place_at(turn, kept));
        return;
    }
    assert(turn->count * sizeof *sum <= turn->place_bytes);
    /* Of the place itself a merge reads what is of the block. */
    for (size_t first = 0; first < turn->count; first += BLOCK_ELEMS) {
        const size_t elems = arc_min(turn->count - first, BLOCK_ELEMS);
        add_block(turn, first, elems, sum);
        memcpy(floats_at(turn, kept, first), sum, elems * sizeof *sum);
    }
}

void lowlat_turn_end(const lowlat_turn_t *turn, void *total)
{
    _Alignas(ALIGN_BYTES) float sum[BLOCK_ELEMS];

    if (NULL == turn->widened) {
        add_all(turn, total);
        return;
    }
    for (size_t first = 0; first < turn->count; first += BLOCK_ELEMS) {
        const size_t elems = arc_min(turn->count - first, BLOCK_ELEMS);
        add_block(turn, first, elems, sum);
        turn->widened->half.narrow(sum, (unsigned char *) total + first * HALF_BYTES, elems);
    }
}
