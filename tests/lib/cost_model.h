/*
 * How long an allreduce should take: the alpha-beta-gamma model of a cluster.
 *
 * N nodes of G ranks, a vector of M bytes on every rank.  One message of m bytes
 * takes alpha + m beta, with one pair of alpha and beta inside a node and one
 * between nodes; adding m bytes takes m gamma.
 *
 *   flat ring             every rank passes M/NG bytes to the next, 2 (NG-1) times
 *   tree                  a chain in each node, a double binary tree over the nodes
 *   recursive doubling    whole vectors with the rank at distance 1, 2, 4, ...
 *   hierarchical          reduce-scatter in the node; ranks of equal local number do
 *                         recursive doubling or a ring over the nodes with M/G bytes
 *                         each; allgather in the node
 *
 * Source: Singhania et al., "Understanding and Improving Communication Performance
 * in Multi-node LLM Inference", equations (1) to (6).  "(n)" below is one of them.
 * The paper has bandwidths, bytes per second; beta here is their reciprocal.  It has
 * no gamma: 0 gives its formulas.  Where a formula here says more than the paper's,
 * its comment says so.
 *
 * What the model leaves out: contention, the overlap of phases, noise, and anything
 * that depends on who arrives when.  It predicts shapes and crossovers, not microseconds.
 *
 * Pure functions, no state.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_COST_MODEL_H
#define ARC_COST_MODEL_H

#include <stddef.h>

#include "status.h"

typedef struct cost_level {
    double alpha_seconds;         /* one message, however short */
    double beta_seconds_per_byte; /* one byte of one rank, while all ranks of its node send too */
} cost_level_t;

typedef struct cost_model {
    cost_level_t intra;            /* inside a node */
    cost_level_t inter;            /* between nodes */
    double eta;                    /* bytes on the wire for each byte of data, 1 .. 2: flags among
                                      the data; only the hierarchical recursive doubling has them */
    double gamma_seconds_per_byte; /* one byte of one vector added to another */
} cost_model_t;

/*
 * Seconds for an allreduce of `bytes` on `nodes` nodes of `ranks_per_node` ranks, both at least 1.
 * One node: only the numbers for inside it count.  One rank in all: 0.
 */
typedef double (*cost_seconds_fn_t)(const cost_model_t *model, unsigned nodes,
                                    unsigned ranks_per_node, size_t bytes);

/* (1).  A step of the ring takes as long as its slowest link; the paper: the one between nodes. */
double cost_ring_seconds(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node,
                         size_t bytes);

/*
 * (2), which neglects the bytes inside the node.  Chain and tree are a pipeline, so here the slower
 * of the two sets the pace: the same as (2) as long as that is the tree.
 */
double cost_tree_seconds(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node,
                         size_t bytes);

/*
 * No equation in the paper.  Powers of two: log2(G) steps inside the nodes, log2(N) between them.
 * Other numbers of ranks first fold those in excess into others and tell them the result at the
 * end, two steps more; pairs then ignore the nodes, and every step counts as one between nodes.
 */
double cost_doubling_seconds(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node,
                             size_t bytes);

/*
 * (3) + (4) + (5) with (4) corrected: each of the log2(N) steps moves the whole share M/G, as the
 * paper's algorithm 1 does, so that
 *
 *   (4) = log2(N) (alpha_inter + eta M/G beta_inter)
 *
 * Printed is (N-1)/N instead of log2(N) before the second term.  No allreduce can do that: the
 * ranks of a share must each move at least 2 (N-1)/N of it.  Numbers of nodes that are no power of
 * two fold, two steps more.
 */
double cost_hierarchical_seconds(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node,
                                 size_t bytes);

/* (6) as printed, to compare with; log2(N) of any N is a real number. */
double cost_hierarchical_printed_seconds(const cost_model_t *model, unsigned nodes,
                                         unsigned ranks_per_node, size_t bytes);

/*
 * No equation in the paper.  (3) + (5), and recursive halving and doubling over the nodes: 2
 * log2(N) messages with 2 (N-1)/N M/G bytes in all.  Without flags among the data.  Numbers of
 * nodes that are no power of two fold, two messages of M/G more.
 */
double cost_hierarchical_halving_seconds(const cost_model_t *model, unsigned nodes,
                                         unsigned ranks_per_node, size_t bytes);

/*
 * (3) + (1) over the nodes with M/G bytes + (5): two shots, the fewest bytes on every link. Without
 * flags among the data.
 */
double cost_hierarchical_ring_seconds(const cost_model_t *model, unsigned nodes,
                                      unsigned ranks_per_node, size_t bytes);

typedef struct cost_algorithm {
    const char *name; /* one word */
    cost_seconds_fn_t seconds;
} cost_algorithm_t;

extern const cost_algorithm_t cost_algorithms[];
extern const size_t cost_algorithms_count;

/* The row of that name, or NULL. */
const cost_algorithm_t *cost_algorithm_by_name(const char *name);

/*
 * Where two algorithms change places: the smallest size within min_bytes .. max_bytes at which
 * `large` takes no longer than `small`.  Costs are straight lines over the size, so there is one
 * such place at most.  Cost: 2 + log2(max_bytes - min_bytes) evaluations.
 *
 * ARC_UNSUPPORTED if they do not change places there: `small` is not faster at min_bytes, or still
 * is at max_bytes.  ARC_ERR_INVALID if min_bytes > max_bytes.  *bytes is written only on ARC_OK.
 */
ARC_MUST_CHECK arc_status_t cost_crossover_find(const cost_model_t *model, cost_seconds_fn_t small,
                                                cost_seconds_fn_t large, unsigned nodes,
                                                unsigned ranks_per_node, size_t min_bytes,
                                                size_t max_bytes, size_t *bytes);

#endif
