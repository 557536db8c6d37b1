/*
 * The forward pass: what runs between the sums over the ranks.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "pass.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention.h"
#include "norm.h"

/* Zeros, which pass_free() frees; NULL without memory. */
static float *take(pass_t *pass, size_t count)
{
    float *floats = calloc(count, sizeof(float));

    if (NULL != floats) {
        pass->owned[pass->owned_count++] = floats;
    }
    return floats;
}

/* Buffers of a layer whose contents the next layer may overwrite. */
static bool take_activations(pass_t *pass, pass_layer_t *layer, bool keep)
{
    const size_t stream = pass->max_rows * (size_t) pass->model->shape.width;
    const size_t heads = pass->max_rows * (size_t) pass->model->local_width;
    const size_t hidden = pass->max_rows * (size_t) pass->model->local_hidden;

    layer->input = keep ? take(pass, stream) : pass->output;
    layer->middle = keep ? take(pass, stream) : pass->output;
    layer->normed_mix = take(pass, stream);
    layer->normed_mlp = take(pass, stream);
    layer->query = take(pass, heads);
    layer->mixed = take(pass, heads);
    layer->rectified = take(pass, hidden);
    layer->squared = take(pass, hidden);
    return NULL != layer->input && NULL != layer->middle && NULL != layer->normed_mix &&
           NULL != layer->normed_mlp && NULL != layer->query && NULL != layer->mixed &&
           NULL != layer->rectified && NULL != layer->squared;
}

static bool take_all(pass_t *pass, bool keep)
{
    const size_t stream = pass->max_rows * (size_t) pass->model->shape.width;
    const size_t kept = (size_t) pass->sequences * (size_t) pass->capacity;
    bool enough = true;

    pass->output = take(pass, stream);
    pass->normed_out = take(pass, stream);
    pass->partial = take(pass, stream);
    pass->scores = take(pass, (size_t) 2 * ATTENTION_BLOCK * (size_t) pass->capacity);
    for (int i = 0; i < pass->model->shape.layers && enough; i++) {
        pass_layer_t *layer = &pass->layers[i];
        if (0 == i || keep) {
            enough = take_activations(pass, layer, keep);
        } else {
            *layer = pass->layers[0];
        }
        layer->key = take(pass, kept * (size_t) pass->model->local_width);
        layer->value = take(pass, kept * (size_t) pass->model->local_width);
        enough = enough && NULL != layer->key && NULL != layer->value;
    }
    return enough && NULL != pass->output && NULL != pass->normed_out && NULL != pass->partial &&
           NULL != pass->scores;
}

int pass_new(pass_t *pass, const model_t *model, int sequences, int capacity, size_t max_rows,
             bool keep)
{
    memset(pass, 0, sizeof(*pass));
    pass->model = model;
    pass->sequences = sequences;
    pass->capacity = capacity;
    pass->max_rows = max_rows;
    if (!take_all(pass, keep)) {
        pass_free(pass);
        return -1;
    }
    return 0;
}

void pass_free(pass_t *pass)
{
    while (pass->owned_count > 0) {
        free(pass->owned[--pass->owned_count]);
    }
}

/* out = x matrix^T + beta out, rows x outputs; a row of out begins out_stride behind the last. */
static void multiply(const float *x, size_t rows, int inputs, const float *matrix, int outputs,
                     float beta, float *out, int out_stride)
{
    if (1 == rows) {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, outputs, inputs, 1, matrix, inputs, x, 1, beta,
                    out, 1);
        return;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int) rows, outputs, inputs, 1, x, inputs,
                matrix, inputs, beta, out, out_stride);
}

/* Keys or values of the new rows, behind those that each sequence has. */
static void append(const pass_t *pass, const float *normed, const float *matrix, float *kept,
                   int count)
{
    const int width = pass->model->shape.width;
    const int local_width = pass->model->local_width;
    const size_t stride = (size_t) pass->capacity * (size_t) local_width;
    float *first = kept + (size_t) pass->past * (size_t) local_width;

    if (1 == count) {
        multiply(normed, (size_t) pass->sequences, width, matrix, local_width, 0, first,
                 (int) stride);
        return;
    }
    for (int i = 0; i < pass->sequences; i++) {
        multiply(normed + (size_t) i * (size_t) count * (size_t) width, (size_t) count, width,
                 matrix, local_width, 0, first + (size_t) i * stride, local_width);
    }
}

static void attend(pass_t *pass, const pass_layer_t *layer, int count)
{
    const model_t *model = pass->model;
    const size_t local_width = (size_t) model->local_width;

    for (int sequence = 0; sequence < pass->sequences; sequence++) {
        const size_t rows = (size_t) sequence * (size_t) count * local_width;
        const size_t kept = (size_t) sequence * (size_t) pass->capacity * local_width;
        for (int i = 0; i < model->local_heads; i++) {
            const size_t column = (size_t) i * (size_t) model->head_width;
            const attention_head_t head = {
                .query = layer->query + rows + column,
                .key = layer->key + kept + column,
                .value = layer->value + kept + column,
                .stride = model->local_width,
                .width = model->head_width,
                .past = pass->past,
                .count = count,
                .slope = attention_slope(model->rank * model->local_heads + i, model->shape.heads)};
            attention_forward(&head, layer->mixed + rows + column, pass->scores);
        }
    }
}

