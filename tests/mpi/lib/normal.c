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
