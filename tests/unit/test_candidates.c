/*
 * The candidates between nodes: who they are, who is first, and who is worth a try.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "lowlat_rules.h"

enum { LEADER_BYTES = 16 << 10, OWNERS_MAX = 3, NODES_MAX = 20 };

static lowlat_candidates_t list_of(unsigned owners, bool reproducible)
{
    lowlat_candidates_t list;

    lowlat_candidates_list(&list, owners, reproducible);
    return list;
}

static lowlat_net_t net_of(unsigned nodes, unsigned owners)
{
    return (lowlat_net_t){.nodes = nodes, .owners = owners, .leader_bytes = LEADER_BYTES};
}

TEST(candidates_keep_the_order_of_sums)
{
    for (unsigned owners = 1; owners <= OWNERS_MAX; ++owners) {
        for (unsigned reproducible = 0; reproducible < 2; ++reproducible) {
            const lowlat_candidates_t list = list_of(owners, reproducible);
            assert_in_range(list.count, 1, ARC_SELECT_CANDIDATES);
            for (unsigned i = 0; i < list.count; ++i) {
                const lowlat_candidate_t candidate = list.candidate[i];
                if (LOWLAT_PASS_DOWN == candidate.algorithm) {
                    assert_int_equal(i, 0);
                    assert_false(reproducible);
                } else {
                    assert_in_range(candidate.algorithm, LOWLAT_NODES_FIRST, LOWLAT_ALGORITHMS - 1);
                    assert_true(lowlat_algorithms[candidate.algorithm].reproducible);
                }
                assert_true(owners > 1 || !candidate.leaders);
            }
        }
    }
}

static unsigned find(const lowlat_candidates_t *list, unsigned algorithm, bool leaders)
{
    return lowlat_candidates_find(list,
                                  (lowlat_candidate_t){.algorithm = algorithm, .leaders = leaders});
}

/* What the built-in rules choose. */
static lowlat_candidate_t first_while(bool explores, const lowlat_candidates_t *list,
                                      const lowlat_net_t *net, bool reproducible, size_t bytes)
{
    lowlat_shape_t shape = lowlat_shape_of(&(lowlat_group_t){.ranks = net->owners});
    lowlat_rules_t rules;

    shape.fact[LOWLAT_FACT_NODES] = (lowlat_span_t){net->nodes, net->nodes};
    shape.fact[LOWLAT_FACT_OVER] = (lowlat_span_t){LOWLAT_OVER_MESSAGES, LOWLAT_OVER_MESSAGES};
    lowlat_rules_init(&rules, "", reproducible, explores, NULL, NULL);
    const unsigned number =
        lowlat_candidates_find(list, lowlat_rules_find(&rules, &shape, bytes)->candidate);
    assert_in_range(number, 0, list->count - 1);
    return list->candidate[number];
}

static lowlat_candidate_t first_of(const lowlat_candidates_t *list, const lowlat_net_t *net,
                                   bool reproducible, size_t bytes)
{
    return first_while(false, list, net, reproducible, bytes);
}

TEST(candidates_are_found_again)
{
    const lowlat_candidates_t list = list_of(2, false);
    const lowlat_candidates_t single = list_of(1, false);
    const lowlat_candidates_t reproducible = list_of(1, true);

    assert_string_equal(lowlat_candidate_name(list.candidate[0]), "below");
    for (unsigned i = 0; i < list.count; ++i) {
        assert_int_equal(lowlat_candidates_find(&list, list.candidate[i]), i);
    }
    assert_int_equal(find(&single, LOWLAT_ALGORITHM_DIRECT, true),
                     find(&single, LOWLAT_ALGORITHM_DIRECT, false));
    assert_int_equal(find(&reproducible, LOWLAT_PASS_DOWN, false), reproducible.count);
}

/* Doubling, by leaders where there are several owners; from some length on the component below. */
TEST(short_messages_begin_with_doubling_and_long_ones_below)
{
    for (unsigned owners = 1; owners <= OWNERS_MAX; ++owners) {
        const size_t least = owners > 1 ? 16 << 10 : 8 << 10;
        size_t limit = SIZE_MAX;
        for (unsigned nodes = 2; nodes <= NODES_MAX; ++nodes) {
            const lowlat_net_t net = net_of(nodes, owners);
            const lowlat_candidates_t list = list_of(owners, false);
            size_t bytes = 1;
            for (; bytes <= (size_t) 1 << 24; bytes *= 2) {
                const lowlat_candidate_t candidate = first_of(&list, &net, false, bytes);
                if (LOWLAT_PASS_DOWN == candidate.algorithm) {
                    break;
                }
                assert_int_equal(candidate.algorithm, LOWLAT_ALGORITHM_DOUBLING);
                assert_int_equal(candidate.leaders, owners > 1 && bytes <= LEADER_BYTES);
            }
            assert_in_range(bytes, least + 1, limit);
            limit = bytes;
        }
    }
}

/* More steps than doubling has, and a connection to each node. */
TEST(short_messages_are_never_tried_directly)
{
    enum { FEW = 3, SHORT_BYTES = 4096 };
    const lowlat_candidates_t list = list_of(2, false);

    for (unsigned nodes = 2; nodes <= LOWLAT_PUT_NODES; ++nodes) {
        const lowlat_net_t net = net_of(nodes, 2);
        for (unsigned i = 0; i < list.count; ++i) {
            const lowlat_candidate_t candidate = list.candidate[i];
            const bool never = LOWLAT_ALGORITHM_DIRECT == candidate.algorithm && nodes > FEW;
            assert_int_equal(
                ARC_SELECT_NEVER == lowlat_candidate_guess(candidate, &net, SHORT_BYTES), never);
            assert_true(lowlat_candidate_guess(candidate, &net, 4 * SHORT_BYTES) <
                        ARC_SELECT_NEVER);
        }
    }
}

