/*
 * Vectors of 16-bit floats and of floats.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_HALF_H
#define ARC_HALF_H

#include "cpu.h"
#include "element.h"

/* Between `count` 16-bit floats, aligned as uint16_t is, and floats. */
typedef struct arc_half {
    /* Exact. */
    void (*widen)(const void *halves, float *floats, size_t count);

    /* To nearest, ties to even; too large becomes infinite, a NaN the one of reduce_half.h. */
    void (*narrow)(const float *floats, void *halves, size_t count);
} arc_half_t;

/*
 * `type` is ARC_TYPE_BF16 or ARC_TYPE_FP16; the same bits with every instruction set; `isa` must
 * come from arc_cpu_isa().
 */
arc_half_t arc_half_select(arc_type_t type, arc_isa_t isa);

#endif
