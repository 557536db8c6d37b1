/*
 * What the pipeline takes for granted of every tree and its schedule, for up to
 * 57 ranks: the two ends of a message agree, nothing is sent before it is
 * complete, every rank adds its part once and gets each total once.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "quant_algos.h"
#include "exchange_schedule.h"

enum { RANKS_MAX = 57 };

/* Of all ranks of the shape for which make_rounds() was called last. */
static exchange_round_t rounds_of[RANKS_MAX][2 * RANKS_MAX];

static void make_rounds(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    for (unsigned rank = 0; rank < exchange_shape_ranks(shape); ++rank) {
        exchange_schedule_make(tree, shape, rank, rounds_of[rank]);
    }
}

typedef void check_fn_t(const exchange_tree_t *tree, const exchange_shape_t *shape);

static void for_each_placement(const exchange_tree_t *tree, unsigned nodes, unsigned per_node,
                               check_fn_t *check)
{
    const unsigned ranks = nodes * per_node;
    unsigned order[RANKS_MAX];
    exchange_shape_t shape = {.nodes = nodes, .per_node = per_node};

    check(tree, &shape);
    /* Dealt to the nodes in turn; anywhere: 5 is prime to the ranks, or they stay where they
     * are. */
    shape.order = order;
    for (unsigned rank = 0; rank < ranks; ++rank) {
        order[rank % nodes * per_node + rank / nodes] = rank;
    }
    check(tree, &shape);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        order[rank] = 0 == ranks % 5 ? ranks - 1 - rank : 5 * rank % ranks;
    }
    check(tree, &shape);
}

static void for_each_tree(check_fn_t *check)
{
    for (size_t i = 0; NULL != quant_algo_at(i); ++i) {
        const exchange_tree_t *tree = quant_algo_at(i)->tree;

        for (unsigned ranks = 2; ranks <= RANKS_MAX; ++ranks) {
            const exchange_shape_t flat = exchange_shape_flat(ranks);
            check(tree, &flat);
            for (unsigned per_node = 1; tree->levels && per_node <= ranks; ++per_node) {
                if (0 == ranks % per_node) {
                    for_each_placement(tree, ranks / per_node, per_node, check);
                }
            }
        }
    }
    for (unsigned ranks = 2; ranks <= RANKS_MAX; ++ranks) {
        const exchange_shape_t flat = exchange_shape_flat(ranks);
        check(&exchange_direct_loop, &flat);
    }
}

static void check_tree(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    const unsigned ranks = exchange_shape_ranks(shape);
    uint64_t placed = 0;

    for (unsigned vertex = 0; vertex < ranks; ++vertex) {
        const exchange_pair_t offset = exchange_tree_offset(tree, shape, vertex);
        const unsigned at = offset.node * shape->per_node + offset.place;

        assert_true(offset.node < shape->nodes && offset.place < shape->per_node);
        assert_true(0 != vertex || 0 == at);
        assert_true(0 == vertex || exchange_tree_parent(tree, shape, vertex) < vertex);
        assert_true(0 == (placed >> at & 1));
        placed |= UINT64_C(1) << at;
    }
}

TEST(parents_come_first_and_every_rank_is_placed_once)
{
    for_each_tree(check_tree);
}

/* What a vertex has to wait for and to keep, by a search for its children. */
static void check_children(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    const unsigned ranks = exchange_shape_ranks(shape);
    unsigned most = 0;
    unsigned ends[RANKS_MAX] = {0}; /* vertices whose last child it is */

    make_rounds(tree, shape);
    for (unsigned vertex = 0, open = 0; vertex < ranks; ++vertex) {
        unsigned children = 0;
        unsigned first = vertex;
        unsigned last = vertex;
        for (unsigned child = vertex + 1; child < ranks; ++child) {
            if (vertex == exchange_tree_parent(tree, shape, child)) {
                first = 0 == children ? child : first;
                last = child;
                ++children;
            }
        }
        if (0 != vertex) {
            const int after = first == vertex ? EXCHANGE_AFTER_NOTHING : (int) (ranks - 1 - first);
            assert_int_equal(after, rounds_of[0][ranks - 1 - vertex].send_after);
        }
        if (NULL == tree->gather) {
            assert_int_equal(children, rounds_of[0][ranks - 2 + vertex].forwards);
        }
        open += (last != vertex) - ends[vertex];
        ++ends[last];
        most = open > most ? open : most;
    }
    /* The form for levels is one or two more than there are. */
    const unsigned slack = tree->levels && shape->nodes > 16 && shape->per_node > 1 ? 2 : 0;
    const unsigned open_most = tree->open(shape->nodes, shape->per_node);
    assert_true(most <= open_most && most + slack >= open_most);
}

TEST(a_vertex_waits_for_those_whose_parent_it_is)
{
    for_each_tree(check_children);
}

/* The node of a rank. */
static unsigned node_of(const exchange_shape_t *shape, unsigned rank)
{
    unsigned at = rank;

    for (unsigned i = 0; NULL != shape->order && i < exchange_shape_ranks(shape); ++i) {
        at = rank == shape->order[i] ? i : at;
    }
    return at / shape->per_node;
}

