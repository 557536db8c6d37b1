/*
 * How far a sum is from the exact one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_MEASURE_H
#define QUANT_MEASURE_H

#include <stddef.h>

typedef struct quant_measure {
    double mse;   /* mean square of the error */
    double nmse;  /* that over the mean square of the exact result */
    double error; /* the largest magnitude of an error */
} quant_measure_t;

/*
 * Of `count` elements, at least 1; no field of the result is NaN.  Where both are NaN, or the same
 * infinity, there is no error, and the element does not count for the mean square of the exact
 * result; where only one is not finite, the error is infinite.  An error where all is zero is
 * infinitely large in relation.
 */
quant_measure_t quant_measure(const float *result, const float *exact, size_t count);
quant_measure_t quant_measure_doubles(const double *result, const double *exact, size_t count);

#endif
