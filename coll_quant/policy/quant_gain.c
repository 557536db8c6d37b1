/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_gain.h"

void quant_gain_merge(quant_gain_t *gain, const quant_gain_t *other)
{
    gain->gains = (gain->gains & ~other->decided) | other->gains;
    gain->decided |= other->decided;
}

void quant_gain_decide(quant_gain_t *gain, unsigned class, bool yes)
{
    const uint32_t bit = (uint32_t) 1 << class;

    gain->decided |= bit;
    gain->gains = yes ? gain->gains | bit : gain->gains & ~bit;
}
