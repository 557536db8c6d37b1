/*
 * AVX2 kernels: eight lanes per register, eight registers per row.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <immintrin.h>
#include <string.h>

#include "quant_codec.h"

#define WIDTH 8
#define REGISTER(_kind) __m256##_kind
#define NAME(_name) _mm256_##_name
#define LOAD_BYTES(_from) _mm_loadl_epi64((const __m128i *) (_from))
#define LOAD_SHORTS(_from) _mm_loadu_si128((const __m128i *) (_from))
#define IN_ORDER(_bytes) \
    _mm256_permutevar8x32_epi32(_bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
#define SHORTS_IN_ORDER(_x) _mm256_permute4x64_epi64(_x, _MM_SHUFFLE(3, 1, 2, 0))
#include "quant_codec_x86.h"

static inline uint32_t largest_lane(words_t a)
{
    __m128i half = _mm_max_epu32(_mm256_castsi256_si128((__m256i) a),
                                 _mm256_extracti128_si256((__m256i) a, 1));
    half = _mm_max_epu32(half, _mm_shuffle_epi32(half, _MM_SHUFFLE(1, 0, 3, 2)));
    half = _mm_max_epu32(half, _mm_shuffle_epi32(half, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t) _mm_cvtsi128_si32(half);
}

static inline words_t block_maxima(const words_t fours[2])
{
    const __m256i a = (__m256i) fours[0];
    const __m256i b = (__m256i) fours[1];

    return (words_t) _mm256_max_epu32(_mm256_permute2x128_si256(a, b, 0x20),
                                      _mm256_permute2x128_si256(a, b, 0x31));
}

/* No block is shorter than a register. */
static inline floats_t spread(const float *factor, size_t first, unsigned shift)
{
    return (floats_t) _mm256_set1_ps(factor[first >> shift]);
}

/* Of a quarter row, packed twice and kept once. */
static inline void store_few_bytes(const words_t *code, unsigned vectors, uint8_t *to)
{
    const __m256i low = _mm256_packus_epi32((__m256i) code[0], (__m256i) code[1]);

    (void) vectors; /* 2 */
    _mm_storeu_si128((__m128i *) to,
                     _mm256_castsi256_si128(IN_ORDER(_mm256_packus_epi16(low, low))));
}

static inline void store_signs(const codes_t *code, uint8_t *to)
{
    *to = (uint8_t) _mm256_movemask_ps((__m256) *code);
}

static inline codes_t load_signs(const uint8_t *from, unsigned first, int32_t number)
{
    (void) first; /* 0: a vector has whole bytes */
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i signs = _mm256_and_si256(_mm256_set1_epi32(*from), lane);

    return (codes_t) _mm256_and_si256(_mm256_cmpeq_epi32(signs, lane), _mm256_set1_epi32(number));
}

#include "quant_codec_vector.h"

const quant_kernels_t quant_kernels_avx2 = VECTOR_KERNELS;
