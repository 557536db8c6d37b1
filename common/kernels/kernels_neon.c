/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "vector_neon.h"

#define ARC_REDUCE_TABLE arc_reduce_table_neon
#include "reduce_vector.h"

#define ARC_HALVES arc_halves_neon
#include "half_loops.h"
