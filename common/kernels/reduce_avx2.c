/*
 * The loops of reduce_loops.h for AVX2; compiled with AVX2_CFLAGS, entered after a CPU check.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#define ARC_REDUCE_TABLE arc_reduce_table_avx2
#include "reduce_loops.h"
