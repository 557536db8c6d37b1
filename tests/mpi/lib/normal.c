/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "harness.h"
#include "normal.h"

/* Two normally distributed values from one draw (Box and Muller). */
void draw_normal_pair(int rank, size_t pair, float *first, float *second)
{
    const double two_pi = 6.283185307179586;
    const double unit = 1.0 / 4294967296.0;
    uint64_t bits = draw_bits(41, (unsigned) rank, pair);
    double radius = sqrt(-2.0 * log(((double) (bits >> 32) + 1.0) * unit));
    double angle = two_pi * unit * (double) (bits & UINT32_MAX);

    *first = (float) (radius * cos(angle));
    *second = (float) (radius * sin(angle));
}

void draw_normal(float *out, int rank, size_t elems)
{
    float unused;

    for (size_t i = 0; i < elems; i += 2) {
        draw_normal_pair(rank, i / 2, &out[i], i + 1 < elems ? &out[i + 1] : &unused);
    }
}

double normal_errors(const float *sum, size_t elems, int ranks, int share, int shares,
                     double *squares)
{
    double errors = 0;

    *squares = 0;
    for (size_t pair = (size_t) share; pair < elems / 2; pair += (size_t) shares) {
        double exact[2] = {0, 0};

        for (int rank = 0; rank < ranks; rank++) {
            float values[2];

            draw_normal_pair(rank, pair, &values[0], &values[1]);
            exact[0] += (double) values[0];
            exact[1] += (double) values[1];
        }
        for (size_t k = 0; k < 2; k++) {
            const double error = (double) sum[2 * pair + k] - exact[k];

            errors += error * error;
            *squares += exact[k] * exact[k];
        }
    }
    return errors;
}
