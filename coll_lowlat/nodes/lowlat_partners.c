/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "lowlat_net.h"
#include "lowlat_partners.h"
#include "lowlat_select.h"

/* Insert, unless it is there. */
static unsigned insert_partner(unsigned *partner, unsigned count, unsigned node)
{
    unsigned at = 0;

    while (at < count && partner[at] < node) {
        ++at;
    }
    if (at < count && partner[at] == node) {
        return count;
    }
    assert(count < LOWLAT_MAX_PARTNERS);
    for (unsigned i = count; i > at; --i) {
        partner[i] = partner[i - 1];
    }
    partner[at] = node;
    return count + 1;
}

unsigned lowlat_partners(unsigned node, unsigned nodes, unsigned partner[LOWLAT_MAX_PARTNERS])
{
    static const lowlat_schedule_fn_t schedules[] = {lowlat_schedule_doubling,
                                                     lowlat_schedule_halving};
    enum { PIPES = 2 };
    static_assert(sizeof schedules / sizeof schedules[0] + PIPES ==
                      LOWLAT_ALGORITHMS - LOWLAT_NODES_FIRST,
                  "the schedule of each algorithm between nodes but direct and ring");
    static_assert((int) LOWLAT_PUT_NODES <= (int) LOWLAT_MAX_PARTNERS, "room for all others");
    lowlat_move_t move;
    unsigned count = 0;

    if (nodes <= LOWLAT_PUT_NODES) {
        for (unsigned other = 0; other < nodes; ++other) {
            count = other == node ? count : insert_partner(partner, count, other);
        }
        return count;
    }
    count = insert_partner(partner, count, (node + 1) % nodes);
    count = insert_partner(partner, count, (node + nodes - 1) % nodes);
    for (unsigned i = 0; i < sizeof schedules / sizeof schedules[0]; ++i) {
        /* As many elements as nodes: no piece is empty. */
        for (unsigned step = 0; schedules[i](node, nodes, step, nodes, 1, &move); ++step) {
            count = insert_partner(partner, count, move.node);
        }
    }
    return count;
}
