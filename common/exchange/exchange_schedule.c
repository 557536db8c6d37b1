/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stddef.h>

#include "exchange_schedule.h"

/* A tree, seen by a rank. */
typedef struct view {
    const exchange_tree_t *tree;
    const exchange_shape_t *shape;
    exchange_pair_t self;
} view_t;

/* What is `by` places to the right of `from`, or to the left. */
static exchange_pair_t moved(const exchange_shape_t *shape, exchange_pair_t from,
                             exchange_pair_t by, bool right)
{
    by.node = right ? by.node : shape->nodes - by.node;
    by.place = right ? by.place : shape->per_node - by.place;
    return (exchange_pair_t){
        .node = (from.node + by.node) % shape->nodes,
        .place = (from.place + by.place) % shape->per_node,
    };
}

static unsigned rank_of(const exchange_shape_t *shape, exchange_pair_t pair)
{
    const unsigned at = pair.node * shape->per_node + pair.place;
    return NULL == shape->order ? at : shape->order[at];
}

/*
 * The shard of which the rank is vertex `own`, and the rank that is vertex `other` of it.  `right`:
 * the owner is to the right, as in a reduce-scatter; else to the left.
 */
static void find_peer(const view_t *view, unsigned own, unsigned other, bool right, unsigned *shard,
                      unsigned *peer)
{
    const exchange_shape_t *shape = view->shape;
    const exchange_pair_t owner =
        moved(shape, view->self, exchange_tree_offset(view->tree, shape, own), right);

    *shard = (rank_of(shape, owner) + 1) % exchange_shape_ranks(shape);
    *peer =
        rank_of(shape, moved(shape, owner, exchange_tree_offset(view->tree, shape, other), !right));
}

/* The round in which `vertex` sends its sum. */
static unsigned reduce_round(const exchange_shape_t *shape, unsigned vertex)
{
    return exchange_shape_ranks(shape) - 1 - vertex;
}

/* ... in which it gets its total; the root makes it. */
static unsigned gather_round(const exchange_shape_t *shape, unsigned vertex)
{
    return exchange_shape_ranks(shape) - 2 + vertex;
}

static void make_reduce(const view_t *view, exchange_round_t *round)
{
    const unsigned ranks = exchange_shape_ranks(view->shape);
    int root_after = EXCHANGE_AFTER_NOTHING;

    for (unsigned i = 0; i + 1 < ranks; ++i) {
        round[i].send_after = EXCHANGE_AFTER_NOTHING;
    }
    /* The last child comes first, and what the parent sends is complete after the first child. */
    for (unsigned vertex = ranks - 1; vertex > 0; --vertex) {
        const unsigned parent = exchange_tree_parent(view->tree, view->shape, vertex);
        const unsigned index = reduce_round(view->shape, vertex);
        exchange_round_t *own = &round[index];
        int *after =
            0 == parent ? &root_after : &round[reduce_round(view->shape, parent)].send_after;
        find_peer(view, vertex, parent, true, &own->send_shard, &own->send_peer);
        find_peer(view, parent, vertex, true, &own->receive_shard, &own->receive_peer);
        own->opens = EXCHANGE_AFTER_NOTHING == *after;
        own->totals = 1 == vertex;
        own->forwards = 0;
        own->inside = 0 != exchange_tree_pair(view->shape, vertex).place;
        *after = (int) index;
    }
}

static void make_gather(const view_t *view, exchange_round_t *round)
{
    for (unsigned vertex = 1; vertex < exchange_shape_ranks(view->shape); ++vertex) {
        const unsigned parent = exchange_tree_parent(view->tree, view->shape, vertex);
        exchange_round_t *own = &round[gather_round(view->shape, vertex)];
        *own = (exchange_round_t){
            .send_after = (int) gather_round(view->shape, parent),
            .inside = 0 != exchange_tree_pair(view->shape, vertex).place,
        };
        find_peer(view, parent, vertex, false, &own->send_shard, &own->send_peer);
        find_peer(view, vertex, parent, false, &own->receive_shard, &own->receive_peer);
        ++round[own->send_after].forwards;
    }
}

unsigned exchange_schedule_rounds(const exchange_shape_t *shape)
{
    return 2 * (exchange_shape_ranks(shape) - 1);
}

exchange_pair_t exchange_schedule_place(const exchange_shape_t *shape, unsigned rank)
{
    unsigned at = rank;

    if (NULL != shape->order) {
        for (at = 0; rank != shape->order[at];) {
            ++at;
        }
    }
    return (exchange_pair_t){.node = at / shape->per_node, .place = at % shape->per_node};
}

void exchange_schedule_make(const exchange_tree_t *tree, const exchange_shape_t *shape,
                            unsigned rank, exchange_round_t *round)
{
    const exchange_pair_t self = exchange_schedule_place(shape, rank);

    make_reduce(&(view_t){tree, shape, self}, round);
    make_gather(&(view_t){exchange_tree_of_totals(tree), shape, self}, round);
}

exchange_group_t exchange_schedule_group(const exchange_shape_t *shape, unsigned step)
{
    const unsigned numbers[] = {shape->per_node, shape->nodes};
    unsigned stride = 1;

    for (unsigned i = 0; i < 2; ++i) {
        unsigned number = numbers[i];
        for (unsigned factor = 2; number > 1; ++factor) {
            for (; 0 == number % factor; number /= factor) {
                if (0 == step) {
                    return (exchange_group_t){factor, stride, 0 == i};
                }
                --step;
                stride *= factor;
            }
        }
    }
    return (exchange_group_t){.ranks = 0};
}
