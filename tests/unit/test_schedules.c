/*
 * The schedules between nodes: whom a node meets, and in which order an owner adds. That they sum
 * is in sim/test_nodes.c.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "exchange_schedule.h"
#include "lowlat_pairing.h"
#include "lowlat_net.h"
#include "lowlat_order.h"

enum { MOST_NODES = 130, MOST_ELEMS = 600, TURNS = 2, SCHEDULES = LOWLAT_SCHEDULES };

/* ---- partners ---- */

static bool is_partner(unsigned node, unsigned nodes, unsigned other)
{
    unsigned partner[LOWLAT_MAX_PARTNERS];
    const unsigned count = lowlat_partners(node, nodes, partner);

    for (unsigned i = 0; i < count; ++i) {
        if (partner[i] == other) {
            return true;
        }
    }
    return false;
}

TEST(partners_are_each_others_and_few)
{
    enum { NODES = 70 };
    unsigned partner[LOWLAT_MAX_PARTNERS];

    for (unsigned nodes = 2; nodes <= NODES; ++nodes) {
        for (unsigned node = 0; node < nodes; ++node) {
            const unsigned count = lowlat_partners(node, nodes, partner);
            assert_true(count >= 1 && count < nodes);
            /* Pairs on the other side of each bit, and two neighbours. */
            assert_true(nodes <= LOWLAT_PUT_NODES || count <= 2 * lowlat_steps(nodes) + 2);
            for (unsigned i = 0; i < count; ++i) {
                assert_true(partner[i] < nodes && partner[i] != node);
                assert_true(0 == i || partner[i - 1] < partner[i]);
                assert_true(is_partner(partner[i], nodes, node));
            }
        }
    }
}

TEST(partners_are_all_that_schedules_name)
{
    enum { NODES = 70 };
    lowlat_move_t move;

    for (unsigned nodes = 2; nodes <= NODES; ++nodes) {
        for (unsigned i = 0; i < SCHEDULES * TURNS * nodes; ++i) {
            const unsigned node = i / SCHEDULES / TURNS;
            const lowlat_role_t role = lowlat_role(node, nodes, i % TURNS);
            const bool halves = i / TURNS % SCHEDULES == 1;
            for (unsigned step = 0; lowlat_schedule(halves, &role, step, MOST_ELEMS, 8, &move);
                 ++step) {
                assert_true(is_partner(node, nodes, move.node));
            }
        }
    }
}

static void assert_partners_of(const exchange_tree_t *tree, unsigned nodes)
{
    const exchange_shape_t shape = exchange_shape_flat(nodes);
    exchange_round_t round[2 * (LOWLAT_PUT_NODES + 2)];

    for (unsigned node = 0; node < nodes; ++node) {
        exchange_schedule_make(tree, &shape, node, round);
        for (unsigned index = 0; index < exchange_schedule_rounds(&shape); ++index) {
            assert_true(is_partner(node, nodes, round[index].send_peer));
            assert_true(is_partner(node, nodes, round[index].receive_peer));
        }
    }
}

/* Whichever of the two loops the ring takes; direct as far as it is direct. */
TEST(partners_are_all_that_the_pipes_name)
{
    for (unsigned nodes = 2; nodes <= LOWLAT_PUT_NODES + 2; ++nodes) {
        assert_partners_of(&exchange_full_loop, nodes);
        assert_partners_of(&exchange_semi_loop, nodes);
        if (nodes <= LOWLAT_PUT_NODES) {
            assert_partners_of(&exchange_direct_loop, nodes);
        }
    }
}

/* ---- the order in which an owner adds ---- */

/* Not associative, not commutative: every tree has a number of its own. */
static uint32_t joined(uint32_t left, uint32_t right)
{
    return (left * 2654435761u ^ right) * 2246822519u + 374761393u;
}

static uint32_t part_of(unsigned node, unsigned elem)
{
    return (elem << 8) + node + 1;
}

/* The tree of recursive doubling over positions [first, first + positions). */
static uint32_t doubled(unsigned nodes, unsigned first, unsigned positions, unsigned elem)
{
    const unsigned extras = nodes - (1u << lowlat_steps(nodes));

    if (positions > 1) {
        return joined(doubled(nodes, first, positions / 2, elem),
                      doubled(nodes, first + positions / 2, positions / 2, elem));
    }
    return first < extras ? joined(part_of(2 * first, elem), part_of(2 * first + 1, elem))
                          : part_of(first + extras, elem);
}

/* What an owner makes who goes by its order; `places` are the partial sums. */
static uint32_t added_in_turn(const lowlat_order_t *order, unsigned owner, unsigned nodes)
{
    uint32_t places[LOWLAT_ORDER_NODES];
    uint32_t total = 0;

    for (unsigned turn = 0; turn + 1 < nodes; ++turn) {
        const bool is_last = turn + 2 == nodes;
        uint32_t *to = is_last ? &total : &places[order->kept[turn]];
        uint32_t sum = part_of((owner + 1 + turn) % nodes, 0);
        assert_true(is_last || order->kept[turn] < order->places);
        for (unsigned i = order->first[turn]; i < order->first[turn + 1]; ++i) {
            const lowlat_merge_t *merge = &order->merge[i];
            assert_true(LOWLAT_ORDER_OWN == merge->with || merge->with < order->places);
            const uint32_t with =
                LOWLAT_ORDER_OWN == merge->with ? part_of(owner, 0) : places[merge->with];
            sum = merge->with_is_left ? joined(with, sum) : joined(sum, with);
            *to = sum; /* a later merge may not read what was there */
        }
        *to = sum;
    }
    return total;
}

