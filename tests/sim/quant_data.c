/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "quant_data.h"
#include "testlib.h"

enum { TENSOR_MIN = 256, TENSOR_MAX = 2048, ALIGNED = 64, DEGREES = 3 };

static const double small = 1e-3;
static const double outlier = 100;

/* The sizes of tensors, large and small in turn, the same on all ranks: marks the small ones. */
static void mark_small(test_random_t *random, size_t multiple, size_t count, bool *marked)
{
    const size_t sizes = (TENSOR_MAX - TENSOR_MIN) / multiple + 1;
    bool is_small = false;

    for (size_t i = 0; i < count; is_small = !is_small) {
        const size_t size = TENSOR_MIN + multiple * test_random_below(random, sizes);
        for (size_t end = i + size; i < end && i < count; ++i) {
            marked[i] = is_small;
        }
    }
}

static double student(test_random_t *random)
{
    double squares = 0;

    for (unsigned i = 0; i < DEGREES; ++i) {
        const double normal = test_random_normal(random);
        squares += normal * normal;
    }
    return test_random_normal(random) / sqrt(squares / DEGREES);
}

void quant_data_fill(quant_data_t kind, float *const *inputs, unsigned ranks, size_t count,
                     uint64_t seed, bool *counted)
{
    const bool mixed = QUANT_DATA_mixed == kind || QUANT_DATA_unaligned == kind;
    test_random_t random = test_random_of(seed, 0);

    for (size_t i = 0; i < count; ++i) {
        counted[i] = true;
    }
    if (mixed) {
        mark_small(&random, QUANT_DATA_mixed == kind ? ALIGNED : 1, count, counted);
    }
    for (unsigned rank = 0; rank < ranks; ++rank) {
        for (size_t i = 0; i < count; ++i) {
            double value = test_random_normal(&random);
            if (mixed) {
                value *= counted[i] ? small : 1;
            } else if (QUANT_DATA_outliers == kind || QUANT_DATA_others == kind) {
                const bool large = 0 == test_random_below(&random, 1000);
                value *= large ? outlier : 1;
                counted[i] = counted[i] && !(large && QUANT_DATA_others == kind);
            } else if (QUANT_DATA_sparse == kind) {
                value = 0 == test_random_below(&random, 20) ? value : 0;
            } else if (QUANT_DATA_tails == kind) {
                value = student(&random);
            }
            inputs[rank][i] = (float) value;
        }
    }
}

double quant_data_nmse(const quant_job_t *job, quant_data_t kind, uint64_t seed)
{
    SCOPED bool *counted = test_alloc(job->count * sizeof(bool));
    SCOPED float *result = test_alloc(job->count * sizeof(float));
    SCOPED double *sum = test_alloc(job->count * sizeof(double));
    double errors = 0;
    double squares = 0;

    quant_data_fill(kind, job->inputs, job->ranks, job->count, seed, counted);
    const quant_outcome_t outcome = quant_job_run(job, 1, result);
    quant_oracle_exact(job, sum);
    for (size_t i = 0; i < job->count; ++i) {
        const double error = (double) result[i] - sum[i];
        errors += counted[i] ? error * error : 0;
        squares += counted[i] ? sum[i] * sum[i] : 0;
    }
    return quant_outcome_is_clean(&outcome) ? errors / squares : -1;
}
