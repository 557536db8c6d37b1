/*
 * The bytes that a multiplication moves, from the lists of products: no MPI.
 *
 * With c replicas of C a vector of n bytes per process moves 2 n (c - 1) / c bytes through each
 * process in reduce_replicas.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_COST_H
#define ARC_WORKLOADS_MATMUL_COST_H

#include "products.h"

typedef struct cost {
    double tile_bytes;   /* fetched from and accumulated on other ranks, by all ranks together */
    double reduce_bytes; /* moved by reduce_replicas, by all ranks together */
} cost_t;

/* False if there is no memory. */
bool cost_predict(const problem_t *problem, int stationary, cost_t *cost)
    __attribute__((warn_unused_result));

#endif