TEST(every_owner_adds_as_doubling_does)
{
    for (unsigned nodes = 2; nodes <= LOWLAT_ORDER_NODES; ++nodes) {
        const uint32_t expected = doubled(nodes, 0, 1u << lowlat_steps(nodes), 0);
        for (unsigned owner = 0; owner < nodes; ++owner) {
            lowlat_order_t order;
            lowlat_order_init(&order, owner, nodes);
            assert_int_equal(expected, added_in_turn(&order, owner, nodes));
            assert_true(order.places <= lowlat_order_places(nodes));
        }
        assert_true(lowlat_order_places(nodes) <= 2 * lowlat_steps(nodes));
    }
    assert_int_equal(0, lowlat_order_places(2));
    assert_int_equal(2, lowlat_order_places(4));
    assert_int_equal(3, lowlat_order_places(8));
    assert_int_equal(7, lowlat_order_places(32));
    assert_int_equal(11, lowlat_order_places(128));
}

/* ---- a schedule, run by all nodes ---- */

enum { ELEMS = 256 }; /* of two a piece on 128 positions */

typedef struct runner {
    lowlat_role_t role;
    unsigned step;
    lowlat_move_t move;
    bool over;
    bool has_sent; /* in this step */
    bool has_got;
    unsigned elems_sent; /* in all */
    uint32_t sum[ELEMS];
    uint32_t came[ELEMS];
} runner_t;

static void begin(runner_t *runner, bool halves)
{
    runner->over = !lowlat_schedule(halves, &runner->role, runner->step, ELEMS, 1, &runner->move);
    runner->has_sent = 0 == lowlat_range_elems(runner->move.sent);
    runner->has_got = 0 == lowlat_range_elems(runner->move.received);
}

/* A message passes when both sides are there for it. */
static bool pass(runner_t *from, unsigned node, runner_t *to)
{
    const lowlat_range_t sent = from->move.sent;

    if (from->over || from->has_sent || to->over || to->has_got || to->move.node != node) {
        return false;
    }
    assert_int_equal(to->move.received.first, sent.first);
    assert_int_equal(to->move.received.end, sent.end);
    memcpy(to->came + sent.first, from->sum + sent.first,
           lowlat_range_elems(sent) * sizeof *to->came);
    from->elems_sent += (unsigned) lowlat_range_elems(sent);
    from->has_sent = true;
    to->has_got = true;
    return true;
}

static bool end(runner_t *runner, bool halves)
{
    const lowlat_move_t *move = &runner->move;

    if (runner->over || !runner->has_sent || !runner->has_got) {
        return false;
    }
    for (size_t i = move->received.first; i < move->received.end; ++i) {
        const uint32_t own = runner->sum[i];
        const uint32_t came = runner->came[i];
        runner->sum[i] = !move->adds           ? came
                         : move->peers_is_left ? joined(came, own)
                                               : joined(own, came);
    }
    ++runner->step;
    begin(runner, halves);
    return true;
}

/* All nodes have the sums of the tree, and nobody waits for ever. */
static void run_schedule(runner_t *runner, unsigned nodes, unsigned turn, bool halves)
{
    bool moves = true;

    for (unsigned node = 0; node < nodes; ++node) {
        runner[node] = (runner_t){.role = lowlat_role(node, nodes, turn)};
        for (unsigned elem = 0; elem < ELEMS; ++elem) {
            runner[node].sum[elem] = part_of(node, elem);
        }
        begin(&runner[node], halves);
    }
    while (moves) {
        moves = false;
        for (unsigned node = 0; node < nodes; ++node) {
            moves |=
                !runner[node].over && pass(&runner[node], node, &runner[runner[node].move.node]);
            moves |= end(&runner[node], halves);
        }
    }
    for (unsigned elem = 0; elem < ELEMS; ++elem) {
        const uint32_t expected = doubled(nodes, 0, 1u << lowlat_steps(nodes), elem);
        for (unsigned node = 0; node < nodes; ++node) {
            assert_true(runner[node].over);
            assert_int_equal(expected, runner[node].sum[elem]);
        }
    }
}

TEST(schedules_add_along_the_tree_in_either_turn)
{
    static runner_t runner[MOST_NODES];

    for (unsigned nodes = 2; nodes <= MOST_NODES; ++nodes) {
        for (unsigned i = 0; i < SCHEDULES * TURNS; ++i) {
            run_schedule(runner, nodes, i % TURNS, i / TURNS == 1);
        }
    }
}

TEST(halving_in_two_turns_sends_the_vector_twice_at_most)
{
    static runner_t runner[TURNS][MOST_NODES];

    for (unsigned nodes = 2; nodes <= MOST_NODES; ++nodes) {
        for (unsigned turn = 0; turn < TURNS; ++turn) {
            run_schedule(runner[turn], nodes, turn, true);
        }
        for (unsigned node = 0; node < nodes; ++node) {
            const unsigned sent = runner[0][node].elems_sent + runner[1][node].elems_sent;
            assert_true(sent <= 2 * TURNS * ELEMS);
        }
    }
}
