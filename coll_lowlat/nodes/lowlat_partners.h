/*
 * The nodes that a node exchanges with, whatever the schedule.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_PARTNERS_H
#define LOWLAT_PARTNERS_H

enum {
    /* Up to so many nodes all others are partners: each has memory of ours to put into. */
    LOWLAT_PUT_NODES = 32,
    /* On more, one for each bit of a node's number, one of the fold, two neighbours on the ring. */
    LOWLAT_MAX_PARTNERS = 32 + 1 + 2,
};

/*
 * The partners of `node` among `nodes` in all schedules of lowlat_net.h and in the pipes,
 * ascending; how many.  Who is a partner of ours has us for a partner.
 */
unsigned lowlat_partners(unsigned node, unsigned nodes, unsigned partner[LOWLAT_MAX_PARTNERS]);

#endif
