/*
 * Vectors that are not normally distributed, as programs have them: tensors of different magnitude
 * in one buffer, outliers, zeros, heavy tails.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_DATA_H
#define QUANT_DATA_H

#include "quant_job.h"

/* clang-format off */
/* X(name, what): the error is that of the numbers that `what` names. */
#define QUANT_DATA_TABLE(X) \
    X(normal, "standard normals, all") \
    X(mixed, "tensors of 256 to 2048 numbers, standard deviations 1 and 1e-3 in turn; the small ones") \
    X(unaligned, "the same, but tensors do not begin at multiples of 64; the small ones") \
    X(outliers, "one of 1000 normals 100 times as large, all") \
    X(others, "the same, those that are no outlier on any rank") \
    X(sparse, "95 % zeros, the rest normal, all") \
    X(tails, "Student's t with 3 degrees of freedom, all")
/* clang-format on */

typedef enum quant_data {
#define X(_name, ...) QUANT_DATA_##_name,
    QUANT_DATA_TABLE(X)
#undef X
        QUANT_DATA_KINDS
} quant_data_t;

/* Fills the vectors of all ranks; counted[i]: does the error of element i count? */
void quant_data_fill(quant_data_t kind, float *const *inputs, unsigned ranks, size_t count,
                     uint64_t seed, bool *counted);

/*
 * The mean square error of one call on such data, divided by the mean square of the exact sum, of
 * what counts.  Negative: the call failed.  The inputs of the job are overwritten.
 */
double quant_data_nmse(const quant_job_t *job, quant_data_t kind, uint64_t seed);

#endif
