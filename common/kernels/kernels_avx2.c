/*
 * All kernels for AVX2 and F16C; compiled with AVX2_CFLAGS, entered after a CPU check.  vector.h
 * says what is defined.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#define WIDE_BYTES 32
#define WIDE_REGISTER(_kind) __m256##_kind
#define WIDE_NAME(_name) _mm256_##_name
#define WIDE_HALF_REGISTER __m128i
#define WIDE_JOIN(_a, _b) _mm256_set_m128i(_b, _a)
#define WIDE_ODD(_even, _odd) _mm256_blend_epi16(_even, _odd, 0xaa)
#define WIDE_WHERE_GREATER(_a, _b, _then, _else) \
    _mm256_blendv_epi8(_else, _then, _mm256_cmpgt_epi16(_a, _b))
#define WIDE_WHERE_NAN(_x, _then, _else) \
    _mm256_blendv_ps(_else, _then, _mm256_cmp_ps(_x, _x, _CMP_UNORD_Q))
#define WIDE_UNZIP(_x) _mm256_permute4x64_epi64(_x, _MM_SHUFFLE(3, 1, 2, 0))
#define WIDE_STREAM(_to, _x) _mm256_stream_si256((__m256i *) (_to), _x)

#define ARC_REDUCE_TABLE arc_reduce_table_avx2
#define ARC_COPIER arc_copier_avx2
#include "kernels_vector.h"
#include "copy_stream.h"
