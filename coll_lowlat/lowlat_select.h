/*
 * The algorithms and the parameters; lowlat_rules.h tells which algorithm takes which messages.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_SELECT_H
#define LOWLAT_SELECT_H

#include "lowlat.h"
#include "param.h"

typedef struct lowlat_config {
#define ARC_PARAM_ROW(_kind, _type, _scope, _name, ...) _type _name;
#define ARC_PARAM_LIST "lowlat_params.def"
#include "param_list.h"
} lowlat_config_t;

/* clang-format off */
/*
 * The only lists of algorithms, for communicators on one node and for those on several:
 * X(identifier, prefix of its functions, name, reproducible, description).
 * Reproducible: an element of the sum depends on nothing but that element of all ranks; auto takes no
 * other.  On one node every element is summed in rank order, from the left; between nodes each
 * node's sum is, and the sums of the nodes are added along the tree of recursive doubling.
 */
#define LOWLAT_NODE_TABLE(X)                                                                    \
    X(ONESHOT, lowlat_oneshot, "oneshot", true,                                                 \
      "every rank reads and sums everything; up to 632 bytes the data are behind the flag")      \
    X(TWOSHOT, lowlat_twoshot, "twoshot", true,                                                 \
      "direct reduce-scatter and allgather in pipelined chunks")                                \
    X(HALF_BUTTERFLY, lowlat_half_butterfly, "half_butterfly", false,                           \
      "recursive doubling: log2 P exchanges of everything")                                     \
    X(BUTTERFLY, lowlat_butterfly, "butterfly", false,                                          \
      "recursive halving and doubling: 2 log2 P exchanges of ever smaller parts")
#define LOWLAT_NODES_TABLE(X)                                                                   \
    X(DOUBLING, lowlat_doubling, "doubling", true,                                              \
      "reduce-scatter in the node, recursive doubling between nodes, allgather in the node")    \
    X(HALVING, lowlat_halving, "halving", true,                                                 \
      "reduce-scatter in the node, recursive halving and doubling between nodes, allgather")    \
    X(DIRECT, lowlat_direct, "direct", true,                                                    \
      "reduce-scatter in the node, parts straight to their owners between nodes, allgather")    \
    X(RING, lowlat_ring, "ring", false,                                                         \
      "reduce-scatter in the node, ring between nodes, allgather in the node")
#define LOWLAT_ALGORITHM_TABLE(X) LOWLAT_NODE_TABLE(X) LOWLAT_NODES_TABLE(X)
/* clang-format on */

/* An algorithm's number is its identity in tallies and rules. */
enum {
#define X(_id, ...) LOWLAT_ALGORITHM_##_id,
    LOWLAT_ALGORITHM_TABLE(X)
#undef X
        LOWLAT_ALGORITHMS,
    /* Words for none of them. */
    LOWLAT_PASS_DOWN = LOWLAT_ALGORITHMS,  /* the message, to the component below */
    LOWLAT_NOT_FORCED = LOWLAT_ALGORITHMS, /* by the user, who leaves it open */
    LOWLAT_LEARNED                         /* what the communicator's calls tell (select.h) */
};
extern const lowlat_algorithm_t lowlat_algorithms[LOWLAT_ALGORITHMS];

enum { LOWLAT_NODES_FIRST = LOWLAT_ALGORITHM_DOUBLING }; /* those before are for one node */

/* The values of the parameter `algorithm`: auto, 1 + an algorithm, or none, between nodes. */
enum { LOWLAT_ALGORITHM_AUTO = 0, LOWLAT_ALGORITHM_NONE = 1 + LOWLAT_ALGORITHMS };
extern const char *const lowlat_algorithm_choices[];

/* The values of the parameter `nodes_transport`. */
enum { LOWLAT_TRANSPORT_AUTO, LOWLAT_TRANSPORT_MESSAGES, LOWLAT_TRANSPORT_PUTS };

extern const arc_param_t lowlat_params[];

/*
 * The algorithm that the user chose, if it is for this kind of group; LOWLAT_NOT_FORCED if not, or
 * if it contradicts `reproducible`.
 */
unsigned lowlat_forced(const lowlat_config_t *config, bool several_nodes);

#endif
