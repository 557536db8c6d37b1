/*
 * What a multiplication costs, predicted from the lists of products: no MPI.
 *
 * For each rank, with the rates of the machine:
 *
 *   compute    sum over its products of
 *              max(2 m n k / flops, bytes of the three slices / memory rate)
 *   transfer   for each get and each accumulate a latency and its bytes at its rate; the rank that
 *              serves them has the same bytes on its link
 *   its time   max(compute, transfer) where transfers go on behind a computation, else the sum
 *
 * The multiplication takes the time of the slowest rank, and then reduce_replicas: with c replicas
 * of C a vector of n bytes per process moves 2 n (c - 1) / c bytes through each process.
 *
 * Source: Brock and Golin, "Slicing Is All You Need", sections 4 and 4.3 (roofline and link rates).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_COST_H
#define ARC_WORKLOADS_MATMUL_COST_H

#include "products.h"

/* What one of all ranks gets while the others do the same.  Times in seconds. */
typedef struct rate {
    double latency;
    double bytes_per_second;
} rate_t;

typedef struct machine {
    double flops;  /* of sgemm, per second */
    double memory; /* of a copy, bytes per second */
    rate_t get;
    rate_t accumulate;
    rate_t reduce; /* bytes moved by an allreduce as above */
    bool overlaps; /* transfers go on behind a computation */
} machine_t;

typedef struct cost {
    double seconds;
    double reduce_seconds; /* of these, reduce_replicas */
    double tile_bytes;     /* fetched from and accumulated on other ranks, by all ranks together */
    double reduce_bytes;   /* moved by reduce_replicas, by all ranks together */
} cost_t;

/* False if there is no memory. */
bool cost_predict(const problem_t *problem, int stationary, const machine_t *machine, cost_t *cost)
    __attribute__((warn_unused_result));

/* Which matrix to keep where it is: that with the least predicted time; false if there is no
 * memory. */
bool cost_choose(const problem_t *problem, const machine_t *machine, int *stationary)
    __attribute__((warn_unused_result));

#endif
