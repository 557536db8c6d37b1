/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "lowlat_order.h"
#include "lowlat_pairing.h"
#include "sizes.h"

/*
 * Vertices are numbered as in a heap: 1 is the root, 2v and 2v + 1 are below v.  Positions are
 * below one another; a proxy and its extra are below their position.
 */
enum {
    ROOT = 1,
    VERTICES = 2 * LOWLAT_ORDER_NODES, /* of the proxies of 127 nodes the last has 253 */
    ABSENT = 254,                      /* the vertex has no sum, or it went into another */
};
static_assert((int) LOWLAT_ORDER_NODES <= (int) ABSENT, "a place is a number below");

static unsigned vertex_of(unsigned node, unsigned nodes)
{
    const lowlat_role_t role = lowlat_role(node, nodes, 0);
    const unsigned vertex = (1u << role.steps) + role.position;

    return role.is_proxy || role.is_extra ? 2 * vertex + role.is_extra : vertex;
}

static unsigned sibling_of(unsigned vertex)
{
    return vertex ^ 1;
}

static uint8_t take_place(lowlat_order_t *order, uint64_t *taken)
{
    const unsigned place = (unsigned) __builtin_ctzll(~*taken);

    *taken |= UINT64_C(1) << place;
    order->places = place < order->places ? order->places : place + 1;
    return (uint8_t) place;
}

void lowlat_order_init(lowlat_order_t *order, unsigned owner, unsigned nodes)
{
    uint8_t place_of[VERTICES]; /* of the vertex's sum */
    uint64_t taken = 0;
    unsigned merges = 0;

    assert(nodes >= 2 && nodes <= LOWLAT_ORDER_NODES);
    memset(order, 0, sizeof *order);
    memset(place_of, ABSENT, sizeof place_of);
    place_of[vertex_of(owner, nodes)] = LOWLAT_ORDER_OWN;
    for (unsigned turn = 0; turn + 1 < nodes; ++turn) {
        unsigned vertex = vertex_of((owner + 1 + turn) % nodes, nodes);
        const bool is_last = turn + 2 == nodes;
        uint8_t kept = ABSENT;

        order->first[turn] = (uint8_t) merges;
        while (ROOT != vertex && ABSENT != place_of[sibling_of(vertex)]) {
            const uint8_t with = place_of[sibling_of(vertex)];
            const bool is_free = LOWLAT_ORDER_OWN != with;
            order->merge[merges++] = (lowlat_merge_t){with, vertex > sibling_of(vertex)};
            place_of[sibling_of(vertex)] = ABSENT;
            /*
             * The place of the first merge.  If that is with the own part, neighbours are one: in
             * the first turn, which has no other merge, or in the last one, which keeps nothing.
             */
            if (ABSENT == kept && is_free) {
                kept = with;
            } else if (is_free) {
                taken &= ~(UINT64_C(1) << with);
            }
            vertex /= 2;
        }
        if (!is_last) {
            kept = ABSENT == kept ? take_place(order, &taken) : kept;
            place_of[vertex] = kept;
            order->kept[turn] = kept;
        }
    }
    order->first[nodes - 1] = (uint8_t) merges;
    assert(merges == nodes - 1);
}

unsigned lowlat_order_places(unsigned nodes)
{
    unsigned places = 0;

    for (unsigned owner = 0; owner < nodes; ++owner) {
        lowlat_order_t order;
        lowlat_order_init(&order, owner, nodes);
        places = order.places > places ? order.places : places;
    }
    return places;
}

/* ---- a turn ---- */

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

void lowlat_turn_add(const lowlat_turn_t *turn, void *total)
{
    _Alignas(ALIGN_BYTES) float sum[BLOCK_ELEMS];
    const unsigned kept = turn->order->kept[turn->number];

    if (NULL == turn->widened) {
        add_all(turn, NULL == total ? place_at(turn, kept) : total);
        return;
    }
    assert(NULL != total || turn->count * sizeof *sum <= turn->place_bytes);
    /* Of the place itself a merge reads what is of the block. */
    for (size_t first = 0; first < turn->count; first += BLOCK_ELEMS) {
        const size_t elems = arc_min(turn->count - first, BLOCK_ELEMS);
        add_block(turn, first, elems, sum);
        if (NULL == total) {
            memcpy(floats_at(turn, kept, first), sum, elems * sizeof *sum);
        } else {
            turn->widened->half.narrow(sum, (unsigned char *) total + first * HALF_BYTES, elems);
        }
    }
}
