/*
 * Causal attention of some heads over kept keys and values, and its gradient.
 *
 * Queries are taken in blocks of ATTENTION_BLOCK: the scores of a block against all earlier keys
 * are one product of matrices, and the backward pass computes them again in place of keeping them.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_ATTENTION_H
#define TRANSFORMER_ATTENTION_H

#include <stddef.h>

enum { ATTENTION_BLOCK = 128 }; /* 128 x 2048 scores are 1 MiB: about a level 2 cache */

/* One head of one sequence; a row of each matrix begins `stride` floats behind the one before. */
typedef struct attention_head {
    const float *query; /* count x width */
    const float *key;   /* past + count x width */
    const float *value; /* past + count x width */
    int stride;
    int width;
    int past;
    int count;
    float slope; /* ALiBi: a key at a distance of d counts exp(-slope d) less */
} attention_head_t;

/* 2^(-8 (head + 1) / heads), of ALiBi, section 3. */
float attention_slope(int head, int heads);

/* out: count x width, rows as those of the query. scores: ATTENTION_BLOCK x (past + count). */
void attention_forward(const attention_head_t *head, float *out, float *scores);

/*
 * From the gradient of out those of query, which is overwritten, and of key and value, to which
 * they are added. scores: twice ATTENTION_BLOCK x (past + count).
 */
void attention_backward(const attention_head_t *head, const float *out_gradient,
                        float *query_gradient, float *key_gradient, float *value_gradient,
                        float *scores);

#endif
