/*
 * out[i] = left[i] op right[i] for every type and operation of element.h.
 *
 * The scalar table is the specification.  The AVX2 and AVX-512 tables are the
 * same loops, compiled for another instruction set: element-wise arithmetic
 * without contraction gives the same bits however wide the vectors are.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_REDUCE_H
#define ARC_REDUCE_H

#include "cpu.h"
#include "element.h"

/* In all of them `out` may be `right`.  A NULL entry: the operation is not defined for the type
 * (bit operations on floats). */
typedef struct arc_reduce_table {
    arc_combine_fn_t combine[ARC_OPS][ARC_TYPES];
} arc_reduce_table_t;

/* The table for an instruction set; `isa` must come from arc_cpu_isa(). */
const arc_reduce_table_t *arc_reduce_table(arc_isa_t isa);

extern const arc_reduce_table_t arc_reduce_table_scalar;
extern const arc_reduce_table_t arc_reduce_table_avx2;
extern const arc_reduce_table_t arc_reduce_table_avx512;

#endif
