/*
 * The kernels of reduce_vector.h for AVX-512; compiled with AVX512_CFLAGS, entered after a CPU
 * check.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "vector_avx512.h"

#define ARC_REDUCE_TABLE arc_reduce_table_avx512
#include "reduce_vector.h"
