/*
 * What the steps of large models take on accelerators that no small machine has: waits.
 *
 * A wait is the larger of two times: the bytes of the rank's part of the weights, two for each,
 * over `gigabytes_per_second`, which bounds decode whatever the batch; and two operations for each
 * of these weights and each token, over `teraflops`, which bounds prefill. The defaults are what
 * table 4 of the NVRAR paper (Singhania et al.) gives for an A100: with 8192 x 57344 weights the
 * product of decode, 32 tokens, in 0.614 ms, that of prefill, 32768 tokens, in 108.033 ms. Products
 * of tokens with each other are not counted. The wait sleeps, because on an accelerator the
 * processor would be free, and was calibrated before: how late the system wakes a process is taken
 * off, and the rest of the time spun away.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_ACCELERATOR_H
#define TRANSFORMER_ACCELERATOR_H

#include "job.h"

typedef struct big_model {
    const char *name;
    int width;
    int hidden; /* of an MLP of three matrices */
    int layers;
} big_model_t;

typedef struct accelerator {
    double gigabytes_per_second;
    double teraflops;
    double late_seconds; /* by which a sleep ends later than asked */
    double waited;       /* seconds, and */
    double wanted;
} accelerator_t;

#define ACCELERATOR_A100                                \
    {                                                   \
        .gigabytes_per_second = 1530, .teraflops = 285, \
    }

/* job_fail() if there is none. */
const big_model_t *accelerator_model(const job_t *job, const char *name);

void accelerator_calibrate(accelerator_t *accelerator);

/* The attention, or the MLP, of a layer that is split over `ranks`, for `tokens`. */
void accelerator_attention(accelerator_t *accelerator, const big_model_t *model, int ranks,
                           int tokens);
void accelerator_mlp(accelerator_t *accelerator, const big_model_t *model, int ranks, int tokens);

#endif
