/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "half_loops.h"

const arc_halves_t arc_halves_avx512 = HALF_LOOPS;
