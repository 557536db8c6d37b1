/*
 * One allreduce, or a stage of one, of all ranks over the simulated network, and what came of it;
 * oracles for the result that share no code with what they judge.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_JOB_H
#define QUANT_JOB_H

#include "quant_pipeline.h"
#include "sim_stream.h"

enum {
    JOB_RANKS_MAX = 66,
    JOB_NAME_BYTES = 128,
#define X(_name, _description) +1
    JOB_ALGOS = 0 QUANT_ALGO_TABLE(X),
#undef X
};

typedef struct quant_job {
    unsigned ranks;
    size_t count; /* of the vector; of a block if `collective` is a stage */
    exchange_collective_t collective;
    bool in_place;
    quant_config_t config; /* kernels: NULL: those of `isa`; else these, on all ranks */
    arc_isa_t isa;
    bool mixed_isa;             /* odd ranks use the scalar kernels instead */
    bool first_is_absent;       /* rank 0 does nothing */
    uint32_t odd_sequence_skew; /* odd ranks believe to be so many operations further */
    sim_options_t network;
    float *const *inputs; /* [rank][element]; quant_job_in_count() of a rank; or config.doubles */
    const quant_storage_t *storage; /* what inputs and results are instead; NULL: floats */
    double bound_max;               /* quant_operation_t */
    bool asks_oracle; /* quant_job_errors() holds results against quant_oracle_bound(), too */
    double *running;  /* [element], results of rank 0 of all calls are added to it; or NULL */
} quant_job_t;

typedef struct quant_outcome {
    bool finished;  /* within the budget of steps */
    bool ok;        /* every rank reports ARC_OK */
    bool identical; /* the result has the same bits on all ranks, but of a reduce-scatter */
    float bound;    /* of the error, as the last call on rank 0 tells; part of `identical` */
    float bounds[JOB_RANKS_MAX];
    size_t exact_elems; /* of totals, on all ranks; part of `identical` */
    bool intact;        /* canaries are whole, and sent data unchanged if not in place */
    bool fault_happened;
    size_t outstanding; /* requests left at the end; after abort() of the unfinished tasks */
    uint64_t messages;  /* delivered */
    uint64_t bytes;     /* of these */
    /* [rank][peer]: at the end the unfinished rank said to wait for the peer */
    bool waits[JOB_RANKS_MAX][JOB_RANKS_MAX];
    unsigned accused; /* how many of these are true */
    arc_status_t statuses[JOB_RANKS_MAX];
} quant_outcome_t;

/* The config of most tests: int8 both ways, 64 rows, one tile per message, smallest depth. */
quant_config_t quant_job_config(const quant_algo_t *algo);

/*
 * An allreduce with that config, the best instruction set and a network on which messages come late
 * and out of order, short ones before they are asked for; quant_job_group() with 0.
 */
quant_job_t quant_job_new(const quant_algo_t *algo, unsigned ranks, size_t count,
                          float *const *inputs, uint64_t seed);

/* What must not change the bits of a result, but for the rows of a block. */
typedef struct quant_variant {
    unsigned block_rows;
    unsigned depth;
    bool in_place;
    bool mixed_isa;
    unsigned eager_max;
    unsigned minishards;
    unsigned microshards;
} quant_variant_t;

void quant_job_vary(quant_job_t *job, const quant_variant_t *variant, uint64_t seed);

/* Elements that a rank gives, that it gets, and of all different results together. */
size_t quant_job_in_count(const quant_job_t *job);
size_t quant_job_out_count(const quant_job_t *job);
size_t quant_job_result_count(const quant_job_t *job);

/*
 * For an algorithm with levels: nodes of `per_node` ranks, which divides the ranks; 0: of the
 * least divisor.  Ranks are dealt to the nodes in turn.
 */
void quant_job_group(quant_job_t *job, unsigned per_node);

/* Nodes and ranks on each, for algorithms with levels. */
typedef struct quant_shape {
    unsigned nodes;
    unsigned per_node;
} quant_shape_t;

enum { QUANT_SHAPES = 15 };
extern const quant_shape_t quant_shapes[QUANT_SHAPES];

/*
 * Run `calls` operations, each rank its own one after the other without waiting for the rest;
 * `result`: that of the last one on rank 0; of a reduce-scatter the blocks of all ranks.
 */
quant_outcome_t quant_job_run(const quant_job_t *job, unsigned calls, void *result);

/* All as it has to be after a run without faults. */
bool quant_outcome_is_clean(const quant_outcome_t *outcome);

/* quant_job_run() that asserts that it is. */
quant_outcome_t quant_job_clean(const quant_job_t *job, unsigned calls, void *result);

/* Of `ranks` ranks: how many ended with `status`. */
unsigned quant_outcome_ranks(const quant_outcome_t *outcome, unsigned ranks, arc_status_t status);

/*
 * Asserts after a fault that all ranks have ended, that nothing is left, and that nobody reports
 * anything but `status` or its echo.
 */
void quant_outcome_assert_failed(const quant_outcome_t *outcome, unsigned ranks,
                                 arc_status_t status);

/* Standard normal inputs, the same for the same seed; to be freed in one piece. */
float **quant_inputs_new(unsigned ranks, size_t count, uint64_t seed);

/* The same for the job as it is, which gets them, as the numbers that it sums. */
float **quant_job_draw(quant_job_t *job, uint64_t seed);

/* Number i of an input or a result, of whatever kind these are. */
double quant_job_number(const quant_job_t *job, const void *numbers, size_t i);

/* A test of each algorithm, which is its *state; see unit.h. */
#define TEST_OF_ALGOS(_name) UNIT_TEST(quant_job_add, _name, NULL, NULL)
struct CMUnitTest;
void quant_job_add(const struct CMUnitTest *test, size_t count);

/* ---- oracles: of a result as quant_job_run() gives it ---- */

/* Without rounding. */
void quant_oracle_exact(const quant_job_t *job, double *exact);

/* Per element of floats, a bound of |result - exact| that nobody with this algorithm may exceed. */
void quant_oracle_bound(const quant_job_t *job, double *bound);

/* The float sum in the order of the algorithm: what it must return without quantization. */
void quant_oracle_float_sum(const quant_job_t *job, float *sum);

typedef struct quant_errors {
    quant_outcome_t outcome;
    double mean_square; /* of (result - exact), of what is finite */
    double worst;
    double bound; /* the largest of quant_oracle_bound(); 0: that has none */
} quant_errors_t;

/*
 * A clean run; asserts of the last result that what has to be infinite or not a number is that, and
 * that no other element is off by more than its rank tells, nor, if that is asked, than the
 * oracle's bound.
 */
quant_errors_t quant_job_errors(const quant_job_t *job, unsigned calls, void *result);

/* bf16, rounded towards zero: what counts is that both sides do the same. */
extern const quant_storage_t quant_job_bf16;

#endif
