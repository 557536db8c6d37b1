/*
 * Seconds that were measured.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_SECONDS_H
#define ARC_TESTS_SECONDS_H

#include <stdlib.h>
#include <time.h>

static inline double seconds_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static inline int seconds_compare(const void *left, const void *right)
{
    const double a = *(const double *) left;
    const double b = *(const double *) right;

    return (a > b) - (a < b);
}

/* Of these, or of any other numbers; they are in order then. */
static inline double seconds_median(double *seconds, size_t count)
{
    qsort(seconds, count, sizeof *seconds, seconds_compare);
    return (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
}

#endif
