/*
 * What the pipeline takes for granted of every tree and its schedule, for up to
 * 33 ranks: the two ends of a message agree, nothing is sent before it is
 * complete, every rank adds its part once and gets each total once.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "quant_algos.h"
#include "quant_schedule.h"

enum { RANKS_MAX = 33 };

static void for_each_tree(void (*check)(const quant_tree_t *tree, unsigned ranks))
{
    for (size_t i = 0; NULL != quant_algo_at(i); ++i) {
        for (unsigned ranks = 2; ranks <= RANKS_MAX; ++ranks) {
            check(quant_algo_at(i)->tree, ranks);
        }
    }
}

static void check_tree(const quant_tree_t *tree, unsigned ranks)
{
    uint64_t placed = 1;

    assert_int_equal(0, tree->offset(ranks, 0));
    for (unsigned node = 1; node < ranks; ++node) {
        unsigned offset = tree->offset(ranks, node);
        assert_true(tree->parent(ranks, node) < node);
        assert_true(offset < ranks);
        assert_true(0 == (placed >> offset & 1));
        placed |= UINT64_C(1) << offset;
    }
}

static void parents_come_first_and_every_rank_is_placed_once(void **state)
{
    (void) state;
    for_each_tree(check_tree);
}

static void check_ends(const quant_tree_t *tree, unsigned ranks)
{
    for (unsigned index = 0; index < quant_schedule_rounds(tree, ranks); ++index) {
        for (unsigned rank = 0; rank < ranks; ++rank) {
            const quant_round_t mine = quant_schedule_round(tree, ranks, rank, index);
            const quant_round_t other = quant_schedule_round(tree, ranks, mine.send_peer, index);
            assert_true(mine.send_peer != rank);
            assert_int_equal(rank, other.receive_peer);
            assert_int_equal(mine.send_shard, other.receive_shard);
            assert_true(mine.send_after < (int) index);
        }
    }
}

static void both_ends_of_a_message_agree(void **state)
{
    (void) state;
    for_each_tree(check_ends);
}

/* Bit r of has[rank][shard]: the sum there has the part of rank r. */
static uint64_t has[RANKS_MAX][2 * RANKS_MAX];

static void check_contents(const quant_tree_t *tree, unsigned ranks)
{
    const uint64_t all = (UINT64_C(1) << ranks) - 1;
    const unsigned shards = quant_schedule_shards(tree, ranks);
    const unsigned rounds = quant_schedule_rounds(tree, ranks);

    for (unsigned rank = 0; rank < ranks; ++rank) {
        for (unsigned shard = 0; shard < shards; ++shard) {
            has[rank][shard] = UINT64_C(1) << rank;
        }
    }
    for (unsigned index = 0; index < rounds; ++index) {
        for (unsigned rank = 0; rank < ranks; ++rank) {
            const quant_round_t round = quant_schedule_round(tree, ranks, rank, index);
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

static void every_part_is_added_once_and_every_total_arrives_once(void **state)
{
    (void) state;
    for_each_tree(check_contents);
}

static void memory_is_bounded_as_documented(void **state)
{
    static const struct {
        const char *name;
        unsigned open_of_8;
        unsigned open_of_33;
    } rows[] = {
        {"full_loop", 1, 1}, {"dual_loop", 2, 2},          {"semi_loop", 2, 2},
        {"direct", 1, 1},    {"recursive_halving", 4, 16},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        const quant_algo_t *algo = quant_algo_by_name(rows[i].name);
        assert_non_null(algo);
        assert_int_equal(rows[i].open_of_8, quant_tree_open_max(algo->tree, 8));
        assert_int_equal(rows[i].open_of_33, quant_tree_open_max(algo->tree, 33));
        assert_int_equal(0, quant_tree_open_max(algo->tree, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parents_come_first_and_every_rank_is_placed_once),
        cmocka_unit_test(both_ends_of_a_message_agree),
        cmocka_unit_test(every_part_is_added_once_and_every_total_arrives_once),
        cmocka_unit_test(memory_is_bounded_as_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
