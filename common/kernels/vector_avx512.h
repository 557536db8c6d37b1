/*
 * The vectors of vector.h for AVX-512.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_VECTOR_AVX512_H
#define ARC_VECTOR_AVX512_H

#define WIDE_BYTES 64
#define WIDE_REGISTER(_kind) __m512##_kind
#define WIDE_NAME(_name) _mm512_##_name
#define WIDE_HALF_REGISTER __m256i
#define WIDE_JOIN(_a, _b) _mm512_inserti64x4(_mm512_castsi256_si512(_a), _b, 1)
#define WIDE_ODD(_even, _odd) _mm512_mask_mov_epi16(_even, 0xaaaaaaaa, _odd)
#define WIDE_WHERE_GREATER(_a, _b, _then, _else) \
    _mm512_mask_mov_epi16(_else, _mm512_cmpgt_epi16_mask(_a, _b), _then)
#define WIDE_WHERE_NAN(_x, _then, _else) \
    _mm512_mask_mov_ps(_else, _mm512_cmp_ps_mask(_x, _x, _CMP_UNORD_Q), _then)
/* By kind of number: the first operand where the last one is a NaN, else the last one itself. */
#define WIDE_ONE_NAN(_x)                                                      \
    _mm512_fixupimm_ps((__m512) _mm512_set1_epi32(0x7fc00000), (__m512) (_x), \
                       _mm512_set1_epi32(0x11111100), 0)
#define WIDE_UNZIP(_x) _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), _x)

#include "vector.h"

#endif
