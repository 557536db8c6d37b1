/*
 * The kernels of reduce_vector.h for AVX2 and F16C; compiled with AVX2_CFLAGS, entered after a
 * CPU check.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "vector_avx2.h"

#define ARC_REDUCE_TABLE arc_reduce_table_avx2
#include "reduce_vector.h"
