/*
 * Where quantizing gains time: what was decided, for classes of lengths (select.h).
 *
 * Pure.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_GAIN_H
#define QUANT_GAIN_H

#include <stdbool.h>
#include <stdint.h>

/* What was decided; bit k is about class k. */
typedef struct quant_gain {
    uint32_t decided;
    uint32_t gains; /* a part of `decided` */
} quant_gain_t;

/* For those who want nothing learned: everything is quantized. */
static inline quant_gain_t quant_gain_always(void)
{
    return (quant_gain_t){.decided = UINT32_MAX, .gains = UINT32_MAX};
}

static inline bool quant_gain_is_decided(const quant_gain_t *gain, unsigned class)
{
    return 0 != (gain->decided >> class & 1);
}

static inline bool quant_gain_at(const quant_gain_t *gain, unsigned class)
{
    return 0 != (gain->gains >> class & 1);
}

static inline void quant_gain_decide(quant_gain_t *gain, unsigned class, bool yes)
{
    const uint32_t bit = (uint32_t) 1 << class;

    gain->decided |= bit;
    gain->gains = yes ? gain->gains | bit : gain->gains & ~bit;
}

/* What `other` knows is known, and decided as there. */
static inline void quant_gain_merge(quant_gain_t *gain, const quant_gain_t *other)
{
    gain->gains = (gain->gains & ~other->decided) | other->gains;
    gain->decided |= other->decided;
}

#endif
