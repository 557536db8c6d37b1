/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "exchange_tree.h"

exchange_pair_t exchange_tree_pair(const exchange_shape_t *shape, unsigned vertex)
{
    const unsigned p = shape->per_node;

    if (0 == vertex) {
        return (exchange_pair_t){.node = 0, .place = 0};
    }
    const unsigned node = 1 + (vertex - 1) / p;
    const unsigned in_turn = (vertex - 1) % p;
    if (node == shape->nodes) {
        /* The leaves of the last node have no next one before them. */
        return (exchange_pair_t){.node = node - 1, .place = in_turn + 1};
    }
    return (exchange_pair_t){.node = 0 == in_turn ? node : node - 1, .place = in_turn};
}

/* The number of (node, 0). */
static unsigned number_of_head(const exchange_shape_t *shape, unsigned node)
{
    return 0 == node ? 0 : 1 + (node - 1) * shape->per_node;
}

exchange_pair_t exchange_tree_offset(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                     unsigned vertex)
{
    const exchange_pair_t pair = exchange_tree_pair(shape, vertex);

    return (exchange_pair_t){.node = tree->offset(shape->nodes, pair.node), .place = pair.place};
}

unsigned exchange_tree_parent(const exchange_tree_t *tree, const exchange_shape_t *shape,
                              unsigned vertex)
{
    const exchange_pair_t pair = exchange_tree_pair(shape, vertex);

    return number_of_head(shape,
                          0 != pair.place ? pair.node : tree->parent(shape->nodes, pair.node));
}

unsigned exchange_tree_open_max(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    const unsigned sums = tree->open(shape->nodes, shape->per_node);
    const unsigned totals = exchange_tree_of_totals(tree)->open(shape->nodes, shape->per_node);

    return totals > sums ? totals : sums;
}

double exchange_tree_reduce_growth(const exchange_tree_t *tree, const exchange_shape_t *shape)
{
    unsigned *depth_of = calloc(shape->nodes, sizeof *depth_of);
    double depths = NULL == depth_of ? HUGE_VAL : 0;

    for (unsigned node = 1; NULL != depth_of && node < shape->nodes; ++node) {
        depth_of[node] = 1 + depth_of[tree->parent(shape->nodes, node)];
        depths += depth_of[node];
    }
    free(depth_of);
    return depths * shape->per_node;
}

/* ---- the trees ---- */

/* The offset of most trees: vertex u is u places from the root. */
static unsigned in_order(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex;
}

/* `open` of trees in which each vertex but the root is closed by the next one, or has no child. */
static unsigned one_open(unsigned nodes, unsigned per_node)
{
    return nodes * per_node > 1;
}

/*
 * Full loop: one ring.  Rank r receives from r - 1 and sends to r + 1.
 *
 * The tree is a chain.  Shard 0 of 4 ranks, whose owner is rank 3; Q encodes, D
 * decodes, T are the bytes of the total:
 *
 *   rank 0   Q(x0) ->                                     D(T), T ->
 *   rank 1         -> Q(D + x1) ->                               -> D(T), T ->
 *   rank 2                      -> Q(D + x2) ->                            -> D(T)
 *   rank 3                                   -> T := Q(D + x3), D(T), T ->
 *            |------------- reduce-scatter ------------|-------- allgather ------|
 *
 *   cost      2 (N - 1) latencies, all traffic between neighbours
 *   error     G = N (N - 1)/2 + N: the partial sum of k ranks is coded for
 *             every k from 1 to N - 1, and then the total
 *   deadlock  none, see exchange_pipeline.h; one vertex is open at a time (exchange_tree.h),
 *             since vertex u is closed by vertex u + 1
 *   use       where neighbours have links of their own; not for many ranks
 *
 * It is the ring allreduce, the full loop of "EQuARX".
 */

static unsigned chain_parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex - 1;
}

const exchange_tree_t exchange_full_loop = {
    .parent = chain_parent,
    .offset = in_order,
    .open = one_open,
};

