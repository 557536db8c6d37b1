/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stddef.h>

#include "exchange_schedule.h"

/* A tree, seen by a rank. */
typedef struct view {
    const exchange_tree_t *tree;
    const exchange_shape_t *shape;
    unsigned ranks;
    exchange_pair_t self;
} view_t;

/* What is `places` to the right of `from`. */
static exchange_pair_t right_of(const view_t *view, exchange_pair_t from, exchange_pair_t places)
{
    const exchange_shape_t *shape = view->shape;

    return (exchange_pair_t){
        .node = (from.node + places.node) % shape->nodes,
        .place = (from.place + places.place) % shape->per_node,
    };
}

static exchange_pair_t left_of(const view_t *view, exchange_pair_t from, exchange_pair_t places)
{
    const exchange_shape_t *shape = view->shape;

    return (exchange_pair_t){
        .node = (from.node + shape->nodes - places.node) % shape->nodes,
        .place = (from.place + shape->per_node - places.place) % shape->per_node,
    };
}

static unsigned rank_of(const view_t *view, exchange_pair_t pair)
{
    const unsigned at = pair.node * view->shape->per_node + pair.place;
    return NULL == view->shape->order ? at : view->shape->order[at];
}

static exchange_pair_t offset_of_vertex(const view_t *view, unsigned vertex)
{
    return exchange_tree_offset(view->tree, view->shape, vertex);
}

static unsigned shard_of(const view_t *view, exchange_pair_t owner)
{
    return (rank_of(view, owner) + 1) % view->ranks;
}

/* The round in which `vertex` sends its sum, or receives its total; that of the root is made then.
 */
static unsigned reduce_round(const view_t *view, unsigned vertex)
{
    return view->ranks - 1 - vertex;
}

static unsigned gather_round(const view_t *view, unsigned vertex)
{
    return view->ranks - 2 + vertex;
}

static bool is_inside(const view_t *view, unsigned vertex)
{
    return 0 != exchange_tree_pair(view->shape, vertex).place;
}

/* Who sends what to whom when the sum of `vertex` goes to `parent`. */
static exchange_round_t round_of_reduce(const view_t *view, unsigned vertex, unsigned parent)
{
    const exchange_pair_t sent_to = right_of(view, view->self, offset_of_vertex(view, vertex));
    const exchange_pair_t received_for = right_of(view, view->self, offset_of_vertex(view, parent));

    return (exchange_round_t){
        .send_peer = rank_of(view, left_of(view, sent_to, offset_of_vertex(view, parent))),
        .send_shard = shard_of(view, sent_to),
        .send_after = EXCHANGE_AFTER_NOTHING,
        .receive_peer = rank_of(view, left_of(view, received_for, offset_of_vertex(view, vertex))),
        .receive_shard = shard_of(view, received_for),
        .inside = is_inside(view, vertex),
    };
}

/* ... when `vertex` gets the total from `parent`. */
static exchange_round_t round_of_gather(const view_t *view, unsigned vertex, unsigned parent)
{
    const exchange_pair_t sent_of = left_of(view, view->self, offset_of_vertex(view, parent));
    const exchange_pair_t received_of = left_of(view, view->self, offset_of_vertex(view, vertex));

    return (exchange_round_t){
        .send_peer = rank_of(view, right_of(view, sent_of, offset_of_vertex(view, vertex))),
        .send_shard = shard_of(view, sent_of),
        .send_after = (int) gather_round(view, parent),
        .receive_peer = rank_of(view, right_of(view, received_of, offset_of_vertex(view, parent))),
        .receive_shard = shard_of(view, received_of),
        .inside = is_inside(view, vertex),
    };
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
    const unsigned ranks = exchange_shape_ranks(shape);
    const exchange_pair_t self = exchange_schedule_place(shape, rank);
    const view_t reduce = {tree, shape, ranks, self};
    const view_t gather = {exchange_tree_of_totals(tree), shape, ranks, self};
    int root_after = EXCHANGE_AFTER_NOTHING;

    for (unsigned vertex = ranks - 1; vertex > 0; --vertex) {
        const unsigned parent = exchange_tree_parent(tree, shape, vertex);
        round[reduce_round(&reduce, vertex)] = round_of_reduce(&reduce, vertex, parent);
    }
    /* The last child comes first, and what the parent sends is complete after the first child. */
    for (unsigned vertex = ranks - 1; vertex > 0; --vertex) {
        const unsigned parent = exchange_tree_parent(tree, shape, vertex);
        const unsigned index = reduce_round(&reduce, vertex);
        int *after = 0 == parent ? &root_after : &round[reduce_round(&reduce, parent)].send_after;
        round[index].opens = EXCHANGE_AFTER_NOTHING == *after;
        round[index].totals = 1 == vertex;
        *after = (int) index;
    }
    for (unsigned vertex = 1; vertex < ranks; ++vertex) {
        const unsigned parent = exchange_tree_parent(gather.tree, shape, vertex);
        round[gather_round(&gather, vertex)] = round_of_gather(&gather, vertex, parent);
        ++round[gather_round(&gather, parent)].forwards;
    }
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

unsigned exchange_group_member(const exchange_group_t *group, unsigned at)
{
    return at / group->stride % group->ranks;
}

unsigned exchange_group_rank(const exchange_group_t *group, const exchange_shape_t *shape,
                             unsigned at, unsigned member)
{
    const unsigned place =
        at - exchange_group_member(group, at) * group->stride + member * group->stride;
    return NULL == shape->order ? place : shape->order[place];
}
