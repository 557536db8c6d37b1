/*
 * The schedules between nodes as such: every send has its receive, in the same order
 * for each pair of nodes; nobody waits for ever even if a send ends only when it is
 * received; and in the end every node has every element of every node, once.
 *
 * The numbers that are summed are sets of nodes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "exchange_schedule.h"
#include "lowlat_pairing.h"
#include "lowlat_net.h"
#include "lowlat_order.h"

enum { MOST_NODES = 17, MOST_ELEMS = 600 };

typedef struct node {
    uint32_t set[MOST_ELEMS]; /* whose elements are in the sum */
    uint32_t arrived[MOST_ELEMS];
    unsigned step;
    bool over;
    bool sent;
    bool received;
    lowlat_move_t move;
} node_t;

typedef struct job {
    lowlat_schedule_fn_t schedule;
    bool keeps_order;
    unsigned nodes;
    size_t elems;
    size_t line_elems;
    node_t node[MOST_NODES];
} job_t;

static void begin_step(job_t *job, unsigned index)
{
    node_t *node = &job->node[index];

    node->over =
        !job->schedule(index, job->nodes, node->step, job->elems, job->line_elems, &node->move);
    node->sent = node->over || node->move.sent.end == node->move.sent.first;
    node->received = node->over || node->move.received.end == node->move.received.first;
    if (!node->over) {
        assert_true(node->move.sent.first <= node->move.sent.end);
        assert_true(node->move.received.first <= node->move.received.end);
        assert_true(node->move.sent.end <= job->elems && node->move.received.end <= job->elems);
        assert_true(node->move.node < job->nodes && node->move.node != index);
    }
}

static unsigned least_of_set(uint32_t set)
{
    return (unsigned) __builtin_ctz(set);
}

static unsigned largest_of_set(uint32_t set)
{
    return 31 - (unsigned) __builtin_clz(set);
}

static void end_step(job_t *job, unsigned index)
{
    node_t *node = &job->node[index];

    for (size_t i = node->move.received.first; i < node->move.received.end; ++i) {
        const uint32_t peers = node->arrived[i];
        if (!node->move.adds) {
            node->set[i] = peers;
            continue;
        }
        /* Once each, and on the side where it belongs. */
        assert_int_equal(0, peers & node->set[i]);
        if (job->keeps_order) {
            assert_true(node->move.peers_is_left
                            ? largest_of_set(peers) + 1 == least_of_set(node->set[i])
                            : largest_of_set(node->set[i]) + 1 == least_of_set(peers));
        }
        node->set[i] |= peers;
    }
    node->step += 1;
    begin_step(job, index);
}

/* What `index` sends now, if its target now awaits it. */
static bool pass_message(job_t *job, unsigned index)
{
    node_t *from = &job->node[index];
    node_t *to = &job->node[from->move.node];

    if (from->sent || to->received || to->move.node != index) {
        return false;
    }
    assert_int_equal(from->move.sent.first, to->move.received.first);
    assert_int_equal(from->move.sent.end, to->move.received.end);
    memcpy(&to->arrived[to->move.received.first], &from->set[from->move.sent.first],
           (from->move.sent.end - from->move.sent.first) * sizeof from->set[0]);
    from->sent = true;
    to->received = true;
    return true;
}

/* Synchronous messages until nothing moves.  Returns the most steps that a node took. */
static unsigned run_to_end(job_t *job)
{
    bool moved = true;
    unsigned steps = 0;

    for (unsigned index = 0; index < job->nodes; ++index) {
        job->node[index].step = 0;
        for (size_t i = 0; i < job->elems; ++i) {
            job->node[index].set[i] = UINT32_C(1) << index;
        }
        begin_step(job, index);
    }
    while (moved) {
        moved = false;
        for (unsigned index = 0; index < job->nodes; ++index) {
            node_t *node = &job->node[index];
            moved = pass_message(job, index) || moved;
            if (!node->over && node->sent && node->received) {
                end_step(job, index);
                moved = true;
            }
        }
    }
    for (unsigned index = 0; index < job->nodes; ++index) {
        steps = job->node[index].step > steps ? job->node[index].step : steps;
    }
    return steps;
}

static void assert_all_have_all(const job_t *job)
{
    for (unsigned index = 0; index < job->nodes; ++index) {
        assert_true(job->node[index].over);
        for (size_t i = 0; i < job->elems; ++i) {
            assert_int_equal((UINT32_C(1) << job->nodes) - 1, job->node[index].set[i]);
        }
    }
}

static unsigned doubling_steps(unsigned nodes)
{
    unsigned exchanges = 0;

    while (2u << exchanges <= nodes) {
        ++exchanges;
    }
    /* The fold is one step before, and one behind. */
    return exchanges + (nodes > 1u << exchanges ? 2 : 0);
}