/*
 * Semi loop: partial sums come to the owner from both sides, each by half a ring,
 * and the total leaves to both sides.
 *
 * The tree has two chains, the vertices alternate between them.  6 ranks, seen from
 * the owner o; the numbers are vertices:
 *
 *   reduce-scatter   5 --> 3 --> 1 --> 0 <-- 2 <-- 4
 *   rank             o-3   o-2   o-1   o     o+1   o+2
 *
 *   allgather        4 <-- 2 <-- 0 --> 1 --> 3 --> 5
 *   rank             o-2   o-1   o     o+1   o+2   o+3
 *
 * The owner adds the sum from the right (vertex 2), then that from the left (vertex 1).
 *
 *   cost      2 ceil((N - 1)/2) latencies, about half of the full loop, for the same
 *             bytes per rank
 *   error     G = N^2/4 + N for even N, (N^2 - 1)/4 + N for odd N: chains of half the
 *             length
 *   deadlock  none, see exchange_pipeline.h; vertex u is closed by vertex u + 2, so two vertices
 *             are open, for any N
 *   use       instead of the full loop wherever a rank has one port for all its
 *             neighbours, as on a switch: less latency and less error
 *
 * Source: the semi loop of "EQuARX".
 */

static unsigned chains_parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    return vertex > 2 ? vertex - 2 : 0;
}

static unsigned chains_open(unsigned ranks, unsigned per_node)
{
    (void) per_node;
    return ranks > 3 ? 2 : ranks > 1;
}

/* 0, 1, -1, 2, -2, ... */
static unsigned chains_offset(unsigned ranks, unsigned vertex)
{
    if (0 == vertex) {
        return 0;
    }
    return 1 == vertex % 2 ? (vertex + 1) / 2 : ranks - vertex / 2;
}

const exchange_tree_t exchange_semi_loop = {
    .parent = chains_parent,
    .offset = chains_offset,
    .open = chains_open,
};

/*
 * Direct: every part goes straight to the owner of its shard, and the owner sends
 * the total straight to everybody.
 *
 * The tree is a star.  Shard of owner o, 4 ranks:
 *
 *   rank o+1   Q(x) --\                                        /--> D(T)
 *   rank o+2   Q(x) ---+--> T := Q(x_o + D + D + D), D(T), T -+---> D(T)
 *   rank o+3   Q(x) --/                                        \--> D(T)
 *
 * The owner adds in the order o, o + 1, o + 2, ...  The traffic is spread: in round
 * t each rank sends to another one, r - t - 1 while reducing and r + t + 1 while
 * gathering, and receives from one.  An owner keeps one sum and one total for each
 * of the W segments of the window, however many ranks there are: parts are added
 * one after the other as they are received, and its slots bound how many are under
 * way.
 *
 *   cost      2 latencies, the same bytes per rank as a ring, N - 1 peers
 *   error     G = (N - 1) + N: each part is coded once, and the total.  Relative
 *             to the result it does not grow with N
 *   deadlock  none, see exchange_pipeline.h; only the root has children: one vertex is open
 *   use       networks in which every rank reaches every other one at full speed;
 *             as long as N - 1 messages of a shard each are not too short
 *
 * exchange_direct_loop is the same for partial sums, so the owner itself adds all parts; its totals
 * go round the full loop, where each rank receives from one other only.
 *
 * Source: the direct ("two-shot", "scatter-reduce-allgather") allreduce.
 */

static unsigned star_parent(unsigned ranks, unsigned vertex)
{
    (void) ranks;
    (void) vertex;
    return 0;
}

const exchange_tree_t exchange_direct = {
    .parent = star_parent,
    .offset = in_order,
    .open = one_open,
};

const exchange_tree_t exchange_direct_loop = {
    .parent = star_parent,
    .offset = in_order,
    .open = one_open,
    .gather = &exchange_full_loop,
};

/*
 * Recursive halving and doubling: partial sums travel distances of N/2, N/4, ... 1,
 * totals 1, 2, ... N/2; any N.
 *
 * The tree is binomial: the parent of a vertex lacks its highest bit.  8 ranks,
 * vertices as distances from the owner o, who is 0:
 *
 *   4 --> 0    5 --> 1    6 --> 2    7 --> 3      over 4 ranks, half of the vector
 *   2 --> 0    3 --> 1                            over 2 ranks, a quarter
 *   1 --> 0                                       over 1 rank, an eighth
 *
 * and the total the other way.  A rank is every vertex, of another shard each; seen
 * from it, it first sends the sums of N/2 shards over N/2 ranks and receives N/2,
 * then N/4, and so on: recursive halving, then doubling, on the circle of ranks
 * instead of on the bits of the rank.  So ranks need not be a power of two, no
 * neighbours are folded in first, and no byte is sent more than in a ring.  Other
 * N than powers of two just lack the vertices from N on.
 *
 *   cost      2 ceil(log2 N) latencies, the same bytes per rank as a ring
 *   error     G = (N/2) log2 N + N for powers of two; in general the sum of the bits
 *             that are set in 1 .. N - 1, plus N
 *   deadlock  none, see exchange_pipeline.h; up to N/2 vertices are open
 *   memory    so a rank keeps N/2 sums and totals: half of the vector, like every
 *             recursive halving, but of one window of segments only
 *   use       many ranks and vectors that are not long: few latencies, few peers
 *
 * Source: recursive halving and doubling (Rabenseifner's allreduce); on a circle
 * as in the allgather of Bruck and others.
 */

