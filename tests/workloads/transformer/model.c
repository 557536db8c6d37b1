/*
 * Weights: their order in memory, how they are drawn, split, saved and loaded.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

enum { MAX_WIDTH = 1 << 16 };

static const char magic[8] = "ARCTRF1"; /* and a zero */

/* What a file of weights begins with; the floats follow in the order of model_t. */
typedef struct file_head {
    char magic[sizeof(magic)];
    model_shape_t shape;
} file_head_t;

const char *model_shape_fault(const model_shape_t *shape, int ranks, char *text, size_t text_bytes)
{
    const int32_t sizes[] = {shape->vocabulary, shape->width, shape->layers, shape->heads,
                             shape->hidden};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] < 1 || sizes[i] > MAX_WIDTH) {
            snprintf(text, text_bytes, "sizes of a model are from 1 to %d, not %d", MAX_WIDTH,
                     (int) sizes[i]);
            return text;
        }
    }
    if (shape->layers > MODEL_MAX_LAYERS) {
        snprintf(text, text_bytes, "%d layers: at most %d", (int) shape->layers, MODEL_MAX_LAYERS);
    } else if (shape->width % shape->heads != 0) {
        snprintf(text, text_bytes, "%d heads do not divide a width of %d: change one of them",
                 (int) shape->heads, (int) shape->width);
    } else if (shape->heads % ranks != 0 || shape->hidden % ranks != 0) {
        snprintf(text, text_bytes,
                 "%d heads and %d hidden units cannot be split over %d ranks: use a number of "
                 "ranks that divides both",
                 (int) shape->heads, (int) shape->hidden, ranks);
    } else {
        return NULL;
    }
    return text;
}

/* Points every member into values, in order; returns how many floats that takes. */
static size_t place(model_t *model)
{
    const size_t width = (size_t) model->shape.width;
    const size_t square = width * (size_t) model->local_width;
    const size_t mlp = width * (size_t) model->local_hidden;
    float *next = model->values;
    size_t count = 0;
    struct {
        float **matrix;
        size_t count;
    } parts[3 + 8 * MODEL_MAX_LAYERS];
    size_t used = 0;

    parts[used].matrix = &model->embedding;
    parts[used++].count = (size_t) model->shape.vocabulary * width;
    for (int i = 0; i < model->shape.layers; i++) {
        model_layer_t *layer = &model->layers[i];
        float **matrices[] = {&layer->norm_mix, &layer->query,    &layer->key, &layer->value,
                              &layer->mix,      &layer->norm_mlp, &layer->up,  &layer->down};
        const size_t counts[] = {width, square, square, square, square, width, mlp, mlp};

        for (size_t j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
            parts[used].matrix = matrices[j];
            parts[used++].count = counts[j];
        }
    }
    parts[used].matrix = &model->norm_out;
    parts[used++].count = width;
    parts[used].matrix = &model->logits;
    parts[used++].count = (size_t) model->shape.vocabulary * width;
    for (size_t i = 0; i < used; i++) {
        if (NULL != next) {
            *parts[i].matrix = next + count;
        }
        count += parts[i].count;
    }
    return count;
}

int model_new(model_t *model, const model_shape_t *shape, int rank, int ranks)
{
    memset(model, 0, sizeof(*model));
    model->shape = *shape;
    model->rank = rank;
    model->ranks = ranks;
    model->head_width = shape->width / shape->heads;
    model->local_heads = shape->heads / ranks;
    model->local_width = shape->width / ranks;
    model->local_hidden = shape->hidden / ranks;
    model->count = place(model);
    model->values = calloc(model->count, sizeof(float));
    if (NULL == model->values) {
        return -1;
    }
    (void) place(model);
    return 0;
}

void model_free(model_t *model)
{
    free(model->values);
    model->values = NULL;
}

static void draw_matrix(float *matrix, size_t count, double deviation, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        const double radius = sqrt(-2 * log(draw_uniform(state)));
        matrix[i] = (float) (deviation * radius * cos(2 * M_PI * draw_uniform(state)));
    }
}

static void fill_ones(float *vector, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vector[i] = 1;
    }
}

