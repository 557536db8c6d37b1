/*
 * The backward pass of a whole model: the chain rule, last product first.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <cblas.h>
#include <string.h>

#include "attention.h"
#include "norm.h"
#include "pass.h"

/* Parts of the scratch memory, each rows x width but the last. */
typedef struct scratch {
    float *stream; /* gradient of the residual stream */
    float *normed;
    float *mixed;
    float *query;
    float *key;
    float *value;
    float *hidden; /* rows x hidden */
} scratch_t;

size_t pass_backward_floats(const pass_t *pass)
{
    const size_t width = (size_t) pass->model->shape.width;

    return pass->max_rows * (6 * width + (size_t) pass->model->shape.hidden);
}

static scratch_t cut(const pass_t *pass, float *floats)
{
    const size_t stream = pass->max_rows * (size_t) pass->model->shape.width;

    return (scratch_t){floats,
                       floats + stream,
                       floats + 2 * stream,
                       floats + 3 * stream,
                       floats + 4 * stream,
                       floats + 5 * stream,
                       floats + 6 * stream};
}

/*
 * Of y = x matrix^T: the gradient of the matrix is added to, that of x is beta times what it was
 * and what this product adds. y: rows x outputs, x: rows x inputs.
 */
static void multiply_backward(const float *y_gradient, const float *x, size_t rows, int inputs,
                              const float *matrix, int outputs, float *matrix_gradient, float beta,
                              float *x_gradient)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, outputs, inputs, (int) rows, 1, y_gradient,
                outputs, x, inputs, 1, matrix_gradient, inputs);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int) rows, inputs, outputs, 1,
                y_gradient, outputs, matrix, inputs, beta, x_gradient, inputs);
}

static void mlp_backward(const pass_layer_t *layer, const model_layer_t *weights,
                         const model_shape_t *shape, size_t rows, const scratch_t *scratch,
                         const model_layer_t *gradient)
{
    multiply_backward(scratch->stream, layer->squared, rows, shape->hidden, weights->down,
                      shape->width, gradient->down, 0, scratch->hidden);
    for (size_t i = 0; i < rows * (size_t) shape->hidden; i++) {
        scratch->hidden[i] *= 2 * layer->rectified[i];
    }
    multiply_backward(scratch->hidden, layer->normed_mlp, rows, shape->width, weights->up,
                      shape->hidden, gradient->up, 0, scratch->normed);
    norm_backward(layer->middle, weights->norm_mlp, scratch->normed, rows, shape->width,
                  scratch->stream, gradient->norm_mlp);
}

static void heads_backward(const pass_t *pass, const pass_layer_t *layer, const scratch_t *scratch)
{
    const model_t *model = pass->model;
    const size_t length = (size_t) pass->capacity * (size_t) model->shape.width;

    memset(scratch->key, 0, (size_t) pass->sequences * length * sizeof(float));
    memset(scratch->value, 0, (size_t) pass->sequences * length * sizeof(float));
    for (int i = 0; i < pass->sequences * model->shape.heads; i++) {
        const int number = i % model->shape.heads;
        const size_t begin = (size_t) (i / model->shape.heads) * length +
                             (size_t) number * (size_t) model->head_width;
        const attention_head_t head = {.query = layer->query + begin,
                                       .key = layer->key + begin,
                                       .value = layer->value + begin,
                                       .stride = model->shape.width,
                                       .width = model->head_width,
                                       .past = 0,
                                       .count = pass->capacity,
                                       .slope = attention_slope(number, model->shape.heads)};
        attention_backward(&head, scratch->mixed + begin, scratch->query + begin,
                           scratch->key + begin, scratch->value + begin, pass->scores);
    }
}

static void attention_part_backward(const pass_t *pass, const pass_layer_t *layer,
                                    const model_layer_t *weights, size_t rows,
                                    const scratch_t *scratch, const model_layer_t *gradient)
{
    const int width = pass->model->shape.width;

    multiply_backward(scratch->stream, layer->mixed, rows, width, weights->mix, width,
                      gradient->mix, 0, scratch->mixed);
    heads_backward(pass, layer, scratch);
    multiply_backward(scratch->query, layer->normed_mix, rows, width, weights->query, width,
                      gradient->query, 0, scratch->normed);
    multiply_backward(scratch->key, layer->normed_mix, rows, width, weights->key, width,
                      gradient->key, 1, scratch->normed);
    multiply_backward(scratch->value, layer->normed_mix, rows, width, weights->value, width,
                      gradient->value, 1, scratch->normed);
    norm_backward(layer->input, weights->norm_mix, scratch->normed, rows, width, scratch->stream,
                  gradient->norm_mix);
}

void pass_backward(pass_t *pass, const uint8_t *characters, const float *logits_gradient,
                   model_t *gradient, float *scratch_floats)
{
    const model_t *model = pass->model;
    const model_shape_t *shape = &model->shape;
    const size_t width = (size_t) shape->width;
    const size_t rows = (size_t) pass->sequences * (size_t) pass->capacity;
    const scratch_t scratch = cut(pass, scratch_floats);

    multiply_backward(logits_gradient, pass->normed_out, rows, shape->width, model->logits,
                      shape->vocabulary, gradient->logits, 0, scratch.normed);
    memset(scratch.stream, 0, rows * width * sizeof(float));
    norm_backward(pass->output, model->norm_out, scratch.normed, rows, shape->width, scratch.stream,
                  gradient->norm_out);
    for (int i = shape->layers - 1; i >= 0; i--) {
        mlp_backward(&pass->layers[i], &model->layers[i], shape, rows, &scratch,
                     &gradient->layers[i]);
        attention_part_backward(pass, &pass->layers[i], &model->layers[i], rows, &scratch,
                                &gradient->layers[i]);
    }
    for (size_t row = 0; row < rows; row++) {
        float *of_character = gradient->embedding + characters[row] * width;
        for (size_t i = 0; i < width; i++) {
            of_character[i] += scratch.stream[row * width + i];
        }
    }
}
