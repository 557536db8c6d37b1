/*
 * Which ranks are on which node: every rank finds the same nodes, itself among its
 * members, and counterparts who find it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "topology.h"

enum { SEED = 20261122, MOST_RANKS = 64, RANDOM_CASES = 300 };

typedef struct job {
    unsigned ranks;
    uint32_t node_of[MOST_RANKS]; /* the lowest rank there */
    arc_topology_t topology[MOST_RANKS];
} job_t;

static job_t job;

/* From any numbers for the nodes to their lowest ranks. */
static void name_by_lowest_rank(void)
{
    uint32_t number[MOST_RANKS];

    memcpy(number, job.node_of, sizeof number);
    for (unsigned rank = 0; rank < job.ranks; ++rank) {
        unsigned lowest = 0;
        while (number[lowest] != number[rank]) {
            ++lowest;
        }
        job.node_of[rank] = lowest;
    }
}

static void make_all(void)
{
    name_by_lowest_rank();
    for (unsigned rank = 0; rank < job.ranks; ++rank) {
        assert_int_equal(ARC_OK,
                         arc_topology_make(&job.topology[rank], job.node_of, job.ranks, rank));
    }
}

static void free_all(void)
{
    for (unsigned rank = 0; rank < job.ranks; ++rank) {
        arc_topology_free(&job.topology[rank]);
        assert_null(job.topology[rank].order);
        assert_null(job.topology[rank].members);
        assert_null(job.topology[rank].peers);
        arc_topology_free(&job.topology[rank]); /* harmless */
    }
}

static unsigned ranks_of_node(uint32_t id)
{
    unsigned ranks = 0;

    for (unsigned rank = 0; rank < job.ranks; ++rank) {
        ranks += id == job.node_of[rank];
    }
    return ranks;
}

/* The ranks below `rank` that are on the same node. */
static unsigned place_in_node(unsigned rank)
{
    unsigned before = 0;

    for (unsigned r = 0; r < rank; ++r) {
        before += job.node_of[r] == job.node_of[rank];
    }
    return before;
}

static void check_members(unsigned rank)
{
    const arc_topology_t *topology = &job.topology[rank];

    assert_int_equal(ranks_of_node(job.node_of[rank]), topology->local_ranks);
    assert_int_equal(place_in_node(rank), topology->local_rank);
    assert_int_equal(rank, topology->members[topology->local_rank]);
    for (unsigned i = 0; i < topology->local_ranks; ++i) {
        const unsigned member = topology->members[i];
        assert_true(0 == i || member > topology->members[i - 1]);
        assert_int_equal(topology->node, job.topology[member].node);
        assert_memory_equal(topology->members, job.topology[member].members,
                            topology->local_ranks * sizeof topology->members[0]);
    }
}

static void check_peers(unsigned rank)
{
    const arc_topology_t *topology = &job.topology[rank];

    for (unsigned node = 0; topology->local_rank < topology->owners && node < topology->nodes;
         ++node) {
        const arc_topology_t *peers = &job.topology[topology->peers[node]];
        assert_int_equal(node, peers->node);
        assert_int_equal(topology->local_rank, peers->local_rank);
        assert_int_equal(rank, peers->peers[topology->node]);
    }
}

/* All ranks, node by node: the same on all. */
static void check_order(unsigned rank)
{
    const arc_topology_t *topology = &job.topology[rank];
    unsigned at = 0;

    for (unsigned node = 0; node < topology->nodes; ++node) {
        for (unsigned r = 0; r < job.ranks; ++r) {
            if (node == job.topology[r].node) {
                assert_int_equal(r, topology->order[at]);
                ++at;
            }
        }
    }
    assert_int_equal(job.ranks, at);
}

/* The nodes are numbered by their lowest ranks; nothing else differs from rank to rank. */
static void check_nodes(void)
{
    unsigned nodes = 0;
    unsigned owners = job.ranks;
    bool in_order = true;

    for (unsigned rank = 0; rank < job.ranks; ++rank) {
        const unsigned size = ranks_of_node(job.node_of[rank]);
        if (0 == place_in_node(rank)) {
            assert_int_equal(nodes, job.topology[rank].node);
            ++nodes;
        } else {
            in_order = in_order && job.node_of[rank] == job.node_of[rank - 1];
        }
        owners = size < owners ? size : owners;
    }
    for (unsigned rank = 0; rank < job.ranks; ++rank) {
        assert_int_equal(nodes, job.topology[rank].nodes);
        assert_int_equal(owners, job.topology[rank].owners);
        assert_int_equal(in_order, job.topology[rank].in_order);
    }
}

static void check_all(void)
{
    make_all();
    check_nodes();
    for (unsigned rank = 0; rank < job.ranks; ++rank) {
        check_members(rank);
        check_peers(rank);
        check_order(rank);
    }
    free_all();
}

TEST(ranks_node_by_node)
{
    for (unsigned per_node = 1; per_node <= 9; ++per_node) {
        for (job.ranks = 1; job.ranks <= MOST_RANKS; ++job.ranks) {
            for (unsigned rank = 0; rank < job.ranks; ++rank) {
                job.node_of[rank] = rank / per_node;
            }
            check_all();
        }
    }
}

TEST(ranks_dealt_to_the_nodes)
{
    for (unsigned nodes = 1; nodes <= 9; ++nodes) {
        for (job.ranks = nodes; job.ranks <= MOST_RANKS; ++job.ranks) {
            for (unsigned rank = 0; rank < job.ranks; ++rank) {
                job.node_of[rank] = UINT32_MAX - rank % nodes;
            }
            check_all();
        }
    }
}

TEST(ranks_anywhere)
{
    test_random_t random = test_random_start(SEED);

    for (unsigned i = 0; i < RANDOM_CASES; ++i) {
        const uint64_t nodes = 1 + test_random_below(&random, 12);
        job.ranks = 1 + (unsigned) test_random_below(&random, MOST_RANKS);
        for (unsigned rank = 0; rank < job.ranks; ++rank) {
            job.node_of[rank] = (uint32_t) (7919 * test_random_below(&random, nodes));
        }
        check_all();
    }
}

/* They come from other ranks. */
TEST(wrong_numbers_are_refused)
{
    static const uint32_t wrong[][3] = {{1, 1, 1}, {0, 2, 2}, {0, 0, 1}, {0, 0, UINT32_MAX}};
    arc_topology_t topology;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(ARC_ERR_PROTOCOL, arc_topology_make(&topology, wrong[i], 3, 0));
        assert_null(topology.order);
        assert_null(topology.peers);
    }
}