static void check_ends(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    make_rounds(tree, shape);
    for (unsigned index = 0; index < exchange_schedule_rounds(shape); ++index) {
        for (unsigned rank = 0; rank < exchange_shape_ranks(shape); ++rank) {
            const exchange_round_t mine = rounds_of[rank][index];
            const exchange_round_t other = rounds_of[mine.send_peer][index];
            const bool inside = node_of(shape, rank) == node_of(shape, mine.send_peer);
            assert_true(mine.send_peer != rank);
            assert_int_equal(inside, mine.inside);
            assert_int_equal(inside, other.inside);
            assert_int_equal(rank, other.receive_peer);
            assert_int_equal(mine.send_shard, other.receive_shard);
            assert_true(mine.send_after < (int) index);
        }
    }
}

TEST(both_ends_of_a_message_agree)
{
    for_each_tree(check_ends);
}

/* Bit r of has[rank][shard]: the sum there has the part of rank r. */
static uint64_t has[RANKS_MAX][RANKS_MAX];

static void check_contents(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    const unsigned ranks = exchange_shape_ranks(shape);
    const uint64_t all = (UINT64_C(1) << ranks) - 1;
    const unsigned shards = ranks;
    const unsigned rounds = exchange_schedule_rounds(shape);

    make_rounds(tree, shape);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        for (unsigned shard = 0; shard < shards; ++shard) {
            has[rank][shard] = UINT64_C(1) << rank;
        }
    }
    for (unsigned index = 0; index < rounds; ++index) {
        for (unsigned rank = 0; rank < ranks; ++rank) {
            const exchange_round_t round = rounds_of[rank][index];
            uint64_t *mine = &has[rank][round.receive_shard];
            const uint64_t sent = has[round.receive_peer][round.receive_shard];
            if (index < rounds / 2) {
                assert_true(0 == (*mine & sent));
                assert_true(round.opens == (*mine == UINT64_C(1) << rank));
                *mine |= sent;
                assert_true(round.totals == (*mine == all));
            } else {
                assert_true(*mine != all && sent == all);
                *mine = all;
            }
        }
    }
    for (unsigned rank = 0; rank < ranks; ++rank) {
        for (unsigned shard = 0; shard < shards; ++shard) {
            assert_true(all == has[rank][shard]);
        }
    }
}

TEST(every_part_is_added_once_and_every_total_arrives_once)
{
    for_each_tree(check_contents);
}

TEST(totals_may_descend_another_tree)
{
    for (unsigned ranks = 2; ranks <= RANKS_MAX; ++ranks) {
        const exchange_shape_t shape = exchange_shape_flat(ranks);
        make_rounds(&exchange_direct_loop, &shape);
        for (unsigned index = 0; index < exchange_schedule_rounds(&shape); ++index) {
            const bool reduces = index < exchange_schedule_rounds(&shape) / 2;
            for (unsigned rank = 0; rank < ranks; ++rank) {
                const exchange_round_t round = rounds_of[rank][index];
                /* Parts to each of the others in turn, totals to the right. */
                const unsigned to = reduces ? rank + ranks - 1 - index : rank + 1;
                assert_int_equal(to % ranks, round.send_peer);
                assert_true(!reduces || EXCHANGE_AFTER_NOTHING == round.send_after);
            }
        }
    }
}

TEST(memory_is_bounded_as_documented)
{
    static const struct {
        unsigned algo;
        unsigned open_of_8;
        unsigned open_of_33;
    } rows[] = {
        {QUANT_ALGO_full_loop, 1, 1},     {QUANT_ALGO_semi_loop, 2, 2},
        {QUANT_ALGO_direct, 1, 1},        {QUANT_ALGO_recursive_halving, 4, 16},
        {QUANT_ALGO_hierarchical, 2, 16},
    };
    const exchange_shape_t one = exchange_shape_flat(1);
    const exchange_shape_t eight = exchange_shape_flat(8);
    const exchange_shape_t thirty_three = exchange_shape_flat(33);
    const exchange_tree_t *levels = &exchange_hierarchical;
    exchange_tree_t two_trees = exchange_direct;

    assert_int_equal(1, exchange_tree_open_max(&exchange_direct_loop, &eight));
    two_trees.gather = &exchange_recursive_halving;
    assert_int_equal(4, exchange_tree_open_max(&two_trees, &eight));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        const quant_algo_t *algo = quant_algo_at(rows[i].algo);
        assert_int_equal(rows[i].open_of_8, exchange_tree_open_max(algo->tree, &eight));
        assert_int_equal(rows[i].open_of_33, exchange_tree_open_max(algo->tree, &thirty_three));
        assert_int_equal(0, exchange_tree_open_max(algo->tree, &one));
    }
    for (unsigned nodes = 2; nodes <= 16; ++nodes) {
        for (unsigned per_node = 2; per_node <= 8; ++per_node) {
            const exchange_shape_t shape = {.nodes = nodes, .per_node = per_node};
            assert_int_equal(2, exchange_tree_open_max(levels, &shape));
        }
    }
}
