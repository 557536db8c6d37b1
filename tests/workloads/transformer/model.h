/*
 * The weights of a decoder-only transformer, and their split over ranks as in Megatron-LM
 * (Shoeybi et al., section 3): each rank has whole heads of the attention and a part of the
 * hidden units of the MLP, so that a layer needs two sums over the ranks and nothing else.
 *
 * One array holds all weights, in the order of model_t, so that a gradient or a moment of Adam is
 * a model_t, too. Matrices are in rows, one for each output; W is what is applied as y = W x:
 *
 *     query, key, value   width/ranks x width      rows of this rank's heads
 *     mix                 width x width/ranks      columns of this rank's heads
 *     up                  hidden/ranks x width     rows of this rank's hidden units
 *     down                width x hidden/ranks     columns of this rank's hidden units
 *
 * Embedding, norms and the matrix that makes logits are whole on every rank: with 96 characters
 * they are small, and each rank then has all logits without a further message.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_MODEL_H
#define TRANSFORMER_MODEL_H

#include <stddef.h>
#include <stdint.h>

enum { MODEL_MAX_LAYERS = 16 };

typedef struct model_shape {
    int32_t vocabulary;
    int32_t width; /* of the residual stream; a multiple of heads */
    int32_t layers;
    int32_t heads;
    int32_t hidden; /* units of an MLP */
} model_shape_t;

typedef struct model_layer {
    float *norm_mix; /* width */
    float *query;
    float *key;
    float *value;
    float *mix;
    float *norm_mlp; /* width */
    float *up;
    float *down;
} model_layer_t;

typedef struct model {
    model_shape_t shape; /* of the whole model */
    int rank;
    int ranks;
    int local_heads;
    int local_width;
    int local_hidden;
    int head_width;
    float *embedding; /* vocabulary x width */
    model_layer_t layers[MODEL_MAX_LAYERS];
    float *norm_out; /* width */
    float *logits;   /* vocabulary x width */
    float *values;   /* all of the above */
    size_t count;    /* floats in values */
} model_t;

/* NULL, or why this shape cannot be split over so many ranks and what to change. */
const char *model_shape_fault(const model_shape_t *shape, int ranks, char *text, size_t text_bytes);

/* Zeros; 0, or -1 without memory. The shape has no fault. */
int model_new(model_t *model, const model_shape_t *shape, int rank, int ranks);
void model_free(model_t *model);

/* Normally distributed weights, norms of 1; equal for equal seeds. */
void model_draw(model_t *whole, uint64_t seed);

/* The part of whole that part->rank has. */
void model_split(const model_t *whole, model_t *part);

/* 0, or -1 with a line on standard error. Loading makes the model. */
int model_save(const model_t *whole, const char *path);
int model_load(model_t *whole, const char *path);

#endif
