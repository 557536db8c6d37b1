/*
 * Random numbers that are the same everywhere: splitmix64 (Steele, Lea, Flood 2014).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_DRAW_H
#define TRANSFORMER_DRAW_H

#include <stdint.h>

static inline uint64_t draw_bits(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15u;

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/* In (0, 1). */
static inline double draw_uniform(uint64_t *state)
{
    return ((double) (draw_bits(state) >> 12) + 0.5) / (double) (UINT64_C(1) << 52);
}

#endif
