/*
 * Vectors of 16-bit floats and of floats.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_HALF_H
#define ARC_HALF_H

#include "element.h"

/* `type` is ARC_TYPE_BF16 or ARC_TYPE_FP16; `count` numbers each.  Exact. */
void arc_half_widen(arc_type_t type, const uint16_t *halves, float *floats, size_t count);

/* To nearest, ties to even; too large becomes infinite, a NaN the one of reduce_half.h. */
void arc_half_narrow(arc_type_t type, const float *floats, uint16_t *halves, size_t count);

#endif
