/*
 * The kernels of an instruction set: one for each operation and type.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_REDUCE_TABLE_H
#define ARC_REDUCE_TABLE_H

#include "element.h"

/* A NULL entry: the kernel is that of `lower`, or if that is NULL there is none, because the
 * operation is not defined for the type (bit operations on floats). */
typedef struct arc_reduce_table {
    arc_reduce_fn_t reduce[ARC_OPS][ARC_TYPES];
    const struct arc_reduce_table *lower;
} arc_reduce_table_t;

extern const arc_reduce_table_t arc_reduce_table_scalar;
extern const arc_reduce_table_t arc_reduce_table_neon;
extern const arc_reduce_table_t arc_reduce_table_avx2;
extern const arc_reduce_table_t arc_reduce_table_avx512;
extern const arc_reduce_table_t arc_reduce_table_avx512_bf16;

#endif