static void check_schedule(lowlat_schedule_fn_t schedule, bool keeps_order, unsigned nodes,
                           unsigned expected_steps)
{
    static const size_t lines_elems[] = {1, 8, 64};
    static job_t job;
    const size_t elems[] = {1, nodes - 1, nodes, nodes + 1, 64, 100, 16 * nodes + 3, MOST_ELEMS};

    for (size_t e = 0; e < sizeof elems / sizeof elems[0]; ++e) {
        for (size_t l = 0; l < sizeof lines_elems / sizeof lines_elems[0]; ++l) {
            job.schedule = schedule;
            job.keeps_order = keeps_order;
            job.nodes = nodes;
            job.elems = elems[e];
            job.line_elems = lines_elems[l];
            assert_int_equal(expected_steps, run_to_end(&job));
            assert_all_have_all(&job);
        }
    }
}

static void doubling_sums_everything_once_and_in_order(void **state)
{
    for (unsigned nodes = 2; nodes <= MOST_NODES; ++nodes) {
        check_schedule(lowlat_schedule_doubling, true, nodes, doubling_steps(nodes));
    }
}

static void halving_sums_everything_once_and_in_order(void **state)
{
    for (unsigned nodes = 2; nodes <= MOST_NODES; ++nodes) {
        const bool folds = 0 != (nodes & (nodes - 1));
        const unsigned exchanges = doubling_steps(nodes) - (folds ? 2 : 0);
        check_schedule(lowlat_schedule_halving, true, nodes, 2 * exchanges + (folds ? 2 : 0));
    }
}

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

static void partners_are_each_others_and_few(void **state)
{
    enum { NODES = 70 };
    unsigned partner[LOWLAT_MAX_PARTNERS];

    for (unsigned nodes = 2; nodes <= NODES; ++nodes) {
        for (unsigned node = 0; node < nodes; ++node) {
            const unsigned count = lowlat_partners(node, nodes, partner);
            assert_true(count >= 1 && count < nodes);
            /* 2^6 <= NODES < 2^7 */
            assert_true(nodes <= LOWLAT_PUT_NODES || count <= 6 + 1 + 2);
            for (unsigned i = 0; i < count; ++i) {
                assert_true(partner[i] < nodes && partner[i] != node);
                assert_true(0 == i || partner[i - 1] < partner[i]);
                assert_true(is_partner(partner[i], nodes, node));
            }
        }
    }
}

static void partners_are_all_that_schedules_name(void **state)
{
    static const lowlat_schedule_fn_t schedules[] = {lowlat_schedule_doubling,
                                                     lowlat_schedule_halving};
    enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };
    lowlat_move_t move;

    for (unsigned nodes = 2; nodes <= MOST_NODES; ++nodes) {
        for (unsigned i = 0; i < SCHEDULES * nodes; ++i) {
            for (unsigned step = 0;
                 schedules[i % SCHEDULES](i / SCHEDULES, nodes, step, MOST_ELEMS, 8, &move);
                 ++step) {
                assert_true(is_partner(i / SCHEDULES, nodes, move.node));
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
static void partners_are_all_that_the_pipes_name(void **state)
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

static uint32_t part_of(unsigned node)
{
    return node + 1;
}

/* The tree of recursive doubling over positions [first, first + positions). */
static uint32_t doubled(unsigned nodes, unsigned first, unsigned positions)
{
    const unsigned extras = nodes - (1u << lowlat_steps(nodes));

    if (positions > 1) {
        return joined(doubled(nodes, first, positions / 2),
                      doubled(nodes, first + positions / 2, positions / 2));
    }
    return first < extras ? joined(part_of(2 * first), part_of(2 * first + 1))
                          : part_of(first + extras);
}

/* What an owner makes who goes by its order; `places` are the partial sums. */
static uint32_t added_in_turn(const lowlat_order_t *order, unsigned owner, unsigned nodes)
{
    uint32_t places[LOWLAT_ORDER_NODES];
    uint32_t total = 0;

    for (unsigned turn = 0; turn + 1 < nodes; ++turn) {
        const bool is_last = turn + 2 == nodes;
        uint32_t *to = is_last ? &total : &places[order->kept[turn]];
        uint32_t sum = part_of((owner + 1 + turn) % nodes);
        assert_true(is_last || order->kept[turn] < order->places);
        for (unsigned i = order->first[turn]; i < order->first[turn + 1]; ++i) {
            const lowlat_merge_t *merge = &order->merge[i];
            assert_true(LOWLAT_ORDER_OWN == merge->with || merge->with < order->places);
            const uint32_t with =
                LOWLAT_ORDER_OWN == merge->with ? part_of(owner) : places[merge->with];
            sum = merge->with_is_left ? joined(with, sum) : joined(sum, with);
            *to = sum; /* a later merge may not read what was there */
        }
        *to = sum;
    }
    return total;
}

static void every_owner_adds_as_doubling_does(void **state)
{
    for (unsigned nodes = 2; nodes <= LOWLAT_ORDER_NODES; ++nodes) {
        const uint32_t expected = doubled(nodes, 0, 1u << lowlat_steps(nodes));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubling_sums_everything_once_and_in_order),
        cmocka_unit_test(halving_sums_everything_once_and_in_order),
        cmocka_unit_test(partners_are_each_others_and_few),
        cmocka_unit_test(partners_are_all_that_schedules_name),
        cmocka_unit_test(partners_are_all_that_the_pipes_name),
        cmocka_unit_test(every_owner_adds_as_doubling_does),
    };
    return cmocka_run_group_tests_name("schedules between nodes", tests, NULL, NULL);
}