void model_draw(model_t *whole, uint64_t seed)
{
    const size_t width = (size_t) whole->shape.width;
    const size_t hidden = (size_t) whole->shape.hidden;
    const size_t characters = (size_t) whole->shape.vocabulary * width;
    const double deviation = 1 / sqrt((double) width);
    /* As in GPT-2: the sum over all layers then starts with the scale of one. */
    const double into_stream = 1 / sqrt(2.0 * whole->shape.layers);
    uint64_t state = seed;

    draw_matrix(whole->embedding, characters, 1, &state);
    for (int i = 0; i < whole->shape.layers; i++) {
        model_layer_t *layer = &whole->layers[i];
        fill_ones(layer->norm_mix, width);
        draw_matrix(layer->query, width * width, deviation, &state);
        draw_matrix(layer->key, width * width, deviation, &state);
        draw_matrix(layer->value, width * width, deviation, &state);
        draw_matrix(layer->mix, width * width, deviation * into_stream, &state);
        fill_ones(layer->norm_mlp, width);
        draw_matrix(layer->up, width * hidden, deviation, &state);
        draw_matrix(layer->down, width * hidden, into_stream / sqrt((double) hidden), &state);
    }
    fill_ones(whole->norm_out, width);
    draw_matrix(whole->logits, characters, deviation, &state);
}

static void copy_rows(float *part, const float *whole, size_t rows, size_t columns, int rank)
{
    memcpy(part, whole + (size_t) rank * rows * columns, rows * columns * sizeof(float));
}

static void copy_columns(float *part, const float *whole, size_t rows, size_t columns, int rank,
                         int ranks)
{
    for (size_t row = 0; row < rows; row++) {
        memcpy(part + row * columns, whole + (row * (size_t) ranks + (size_t) rank) * columns,
               columns * sizeof(float));
    }
}

void model_split(const model_t *whole, model_t *part)
{
    const size_t width = (size_t) whole->shape.width;
    const size_t local_width = (size_t) part->local_width;
    const size_t local_hidden = (size_t) part->local_hidden;
    const size_t characters = (size_t) whole->shape.vocabulary * width;
    const int rank = part->rank;
    const int ranks = part->ranks;

    copy_rows(part->embedding, whole->embedding, 1, characters, 0);
    for (int i = 0; i < whole->shape.layers; i++) {
        const model_layer_t *from = &whole->layers[i];
        model_layer_t *to = &part->layers[i];
        copy_rows(to->norm_mix, from->norm_mix, 1, width, 0);
        copy_rows(to->query, from->query, local_width, width, rank);
        copy_rows(to->key, from->key, local_width, width, rank);
        copy_rows(to->value, from->value, local_width, width, rank);
        copy_columns(to->mix, from->mix, width, local_width, rank, ranks);
        copy_rows(to->norm_mlp, from->norm_mlp, 1, width, 0);
        copy_rows(to->up, from->up, local_hidden, width, rank);
        copy_columns(to->down, from->down, width, local_hidden, rank, ranks);
    }
    copy_rows(part->norm_out, whole->norm_out, 1, width, 0);
    copy_rows(part->logits, whole->logits, 1, characters, 0);
}

int model_save(const model_t *whole, const char *path)
{
    file_head_t head = {.shape = whole->shape};
    FILE *file = fopen(path, "wb");

    memcpy(head.magic, magic, sizeof(magic));
    if (NULL == file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    const int written = 1 == fwrite(&head, sizeof(head), 1, file) &&
                        whole->count == fwrite(whole->values, sizeof(float), whole->count, file);
    if (0 != fclose(file) || !written) {
        fprintf(stderr, "%s: could not be written\n", path);
        return -1;
    }
    return 0;
}

int model_load(model_t *whole, const char *path)
{
    char text[160];
    file_head_t head;
    int status = -1;
    FILE *file = fopen(path, "rb");

    if (NULL == file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    if (1 != fread(&head, sizeof(head), 1, file) || 0 != memcmp(head.magic, magic, sizeof(magic)) ||
        NULL != model_shape_fault(&head.shape, 1, text, sizeof(text))) {
        fprintf(stderr, "%s: not a model of transformer_train\n", path);
    } else if (0 != model_new(whole, &head.shape, 0, 1)) {
        fprintf(stderr, "%s: no memory for the model\n", path);
    } else if (whole->count != fread(whole->values, sizeof(float), whole->count, file)) {
        fprintf(stderr, "%s: ends too early; train the model again\n", path);
        model_free(whole);
    } else {
        status = 0;
    }
    fclose(file);
    return status;
}
