/*
 * The forward pass of a rank's part of a model, and the backward pass of a whole model.
 *
 *     x  = embedding[character]
 *     x += sum over ranks of mix  . attention(norm(x))      for each layer
 *     x += sum over ranks of down . relu(up . norm(x))^2    for each layer
 *     logits = norm(x) . logits^T
 *
 * norm is RMSNorm (Zhang, Sennrich 2019); the attention has ALiBi's biases in place of positions
 * (Press, Smith, Lewis 2022), so that a model also works on texts longer than those of its
 * training; the MLP's squared ReLU is that of Primer (So et al. 2021). x is whole on every rank,
 * and has the same bits there if the sum has.
 *
 * "Rows" are the new characters of all sequences, those of a sequence side by side. Keys and values
 * of earlier characters are kept: a pass of many rows is a prefill, one row a sequence a decode
 * step.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_PASS_H
#define TRANSFORMER_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

/* Sums x over the ranks, in place. */
typedef void (*pass_sum_fn_t)(void *context, float *x, size_t count);

/* Who adds the residual stream to the sum over the ranks. */
typedef enum pass_residual {
    PASS_RESIDUAL_APART, /* x += sum, a pass over x of its own behind the sum */
    PASS_RESIDUAL_FIRST, /* rank 0 adds x to what it contributes: sgemm with beta 1 into x */
    PASS_RESIDUAL_SHARED /* every rank adds x/ranks: beta 1/ranks */
} pass_residual_t;

/* What a layer computed; with `keep` each layer has its own, else only keys and values. */
typedef struct pass_layer {
    float *input;      /* rows x width */
    float *normed_mix; /* rows x width */
    float *query;      /* rows x local_width */
    float *key;        /* sequences x capacity x local_width */
    float *value;      /* sequences x capacity x local_width */
    float *mixed;      /* rows x local_width: what the heads found */
    float *middle;     /* rows x width: the stream between attention and MLP */
    float *normed_mlp; /* rows x width */
    float *rectified;  /* rows x local_hidden: relu(up . norm) */
    float *squared;    /* rows x local_hidden */
} pass_layer_t;

typedef struct pass {
    const model_t *model;
    pass_residual_t residual;
    pass_sum_fn_t sum; /* NULL with one rank */
    void *sum_context;
    int sequences;
    int capacity;    /* characters of a sequence */
    int past;        /* characters of a sequence whose keys and values are there */
    size_t max_rows; /* of one call */
    pass_layer_t layers[MODEL_MAX_LAYERS];
    float *output;     /* rows x width: the stream behind the last layer */
    float *normed_out; /* rows x width */
    float *partial;    /* rows x width */
    float *scores;     /* two blocks of attention.h */
    void *owned[4 + 10 * MODEL_MAX_LAYERS];
    size_t owned_count;
} pass_t;

/*
 * Memory for sequences of up to capacity characters, max_rows of all at once. 0, or -1 without
 * memory. keep: for pass_backward(); capacity is then also the length of every sequence.
 */
int pass_new(pass_t *pass, const model_t *model, int sequences, int capacity, size_t max_rows,
             bool keep);
void pass_free(pass_t *pass);

/* Appends count characters to each sequence (sequences x count); the stream is in pass->output. */
void pass_forward(pass_t *pass, const uint8_t *characters, int count);

/* The logits of rows of the last pass_forward(): rows x vocabulary. */
void pass_logits(pass_t *pass, size_t first_row, size_t rows, float *logits);

/*
 * Adds the gradient of a loss to that of the weights, whose whole model made the pass from past 0,
 * with keep and sequences of their full capacity. logits_gradient: rows x vocabulary; scratch:
 * pass_backward_floats() of them.
 */
size_t pass_backward_floats(const pass_t *pass);
void pass_backward(pass_t *pass, const uint8_t *characters, const float *logits_gradient,
                   model_t *gradient, float *scratch);

/*
 * Cross entropy of each row's softmax with the character that came, in nats, summed over the rows.
 * logits becomes the gradient of the mean over the rows. places[row], unless NULL: how many
 * characters were more probable than the one that came.
 */
double pass_loss(float *logits, const uint8_t *came, size_t rows, int vocabulary, uint8_t *places);

#endif
