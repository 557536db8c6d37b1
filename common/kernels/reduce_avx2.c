/*
 * The kernels of reduce_vector.h for AVX2 and F16C; compiled with AVX2_CFLAGS, entered after a
 * CPU check.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#define ARC_REDUCE_TABLE arc_reduce_table_avx2
#define WIDE_BYTES 32
#define WIDE_REGISTER(_kind) __m256##_kind
#define WIDE_NAME(_name) _mm256_##_name
#define HALVES_REGISTER __m128i
#define NARROW_INTEGERS(_x) narrow_integers((__m256i) (_x))
#include <immintrin.h>

/* The instruction packs each half of the register: quarters 0 and 2 have the result. */
static inline __m128i narrow_integers(__m256i x)
{
    const __m256i packed = _mm256_packus_epi32(x, _mm256_setzero_si256());
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}

#include "reduce_vector.h"
