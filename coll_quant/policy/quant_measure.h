/*
 * How far a result is from the exact one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_MEASURE_H
#define QUANT_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct quant_measure {
    double nmse;  /* mean square of the error over that of the exact result */
    double error; /* the largest magnitude of an error */
} quant_measure_t;

/*
 * Of `count` elements, floats or doubles.  Where both are NaN, or the same infinity, there is no
 * error, and the element does not count for the squares of the exact result; where only one is not
 * finite, the error is infinite.  In relation to a result that is all zeros any error is infinite,
 * and no error is 0. Neither number is negative or NaN.
 */
quant_measure_t quant_measure(const void *result, const void *exact, bool are_doubles,
                              size_t count);

/* Each number by itself: *largest is at least `other`. */
void quant_measure_raise(quant_measure_t *largest, const quant_measure_t *other);

#endif
