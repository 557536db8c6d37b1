/*
 * The kernels of reduce_vector.h for AVX-512; compiled with AVX512_CFLAGS, entered after a CPU
 * check.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#define ARC_REDUCE_TABLE arc_reduce_table_avx512
#define WIDE_BYTES 64
#define WIDE_REGISTER(_kind) __m512##_kind
#define WIDE_NAME(_name) _mm512_##_name
#define HALVES_REGISTER __m256i
#define NARROW_INTEGERS(_x) _mm512_cvtepi32_epi16((__m512i) (_x))
#include "reduce_vector.h"
