/*
 * What an algorithm is: a tree.
 *
 * Every shard of the vector has an owner, the root.  Partial sums climb the tree
 * to the root; the total descends the same tree.  The vertices are numbered so that
 * a parent comes before its children, vertex 0 is the root:
 *
 *        0                reduce-scatter: vertices N - 1, N - 2, ... 1 send, one after the
 *       / \               other, the sum of their subtree to their parent
 *      1   2
 *     /                   allgather: vertices 1, 2, ... N - 1 receive, one after the
 *    3                    other, the total from their parent
 *
 * `offset` places a vertex on the ring of ranks.  In the reduce-scatter vertex u of a
 * shard with owner o is rank o - offset(u), in the allgather rank o + offset(u),
 * modulo N; so both stages send in the same direction.  Each rank is every vertex
 * exactly once, of another shard each: all ranks do the same work, and with every
 * number u each rank sends one message and receives one.
 *
 * Totals may descend another tree than the one that partial sums climb: the two trees have only the
 * owner in common.
 *
 * Levels.  Ranks may be grouped by the node that they are on, p of them on each of n nodes.  A rank
 * is then a pair, node and place, and offsets are pairs, too: the two are added each by itself,
 * modulo n and modulo p.  The functions of exchange_tree_t define the tree between nodes; on every
 * node it has a star.  Vertex (i, 0) is vertex i of the tree between nodes, (i, 1) ... (i, p - 1)
 * hang on it:
 *
 *        (0,0)                        the offset of (i, j) is that of i for the node,
 *       /  |  \                       j for the place: all partial sums of a node come
 *  (1,0) (0,1) (0,2)                  to the one rank whose place is that of the owner, and
 *   |  \                              p ranks of a node talk to others at the same time
 * (1,1) (1,2)
 *
 * The numbers of the leaves of a node come after that of the next node, so that partial sums travel
 * between nodes while those of the next node are added up:
 *
 *   (0,0)  (1,0) (0,1) .. (0,p-1)  (2,0) (1,1) .. (1,p-1)  (3,0) ...  (n-1,1) .. (n-1,p-1)
 *
 * Pairs form a group as numbers modulo N do, so each rank is still every vertex exactly once, of
 * another shard each.  Edges to leaves stay on a node; all others lead to another one.  p = 1 is
 * the tree without levels.  Errors, latencies and volumes: docs/algorithms_quant.md.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EXCHANGE_TREE_H
#define EXCHANGE_TREE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct exchange_tree {
    /* Of vertex 1 .. ranks - 1; less than `vertex`. */
    unsigned (*parent)(unsigned ranks, unsigned vertex);

    /* Of vertex 0 .. ranks - 1: a permutation of 0 .. ranks - 1 with offset(0) = 0. */
    unsigned (*offset)(unsigned ranks, unsigned vertex);

    /*
     * The most vertices that are open at a time; a vertex is open from its own number to that of
     * its last child.  A rank has to keep so many partial sums, or totals, of different shards.
     */
    unsigned (*open)(unsigned nodes, unsigned per_node);

    bool levels; /* parent and offset are about nodes instead of ranks */

    /* Totals descend that tree, which has no levels and no `gather`; NULL: this one. */
    const struct exchange_tree *gather;
} exchange_tree_t;

/* How ranks are grouped; without levels every rank is a node. */
typedef struct exchange_shape {
    unsigned nodes;        /* n */
    unsigned per_node;     /* p, at least 1 */
    const unsigned *order; /* [n p] ranks by node, then place; NULL: 0, 1, 2, ... */
} exchange_shape_t;

static inline unsigned exchange_shape_ranks(const exchange_shape_t *shape)
{
    return shape->nodes * shape->per_node;
}

static inline exchange_shape_t exchange_shape_flat(unsigned ranks)
{
    return (exchange_shape_t){.nodes = ranks, .per_node = 1};
}

static inline const exchange_tree_t *exchange_tree_of_totals(const exchange_tree_t *tree)
{
    return NULL == tree->gather ? tree : tree->gather;
}

/* ---- of all vertices 0 .. n p - 1, in the order of their numbers ---- */

/* The pair (node, place) of a vertex: i and j above. */
typedef struct exchange_pair {
    unsigned node;
    unsigned place;
} exchange_pair_t;

exchange_pair_t exchange_tree_pair(const exchange_shape_t *shape, unsigned vertex);

/* Its offset from the root. */
exchange_pair_t exchange_tree_offset(const exchange_tree_t *tree, const exchange_shape_t *shape,
                                     unsigned vertex);

/* Of vertex 1 .. n p - 1; less than `vertex`. */
unsigned exchange_tree_parent(const exchange_tree_t *tree, const exchange_shape_t *shape,
                              unsigned vertex);

/* `open` of the tree or, if totals descend another one and that has more, of that one. */
unsigned exchange_tree_open_max(const exchange_tree_t *tree, const exchange_shape_t *shape);

/* clang-format off */
extern const exchange_tree_t exchange_full_loop, exchange_semi_loop, exchange_direct, exchange_direct_loop,
    exchange_recursive_halving, exchange_hierarchical;
/* clang-format on */

/*
 * Nodes between which sums go along exchange_recursive_halving: the 2 (n - 1) messages of loops
 * would take longer than the bytes (docs/data/scale_quant.csv), and its n/2 segments have room.
 */
enum { EXCHANGE_PACKS_NODES_MIN = 17, EXCHANGE_PACKS_NODES_MAX = 512 };

static inline bool exchange_packs_pay(unsigned nodes)
{
    return nodes >= EXCHANGE_PACKS_NODES_MIN && nodes <= EXCHANGE_PACKS_NODES_MAX;
}

/* Codings of the reduce-scatter, each weighted with its contributions; HUGE_VAL: no memory. */
double exchange_tree_reduce_growth(const exchange_tree_t *tree, const exchange_shape_t *shape);

#endif
