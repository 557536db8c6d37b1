/*
 * Ranks of simulated nodes that make quantized sums whose parts on the nodes are added up in shared
 * memory (quant_fold.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef FOLD_JOB_H
#define FOLD_JOB_H

#include "nodes_job.h"
#include "quant_fold.h"
#include "quant_job.h"

enum {
    FOLD_SEED = 20261124,
    FOLD_CALLS = 12,
    /* In chunks of 46, 46 and 45 rows, if blocks are short: the last of three owners has most in
       the last. */
    FOLD_COUNT_MAX = 8760,
    FOLD_TENSOR = 64, /* a block of the format */
};

/* What is varied beside the shape. */
typedef struct variant {
    const char *name;
    const quant_format_t *format;
    unsigned depth;
    bool doubles;
    bool feedback;
    bool integers; /* small ones, whose sums floats have exactly */
    bool chunks;   /* short blocks, so that vectors are several chunks */
    bool tensors;  /* of FOLD_TENSOR numbers, small ones beside large ones */
    bool rounds;   /* on each node; what is left is small against that, there or between nodes */
    bool crowded;  /* half of the ranks own a part */
    bool cancels;  /* on each node, but for integers that a scale for the parts would lose */
} variant_t;

/* Of a job, the same on all ranks. */
typedef struct call {
    bool in_place;
    size_t count;
    uint64_t seed;
} call_t;

/* A rank: a call of quantized numbers is a sum, then the largest bound on the node. */
typedef struct member {
    actor_t *actor;
    quant_kernels_t kernels;
    quant_config_t config;
    const quant_element_t *element;
    quant_fold_t *fold;
    lowlat_task_t *task; /* of the fold */
    test_buffer_t memory;
    test_buffer_t in;
    test_buffer_t out;
    float *residual;
    float bound;
    size_t call; /* the one under way, or the next */
    enum { IDLE, ADDING, BOUNDING } state;
} member_t;

typedef struct fold_job {
    const variant_t *variant;
    sim_nodes_t *nodes;
    sim_network_t *network;
    unsigned *order; /* ranks by node, then place */
    member_t members[LOWLAT_JOB_MAX_RANKS];
    call_t calls[FOLD_CALLS];
    unsigned done[FOLD_CALLS];        /* ranks */
    test_buffer_t result[FOLD_CALLS]; /* of the rank that was first */
    double told[FOLD_CALLS];          /* the largest bound of any node */
} fold_job_t;

/* All of it; `fail_at`: the network of the quantized sums fails at this operation; 0: never. */
fold_job_t *fold_job_new(const nodes_options_t *shape, const variant_t *variant, uint64_t seed,
                         uint64_t fail_at);
void fold_job_free(fold_job_t *job);

/* How large the numbers of the tensor are that element `i` belongs to. */
double fold_job_tensor(size_t i);

/* What a rank gives to a call, and element `i` of the result, whatever numbers these are. */
double fold_job_input(const fold_job_t *job, const call_t *call, unsigned rank, size_t i);
double fold_job_result(const fold_job_t *job, size_t call, size_t i);

/* Let something happen in memory and network. */
void fold_job_happen(fold_job_t *job);

/* One call of progress of a rank that has calls left; an error, or ARC_IN_PROGRESS. */
arc_status_t fold_job_move(fold_job_t *job, member_t *member) __attribute__((warn_unused_result));

/* Until all ranks are through; false: that takes too long. */
bool fold_job_run(fold_job_t *job, test_random_t *random) __attribute__((warn_unused_result));

#endif
