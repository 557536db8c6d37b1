/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_schedule.h"

/* One direction of a tree, seen by a rank. */
typedef struct view {
    const quant_tree_t *tree;
    unsigned ranks;
    unsigned rank;
    unsigned direction;
} view_t;

/* The rank `places` to the right of `rank`, to the left in the second direction. */
static unsigned right_of(const view_t *view, unsigned rank, unsigned places)
{
    unsigned right = 0 == view->direction ? places : view->ranks - places;
    return (rank + right) % view->ranks;
}

static unsigned left_of(const view_t *view, unsigned rank, unsigned places)
{
    return right_of(view, rank, view->ranks - places);
}

static unsigned offset(const view_t *view, unsigned node)
{
    return view->tree->offset(view->ranks, node);
}

static unsigned shard_of(const view_t *view, unsigned owner)
{
    return view->direction * view->ranks + (owner + 1) % view->ranks;
}

/* The index of the round of this direction in which `node` sends its sum, or receives its total. */
static unsigned reduce_round(const view_t *view, unsigned node)
{
    return (view->ranks - 1 - node) * view->tree->directions + view->direction;
}

static unsigned gather_round(const view_t *view, unsigned node)
{
    return (view->ranks - 2 + node) * view->tree->directions + view->direction;
}

/* The receive after which the sum of `node` has everything below it. */
static int summed_in(const view_t *view, unsigned node)
{
    unsigned child = quant_tree_first_child(view->tree, view->ranks, node);
    return child == node ? QUANT_AFTER_NOTHING : (int) reduce_round(view, child);
}

static quant_round_t reduce(const view_t *view, unsigned node)
{
    const unsigned parent = view->tree->parent(view->ranks, node);
    const unsigned sent_to = right_of(view, view->rank, offset(view, node));
    const unsigned received_for = right_of(view, view->rank, offset(view, parent));
    const bool totals =
        0 == parent && node == quant_tree_first_child(view->tree, view->ranks, parent);

    return (quant_round_t){
        .send_peer = left_of(view, sent_to, offset(view, parent)),
        .send_shard = shard_of(view, sent_to),
        .send_after = summed_in(view, node),
        .receive_peer = left_of(view, received_for, offset(view, node)),
        .receive_shard = shard_of(view, received_for),
        .opens = node == quant_tree_last_child(view->tree, view->ranks, parent),
        .totals = totals,
        .forwards = totals ? quant_tree_children(view->tree, view->ranks, 0) : 0,
    };
}

static quant_round_t gather(const view_t *view, unsigned node)
{
    const unsigned parent = view->tree->parent(view->ranks, node);
    const unsigned sent_of = left_of(view, view->rank, offset(view, parent));
    const unsigned received_of = left_of(view, view->rank, offset(view, node));

    return (quant_round_t){
        .send_peer = right_of(view, sent_of, offset(view, node)),
        .send_shard = shard_of(view, sent_of),
        .send_after = 0 == parent ? summed_in(view, 0) : (int) gather_round(view, parent),
        .receive_peer = right_of(view, received_of, offset(view, parent)),
        .receive_shard = shard_of(view, received_of),
        .forwards = quant_tree_children(view->tree, view->ranks, node),
    };
}

unsigned quant_schedule_shards(const quant_tree_t *tree, unsigned ranks)
{
    return ranks * tree->directions;
}

unsigned quant_schedule_rounds(const quant_tree_t *tree, unsigned ranks)
{
    return 2 * (ranks - 1) * tree->directions;
}

quant_round_t quant_schedule_round(const quant_tree_t *tree, unsigned ranks, unsigned rank,
                                   unsigned index)
{
    const unsigned turn = index / tree->directions;
    const view_t view = {
        .tree = tree,
        .ranks = ranks,
        .rank = rank,
        .direction = index % tree->directions,
    };
    return turn < ranks - 1 ? reduce(&view, ranks - 1 - turn) : gather(&view, turn - (ranks - 2));
}
