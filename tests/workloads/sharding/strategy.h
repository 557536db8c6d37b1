/*
 * The strategies of a sharded product, and what each costs.
 *
 * A strategy is a choice of what each axis of the mesh does while the ranks multiply: it cuts I, J
 * or K, or it cuts nothing and the ranks along it all compute the same.  Everything else follows:
 *
 *   axis of an input     allgather where it is to go, all-to-all where it is to cut the other
 *                        dimension, nothing where it stays; a rank that is to have a part of what
 *                        it has keeps that part, at no cost
 *   axis that cuts J     leaves partial sums: allreduce, or reduce-scatter where it is to cut the
 *                        result
 *   ... that cuts I, K   of the result: as for an input
 *
 * With one axis the strategies are the four of the text: gather an input (cases 2 and 4), multiply
 * and reduce (case 3), the other input, or all on each rank; case 1 is the one without messages.
 *
 * An axis can be taken away only where it is the last that cuts a dimension: parts of I_XY that are
 * gathered over X would not be neighbours.  Strategies that would need that, or whose parts do not
 * divide, are left out.
 *
 * Source: Austin et al., part 3, "Computation With Sharded Arrays", questions 4, 5 and 9.
 * Pure functions, no state.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SHARDING_STRATEGY_H
#define ARC_SHARDING_STRATEGY_H

#include "model.h"

enum {
    SHARD_MAX_STEPS = SHARD_MAX_AXES, /* of a matrix */
    SHARD_MAX_STRATEGIES = 4 * 5 * 6, /* each axis: three dimensions, any place there, or none */
    SHARD_STRATEGY_TEXT_BYTES = 256,
};

typedef struct shard_step {
    bool slice;                  /* keep a part: no primitive */
    shard_primitive_t primitive; /* otherwise */
    shard_axes_t axes;           /* the part of a rank goes by their order */
    unsigned from;               /* 0 rows, 1 columns: what a gather or all-to-all makes whole */
    unsigned to;                 /* what a slice, reduce-scatter or all-to-all cuts */
} shard_step_t;

typedef struct shard_steps {
    unsigned count;
    shard_step_t step[SHARD_MAX_STEPS];
} shard_steps_t;

typedef struct shard_strategy {
    shard_layout_t layout[SHARD_MATRICES]; /* while multiplying; of C with its partial sums */
    shard_steps_t steps[SHARD_MATRICES];   /* of A and B before, of C behind the multiplication */
} shard_strategy_t;

typedef struct shard_cost {
    double flops;       /* of a rank */
    double array_bytes; /* of the arrays of all primitives: V, the text's measure */
    double sent_bytes;  /* by a rank, on a switch */
    double compute_seconds;
    double communication_seconds;
    double seconds; /* of both: their sum, or the longer if they overlap */
} shard_cost_t;

/* What a product is computed on, and of what. */
typedef struct shard_problem {
    shard_network_t network;
    shard_mesh_t mesh;
    shard_product_t product;
    shard_shape_t shape;
    double element_bytes;
} shard_problem_t;

/* Put `layout` where a step leads. */
void shard_step_apply(const shard_step_t *step, shard_layout_t *layout);

/* All strategies, the fastest first; returns their number, at least 1 for a product that divides.
 */
unsigned shard_strategies_find(const shard_problem_t *problem,
                               shard_strategy_t strategies[SHARD_MAX_STRATEGIES]);

shard_cost_t shard_strategy_cost(const shard_problem_t *problem, const shard_strategy_t *strategy);

/*
 * The extent of a dimension, from one that divides up to `most`, at which the faster one of two
 * strategies becomes the slower one; 0 where the same one is faster at both ends.  If the times
 * cross more than once, one of the places.
 */
size_t shard_strategy_crossover(const shard_problem_t *problem, const shard_strategy_t *one,
                                const shard_strategy_t *other, shard_dimension_t dimension,
                                size_t most);

/* "AllGather_X B; A[I_X,J] B[J,K]; ..." */
void shard_strategy_print(const shard_problem_t *problem, const shard_strategy_t *strategy,
                          char text[SHARD_STRATEGY_TEXT_BYTES]);

#endif
