/*
 * Where a process sits (mca_seat.h), on machines that hwloc makes up.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "mca_seat.h"

static hwloc_topology_t machine(const char *text)
{
    hwloc_topology_t topology = NULL;

    assert_int_equal(0, hwloc_topology_init(&topology));
    assert_int_equal(0, hwloc_topology_set_synthetic(topology, text));
    assert_int_equal(0, hwloc_topology_load(topology));
    return topology;
}

static void assert_seat(const char *text, const char *processors, unsigned socket, unsigned domain,
                        unsigned cache)
{
    hwloc_topology_t topology = machine(text);
    hwloc_bitmap_t cpuset = hwloc_bitmap_alloc();

    assert_int_equal(0, hwloc_bitmap_list_sscanf(cpuset, processors));
    const lowlat_seat_t seat = mca_seat_of(topology, cpuset);
    assert_int_equal(socket, seat.domain[0]);
    assert_int_equal(domain, seat.domain[1]);
    assert_int_equal(cache, seat.domain[2]);
    hwloc_bitmap_free(cpuset);
    hwloc_topology_destroy(topology);
}

static const char epyc[] = "package:2 numa:4 l3:2 core:8 pu:1";

TEST(a_core_has_a_seat_in_each_domain)
{
    assert_seat(epyc, "0", 1, 1, 1);
    assert_seat(epyc, "7", 1, 1, 1);
    assert_seat(epyc, "8", 1, 1, 2);
    assert_seat(epyc, "16", 1, 2, 3);
    assert_seat(epyc, "127", 2, 8, 16);
}

/* Bound to a cache, a domain, a socket, or not at all. */
TEST(who_may_move_sits_where_he_stays)
{
    assert_seat(epyc, "8-15", 1, 1, 2);
    assert_seat(epyc, "0-15", 1, 1, 0);
    assert_seat(epyc, "64-127", 2, 0, 0);
    assert_seat(epyc, "0-127", 0, 0, 0);
    assert_seat(epyc, "7-8", 1, 1, 0);
    assert_seat(epyc, "", 0, 0, 0);
}

TEST(without_a_third_cache_the_second_counts)
{
    assert_seat("package:2 numa:1 l2:4 core:2 pu:2", "4-7", 1, 1, 2);
    assert_seat("package:1 core:4 pu:1", "3", 1, 1, 0);
}
