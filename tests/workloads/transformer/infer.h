/*
 * The parts of transformer_infer.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_INFER_H
#define TRANSFORMER_INFER_H

#include "job.h"
#include "pass.h"
#include "text.h"

enum { INFER_MAX_LIST = 16 };

typedef struct infer {
    job_t job;
    model_t whole;
    model_t part; /* this rank's */
    text_t text;  /* held out */
    pass_residual_t residual;
    int numbers[INFER_MAX_LIST]; /* batches or lengths */
    size_t number_count;
    int repeats;
    int measured; /* characters of the held-out text */
    double tolerance;
} infer_t;

/* A pass of this rank's part, with the sum over the ranks; ends all ranks without memory. */
void infer_pass_new(infer_t *infer, pass_t *pass, int sequences, int capacity, size_t max_rows);

/* The most probable character of each row. */
void infer_choose(const float *logits, size_t rows, uint8_t *characters);

/* Each prints lines on rank 0, and returns whether what was computed is right. */
bool infer_check(infer_t *infer);
bool infer_prefill(infer_t *infer);

#endif