/* Direct sends each node a message: on many nodes not before these are worth one. */
TEST(many_nodes_go_direct_with_long_messages)
{
    enum {
        FEW = 11,
        MANY = LOWLAT_PUT_NODES + 1,
        SHORT_BYTES = 64 << 10,
        MORE_BYTES = 1 << 20,
        LONG_BYTES = 2 << 20
    };
    const lowlat_candidates_t list = list_of(1, true);
    const lowlat_candidate_t direct = list.candidate[find(&list, LOWLAT_ALGORITHM_DIRECT, false)];
    const lowlat_net_t few = net_of(FEW, 1);
    const lowlat_net_t more = net_of(FEW + 1, 1);
    const lowlat_net_t many = net_of(MANY, 1);

    assert_int_equal(first_of(&list, &few, true, SHORT_BYTES).algorithm, LOWLAT_ALGORITHM_DIRECT);
    assert_int_equal(first_of(&list, &more, true, SHORT_BYTES).algorithm, LOWLAT_ALGORITHM_HALVING);
    assert_int_equal(first_of(&list, &more, true, MORE_BYTES).algorithm, LOWLAT_ALGORITHM_DIRECT);
    assert_int_equal(first_of(&list, &many, true, MORE_BYTES).algorithm, LOWLAT_ALGORITHM_HALVING);
    assert_int_equal(first_of(&list, &many, true, LONG_BYTES).algorithm, LOWLAT_ALGORITHM_DIRECT);
    assert_int_equal(lowlat_candidate_guess(direct, &few, SHORT_BYTES), ARC_RATIO_ONE);
    assert_true(lowlat_candidate_guess(direct, &many, SHORT_BYTES) > 4 * ARC_RATIO_ONE);
    assert_int_equal(lowlat_candidate_guess(direct, &many, LONG_BYTES), ARC_RATIO_ONE);
}

/*
 * All of it goes over the link between two nodes in any case; between more of them doubling sends
 * more than the others: everything in each step.
 */
TEST(long_messages_between_few_nodes_may_be_doubled)
{
    enum { LONG_BYTES = 1 << 20 };
    static const struct {
        unsigned nodes;
        uint32_t guess;
    } cases[] = {{2, 1000}, {3, 1500}, {4, 1333}, {8, 1714}, {16, 2133}, {1024, 5004}};
    const lowlat_candidates_t list = list_of(2, false);

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const lowlat_net_t net = net_of(cases[i].nodes, 2);
        const uint32_t by_leaders = lowlat_candidate_guess(
            list.candidate[find(&list, LOWLAT_ALGORITHM_DOUBLING, true)], &net, LONG_BYTES);
        assert_int_equal(
            lowlat_candidate_guess(list.candidate[find(&list, LOWLAT_ALGORITHM_DOUBLING, false)],
                                   &net, LONG_BYTES),
            cases[i].guess);
        assert_int_equal(by_leaders, cases[i].guess > 1500 ? cases[i].guess : 1500);
    }
}

/* Where times are learned, short messages begin below if nodes have one rank; otherwise none do. */
TEST(one_rank_a_node_gains_nothing_of_doubling)
{
    enum { GAINS_BYTES = 4096 };

    for (unsigned owners = 1; owners <= 2; ++owners) {
        const lowlat_net_t net = net_of(4, owners);
        const lowlat_candidates_t list = list_of(owners, false);
        const lowlat_candidates_t ours = list_of(owners, true);
        for (size_t bytes = 1; bytes <= GAINS_BYTES; bytes *= 2) {
            const bool gains = owners > 1 || bytes >= GAINS_BYTES;
            assert_int_equal(first_while(true, &list, &net, false, bytes).algorithm,
                             gains ? LOWLAT_ALGORITHM_DOUBLING : LOWLAT_PASS_DOWN);
            assert_int_equal(first_of(&list, &net, false, bytes).algorithm,
                             LOWLAT_ALGORITHM_DOUBLING);
            assert_int_equal(first_while(true, &ours, &net, true, bytes).algorithm,
                             LOWLAT_ALGORITHM_DOUBLING);
        }
    }
}

/*
 * The first choice is a fastest one at a guess, among ours, and no guess is faster than that; where
 * sums are reproducible it is one of ours.
 */
TEST(guesses_go_with_the_rules)
{
    for (unsigned owners = 1; owners <= OWNERS_MAX; ++owners) {
        const lowlat_net_t net = net_of(3, owners);
        const lowlat_candidates_t list = list_of(owners, false);
        const lowlat_candidates_t ours = list_of(owners, true);
        for (size_t bytes = 1; bytes <= (size_t) 1 << 24; bytes *= 2) {
            const lowlat_candidate_t first = first_of(&list, &net, false, bytes);
            assert_true(LOWLAT_PASS_DOWN != first_of(&ours, &net, true, bytes).algorithm);
            assert_int_equal(lowlat_candidate_guess(first, &net, bytes), ARC_RATIO_ONE);
            for (unsigned i = 0; i < list.count; ++i) {
                assert_in_range(lowlat_candidate_guess(list.candidate[i], &net, bytes),
                                ARC_RATIO_ONE, 3 * ARC_RATIO_ONE);
            }
        }
    }
}
