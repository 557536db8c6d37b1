/*
 * How far a result is from the exact one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_MEASURE_H
#define QUANT_MEASURE_H

#include <stddef.h>

typedef struct quant_measure {
    double mse;        /* mean square of the error */
    double nmse;       /* that over the mean square of the exact result */
    double block_nmse; /* the same of a single block, the largest of any */
    double error;      /* the largest magnitude of an error */
} quant_measure_t;

/*
 * What it is made of, for results that lie in several places; none of it negative or NaN.  Squares
 * of very large and very small doubles are no doubles: those are of numbers divided by `unit`.
 */
typedef struct quant_errors {
    double errors;     /* the sum of their squares, in units */
    double squares;    /* of the exact result, their sum, in units */
    double block_nmse; /* the largest of any block */
    double largest;    /* magnitude of an error */
    double unit;       /* a power of two; 0: of no elements */
} quant_errors_t;

/*
 * Of `count` elements, in blocks of `block_elems` neighbours, at least 1; the last block may be
 * shorter.  Where both are NaN, or the same infinity, there is no error, and the element does not
 * count for the squares of the exact result; where only one is not finite, the error is infinite.
 * A mean over the vector hides what becomes of numbers that are far smaller than others; the
 * largest of the blocks does not.
 */
quant_errors_t quant_errors(const float *result, const float *exact, size_t count,
                            size_t block_elems);
quant_errors_t quant_errors_doubles(const double *result, const double *exact, size_t count,
                                    size_t block_elems);

/* *total += part. */
void quant_errors_add(quant_errors_t *total, const quant_errors_t *part);

/*
 * Of `count` elements in all, at least 1; no field of the result is NaN.  In relation to a result,
 * or to a block of it, that is all zeros, any error is infinite, and no error is 0.  mse is
 * infinite, or 0, where it is no double.
 */
quant_measure_t quant_measure_of(const quant_errors_t *errors, size_t count);

/* Each number by itself: *largest is at least `other`. */
void quant_measure_raise(quant_measure_t *largest, const quant_measure_t *other);

#endif
