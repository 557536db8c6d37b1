/*
 * Who sends what to whom in an exchange between nodes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_pairing.h"

static lowlat_move_t doubling_exchange(const lowlat_role_t *role, unsigned step, size_t elems)
{
    return (lowlat_move_t){.node = lowlat_partner(role, step),
                           .sent = {0, elems},
                           .received = {0, elems},
                           .adds = true,
                           .peers_is_left = lowlat_is_upper(role, step)};
}

/*
 * What a position is responsible for before exchange `exchange`: at first everything, then the
 * lower or upper half of that, as bit s of the position is 0 or 1.
 */
static lowlat_range_t range_before(unsigned position, unsigned exchange, size_t elems,
                                   size_t line_elems)
{
    lowlat_range_t range = {0, elems};

    for (unsigned s = 0; s < exchange; ++s) {
        const size_t half_elems =
            arc_round_up(arc_divide_up(range.end - range.first, 2), line_elems);
        const size_t middle = arc_min(range.end, range.first + half_elems);
        if (position >> s & 1) {
            range.first = middle;
        } else {
            range.end = middle;
        }
    }
    return range;
}

/*
 * Steps of a position: 0 .. k-1 halve, k .. 2k-1 double.  What is sent in the one is what
 * comes in the other.
 */
static lowlat_move_t halving_exchange(const lowlat_role_t *role, unsigned step, size_t elems,
                                      size_t line_elems)
{
    const bool halves = step < role->steps;
    const unsigned exchange = halves ? step : 2 * role->steps - 1 - step;
    const lowlat_range_t own = range_before(role->position, exchange + 1, elems, line_elems);
    const lowlat_range_t partners =
        range_before(role->position ^ (1u << exchange), exchange + 1, elems, line_elems);

    return (lowlat_move_t){.node = lowlat_partner(role, exchange),
                           .sent = halves ? partners : own,
                           .received = halves ? own : partners,
                           .adds = halves,
                           .peers_is_left = lowlat_is_upper(role, exchange)};
}

/*
 * The exchanges of the positions, between the fold and its end: an extra gives its vector to its
 * proxy, and gets the sum.
 */
static bool move_of(bool halves, unsigned node, unsigned nodes, unsigned step, size_t elems,
                    size_t line_elems, lowlat_move_t *move)
{
    const lowlat_role_t role = lowlat_role(node, nodes);
    const unsigned exchange = step - role.is_proxy;
    const unsigned exchanges = halves ? 2 * role.steps : role.steps;

    *move = (lowlat_move_t){.node = role.is_extra ? node - 1 : node + 1};
    if (role.is_extra) {
        move->sent.end = 0 == step ? elems : 0;
        move->received.end = 1 == step ? elems : 0;
        return step < 2;
    }
    if (role.is_proxy && 0 == step) {
        move->received.end = elems;
        move->adds = true;
        return true;
    }
    if (exchange < exchanges) {
        *move = halves ? halving_exchange(&role, exchange, elems, line_elems)
                       : doubling_exchange(&role, exchange, elems);
        return true;
    }
    move->sent.end = elems;
    return role.is_proxy && exchange == exchanges;
}

bool lowlat_schedule_doubling(unsigned node, unsigned nodes, unsigned step, size_t elems,
                              size_t line_elems, lowlat_move_t *move)
{
    return move_of(false, node, nodes, step, elems, line_elems, move);
}

bool lowlat_schedule_halving(unsigned node, unsigned nodes, unsigned step, size_t elems,
                             size_t line_elems, lowlat_move_t *move)
{
    return move_of(true, node, nodes, step, elems, line_elems, move);
}
