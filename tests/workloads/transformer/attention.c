/*
 * Attention by products of matrices, block of queries by block of queries.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "attention.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

float attention_slope(int head, int heads)
{
    return exp2f(-8.0f * (float) (head + 1) / (float) heads);
}

/*
 * exp(x) for x from -87 to 0, and exp(-87) below: 2^n times a polynomial of the rest, to 3e-7 of
 * the result. The C library's expf is as exact and is not vectorized.
 */
static inline float exp_below_zero(float x)
{
    const float log2_e = 1.44269504f;
    const float ln2_high = 0.693359375f;
    const float ln2_low = -2.12194440e-4f;
    const float to_integer = 12582912.0f; /* 1.5 * 2^23: added and taken off it rounds */
    const float from_bottom = x < -87.0f ? -87.0f : x;
    const float n = from_bottom * log2_e + to_integer - to_integer;
    const float r = from_bottom - n * ln2_high - n * ln2_low;
    const float series =
        1 +
        r * (1 + r * (0.5f + r * (0.166666666f + r * (4.16666667e-2f +
                                                      r * (8.3333333e-3f + r * 1.38888889e-3f)))));
    const int32_t bits = ((int32_t) n + 127) << 23;
    float power;

    memcpy(&power, &bits, sizeof(power));
    return series * power;
}

/* Softmax of the first `keys` scores, of a query at position keys - 1; the others become 0. */
static void softmax_row(float *scores, int keys, int row_keys, float scale, float slope)
{
    float largest = -INFINITY;
    float sum = 0;

#pragma omp simd reduction(max : largest)
    for (int key = 0; key < keys; key++) {
        const float score = scale * scores[key] - slope * (float) (keys - 1 - key);
        scores[key] = score;
        largest = score > largest ? score : largest;
    }
#pragma omp simd reduction(+ : sum)
    for (int key = 0; key < keys; key++) {
        scores[key] = exp_below_zero(scores[key] - largest);
        sum += scores[key];
    }
    const float share = 1 / sum;
#pragma omp simd
    for (int key = 0; key < keys; key++) {
        scores[key] *= share;
    }
    memset(scores + keys, 0, (size_t) (row_keys - keys) * sizeof(float));
}

static float scale_of(const attention_head_t *head)
{
    return 1 / sqrtf((float) head->width);
}

static int block_rows(const attention_head_t *head, int first)
{
    return head->count - first < ATTENTION_BLOCK ? head->count - first : ATTENTION_BLOCK;
}

/* How much each of the queries from `first` on looks at each of `keys` keys: rows x keys. */
static void block_probabilities(const attention_head_t *head, int first, int rows, int keys,
                                float *scores)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, keys, head->width, 1,
                head->query + (size_t) first * (size_t) head->stride, head->stride, head->key,
                head->stride, 0, scores, keys);
    for (int row = 0; row < rows; row++) {
        softmax_row(scores + (size_t) row * (size_t) keys, head->past + first + row + 1, keys,
                    scale_of(head), head->slope);
    }
}

void attention_forward(const attention_head_t *head, float *out, float *scores)
{
    for (int first = 0; first < head->count; first += ATTENTION_BLOCK) {
        const int rows = block_rows(head, first);
        const int keys = head->past + first + rows;
        block_probabilities(head, first, rows, keys, scores);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, head->width, keys, 1, scores,
                    keys, head->value, head->stride, 0,
                    out + (size_t) first * (size_t) head->stride, head->stride);
    }
}

/* The gradient of the scores from that of the probabilities, in place: p (g - sum of p g). */
static void softmax_backward(const float *probabilities, float *gradient, int rows, int keys,
                             float scale)
{
    for (int row = 0; row < rows; row++) {
        const float *p = probabilities + (size_t) row * (size_t) keys;
        float *g = gradient + (size_t) row * (size_t) keys;
        float mean = 0;

#pragma omp simd reduction(+ : mean)
        for (int key = 0; key < keys; key++) {
            mean += p[key] * g[key];
        }
#pragma omp simd
        for (int key = 0; key < keys; key++) {
            g[key] = scale * p[key] * (g[key] - mean);
        }
    }
}

void attention_backward(const attention_head_t *head, const float *out_gradient,
                        float *query_gradient, float *key_gradient, float *value_gradient,
                        float *scores)
{
    const int stride = head->stride;

    for (int first = 0; first < head->count; first += ATTENTION_BLOCK) {
        const int rows = block_rows(head, first);
        const int keys = head->past + first + rows;
        const size_t begin = (size_t) first * (size_t) stride;
        float *gradient = scores + (size_t) rows * (size_t) keys;

        block_probabilities(head, first, rows, keys, scores);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, keys, head->width, rows, 1, scores,
                    keys, out_gradient + begin, stride, 1, value_gradient, stride);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, keys, head->width, 1,
                    out_gradient + begin, stride, head->value, stride, 0, gradient, keys);
        softmax_backward(scores, gradient, rows, keys, scale_of(head));
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, head->width, keys, 1, gradient,
                    keys, head->key, stride, 0, query_gradient + begin, stride);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, keys, head->width, rows, 1, gradient,
                    keys, head->query + begin, stride, 1, key_gradient, stride);
    }
}
