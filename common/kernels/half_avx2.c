/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "vector_avx2.h"

#define ARC_HALVES arc_halves_avx2
#include "half_loops.h"