static unsigned binomial_parent(unsigned ranks, unsigned vertex)
{
    unsigned highest = 1;

    (void) ranks;
    while (highest <= vertex / 2) {
        highest *= 2;
    }
    return vertex - highest;
}

/*
 * The parents of the vertices whose highest bit is b are 0, 1, ..., all open before the first of
 * these vertices.  There are b of them, of the last b perhaps fewer than of the one before.
 */
static unsigned binomial_open(unsigned ranks, unsigned per_node)
{
    (void) per_node;
    const unsigned highest = ranks > 1 ? ranks - 1 - binomial_parent(ranks, ranks - 1) : 1;
    const unsigned last = ranks - highest;

    return last > highest / 2 ? last : highest / 2;
}

const exchange_tree_t exchange_recursive_halving = {
    .parent = binomial_parent,
    .offset = in_order,
    .open = binomial_open,
};

/*
 * Hierarchical: exact on every node, coded only between nodes.
 *
 * N = n p ranks, p on each of n nodes.  Partial sums go, in fp32, to the rank of the node
 * that has the place of the owner, from there, coded, to the same place of other
 * nodes; totals come back coded and stay so.  The shard of an owner o, 3 nodes of 2 ranks,
 * as (nodes, places) before and behind the owner:
 *
 *   (2,1) --x--> (2,0) --Q(x+x)--> (1,0) --Q(D+x+x)--> o        reduce-scatter; also
 *                (1,1) --x-------> (1,0)                        (0,1) --x--> o
 *
 *   o --T--> (1,0) --T--> (2,0)                                 allgather
 *   o --T--> (0,1)   (1,0) --T--> (1,1)   (2,0) --T--> (2,1)
 *
 * The tree between nodes: the chain of exchange_full_loop for up to 4 of them, the two chains of
 * exchange_semi_loop for more, and on 17 to 512 nodes that of exchange_recursive_halving, which
 * sends few messages where ranks add up in shared memory; for the same reasons as among ranks.
 *
 *   cost      the latencies of these for n nodes, and one of the node per stage.  Between
 *             nodes 2 (n - 1)/n of the vector per node, all ranks together, wherever the
 *             ranks are placed: a ring sends 2 (N - 1)/N from each node if ranks are
 *             placed in order, p times as much if they are dealt to the nodes in turn.
 *             On a node (p - 1)/p of the vector per rank in fp32 and as much coded
 *   error     G = p R(n) + N with R(n) of the tree between nodes: what is exact costs no error,
 *             but a message between nodes has p contributions for every one of the tree
 *   deadlock  none, see exchange_pipeline.h.  At most two vertices are open beside those that the
 *             tree between nodes has open, with chains no others: the head of a node, which has
 *             sums of its own ranks, and the one that it waits for or hangs on
 *   use       several ranks on each of several nodes that are joined by one link each
 *
 * The idea is that of hierarchical allreduces in general: fewer bytes where they are dear.
 */

/* Up to so many nodes a chain. */
enum { CHAIN_NODES_MAX = 4 };

static const exchange_tree_t *tree_between(unsigned nodes)
{
    return nodes <= CHAIN_NODES_MAX    ? &exchange_full_loop
           : exchange_packs_pay(nodes) ? &exchange_recursive_halving
                                       : &exchange_semi_loop;
}

static unsigned node_parent(unsigned nodes, unsigned vertex)
{
    return tree_between(nodes)->parent(nodes, vertex);
}

/* With loops only heads (above); of powers of two, and next to them, one or two fewer. */
static unsigned node_open(unsigned nodes, unsigned per_node)
{
    enum { HEADS = 2 };

    if (1 == nodes || 1 == per_node) {
        return tree_between(nodes)->open(nodes * per_node, 1);
    }
    return HEADS + (exchange_packs_pay(nodes) ? tree_between(nodes)->open(nodes, 1) : 0);
}

static unsigned node_offset(unsigned nodes, unsigned vertex)
{
    return tree_between(nodes)->offset(nodes, vertex);
}

const exchange_tree_t exchange_hierarchical = {
    .parent = node_parent,
    .offset = node_offset,
    .open = node_open,
    .levels = true,
};