static void sum_over_ranks(const pass_t *pass, float *x, size_t count)
{
    if (NULL != pass->sum) {
        pass->sum(pass->sum_context, x, count);
    }
}

/*
 * out = in + sum over the ranks of x matrix^T. in may be out. An MPI program has the residual in
 * the sum without any help of MPI: beta of sgemm adds it to the contribution, at no cost, and
 * MPI_IN_PLACE puts the sum where the stream is.
 */
static void add_product(const pass_t *pass, const float *in, const float *x, size_t rows,
                        int inputs, const float *matrix, float *out)
{
    const int width = pass->model->shape.width;
    const size_t count = rows * (size_t) width;

    if (PASS_RESIDUAL_APART == pass->residual) {
        multiply(x, rows, inputs, matrix, width, 0, pass->partial, width);
        sum_over_ranks(pass, pass->partial, count);
        for (size_t i = 0; i < count; i++) {
            out[i] = in[i] + pass->partial[i];
        }
        return;
    }
    const float beta = PASS_RESIDUAL_SHARED == pass->residual ? 1 / (float) pass->model->ranks
                       : 0 == pass->model->rank               ? 1
                                                              : 0;
    if (in != out) {
        memcpy(out, in, count * sizeof(float));
    }
    multiply(x, rows, inputs, matrix, width, beta, out, width);
    sum_over_ranks(pass, out, count);
}

static void square_of_relu(const pass_layer_t *layer, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float rectified = layer->rectified[i] > 0 ? layer->rectified[i] : 0;
        layer->rectified[i] = rectified;
        layer->squared[i] = rectified * rectified;
    }
}

/* One layer; `next` is where the stream goes on. */
static void layer_forward(pass_t *pass, const pass_layer_t *layer, const model_layer_t *weights,
                          int count, float *next)
{
    const model_t *model = pass->model;
    const int width = model->shape.width;
    const size_t rows = (size_t) pass->sequences * (size_t) count;

    norm_forward(layer->input, weights->norm_mix, rows, width, layer->normed_mix);
    multiply(layer->normed_mix, rows, width, weights->query, model->local_width, 0, layer->query,
             model->local_width);
    append(pass, layer->normed_mix, weights->key, layer->key, count);
    append(pass, layer->normed_mix, weights->value, layer->value, count);
    attend(pass, layer, count);
    add_product(pass, layer->input, layer->mixed, rows, model->local_width, weights->mix,
                layer->middle);
    norm_forward(layer->middle, weights->norm_mlp, rows, width, layer->normed_mlp);
    multiply(layer->normed_mlp, rows, width, weights->up, model->local_hidden, 0, layer->rectified,
             model->local_hidden);
    square_of_relu(layer, rows * (size_t) model->local_hidden);
    add_product(pass, layer->middle, layer->squared, rows, model->local_hidden, weights->down,
                next);
}

void pass_forward(pass_t *pass, const uint8_t *characters, int count)
{
    const model_t *model = pass->model;
    const size_t width = (size_t) model->shape.width;
    const size_t rows = (size_t) pass->sequences * (size_t) count;
    const int layers = model->shape.layers;

    for (size_t row = 0; row < rows; row++) {
        memcpy(pass->layers[0].input + row * width, model->embedding + characters[row] * width,
               width * sizeof(float));
    }
    for (int i = 0; i < layers; i++) {
        float *next = i + 1 < layers ? pass->layers[i + 1].input : pass->output;
        layer_forward(pass, &pass->layers[i], &model->layers[i], count, next);
    }
    pass->past += count;
}

void pass_logits(pass_t *pass, size_t first_row, size_t rows, float *logits)
{
    const model_t *model = pass->model;
    const size_t begin = first_row * (size_t) model->shape.width;

    norm_forward(pass->output + begin, model->norm_out, rows, model->shape.width,
                 pass->normed_out + begin);
    multiply(pass->normed_out + begin, rows, model->shape.width, model->logits,
             model->shape.vocabulary, 0, logits, model->shape.vocabulary);
}

double pass_loss(float *logits, const uint8_t *came, size_t rows, int vocabulary, uint8_t *places)
{
    double loss = 0;

    for (size_t row = 0; row < rows; row++) {
        float *of_row = logits + row * (size_t) vocabulary;
        int best = 0;
        uint8_t place = 0;
        double sum = 0;

        for (int i = 0; i < vocabulary; i++) {
            best = of_row[i] > of_row[best] ? i : best;
            place += of_row[i] > of_row[came[row]];
        }
        if (NULL != places) {
            places[row] = place;
        }
        const double largest = of_row[best];
        for (int i = 0; i < vocabulary; i++) {
            sum += exp(of_row[i] - largest);
        }
        loss += log(sum) + largest - of_row[came[row]];
        for (int i = 0; i < vocabulary; i++) {
            const double probability = exp(of_row[i] - largest) / sum;
            of_row[i] = (float) ((probability - (i == came[row])) / (double) rows);
        }
    }
    return loss;
}
