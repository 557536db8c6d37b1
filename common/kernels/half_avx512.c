/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "vector_avx512.h"

#define ARC_HALVES arc_halves_avx512
#include "half_loops.h"
