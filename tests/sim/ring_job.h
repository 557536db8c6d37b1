/*
 * One allreduce of all ranks over the simulated network, and what came of it;
 * oracles for the result that share no code with what they judge.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef RING_JOB_H
#define RING_JOB_H

#include "quant_algos.h"
#include "sim_stream.h"

enum { JOB_RANKS_MAX = 17 };

typedef struct ring_job {
    unsigned ranks;
    size_t count;
    bool in_place;
    quant_config_t config; /* kernels: NULL: those of `isa`; else these, on all ranks */
    arc_isa_t isa;
    bool mixed_isa;             /* odd ranks use the scalar kernels instead */
    uint32_t odd_sequence_skew; /* odd ranks believe to be so many operations further */
    sim_options_t network;
    float *const *inputs; /* [rank][element] */
} ring_job_t;

typedef struct ring_outcome {
    bool finished;  /* within the budget of steps */
    bool ok;        /* every rank reports ARC_OK */
    bool identical; /* the result has the same bits on all ranks */
    bool intact;    /* canaries are whole, and sent data unchanged if not in place */
    bool fault_happened;
    size_t outstanding; /* requests left at the end; after abort() of the unfinished tasks */
    uint64_t messages;  /* delivered */
    /* [rank][peer]: at the end the unfinished rank said to wait for the peer */
    bool waits[JOB_RANKS_MAX][JOB_RANKS_MAX];
    unsigned accused; /* how many of these are true */
    arc_status_t statuses[JOB_RANKS_MAX];
} ring_outcome_t;

/* The config of most tests: int8 both ways, 64 rows, one tile per message, smallest depth. */
quant_config_t ring_job_config(void);

/*
 * Run `calls` operations, each rank its own one after the other without waiting for the rest;
 * `result`: the `count` elements of the last one on rank 0.
 */
ring_outcome_t ring_job_run(const ring_job_t *job, unsigned calls, float *result);

/* All as it has to be after a run without faults. */
bool ring_outcome_is_clean(const ring_outcome_t *outcome);

/* Standard normal inputs, the same for the same seed. */
float **ring_inputs_new(unsigned ranks, size_t count, uint64_t seed);
void ring_inputs_free(float **inputs, unsigned ranks);

/* Sums in double precision. */
void ring_oracle_sum(const ring_job_t *job, double *sum);

/* Per element, a bound of |result - sum| that no allreduce by this ring may exceed. */
void ring_oracle_bound(const ring_job_t *job, double *bound);

/* The float sum in ring order: what a ring without quantization must return, bit for bit. */
void ring_oracle_chain(const ring_job_t *job, float *sum);

#endif
