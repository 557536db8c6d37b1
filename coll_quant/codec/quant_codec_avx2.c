/*
 * AVX2 kernels: eight lanes per register, eight registers per row.
 *
 * Packing 32 lanes to bytes: the pack instructions work in the two 128-bit
 * halves, so groups of four bytes come out in the order 0 2 4 6 1 3 5 7; one
 * permutation of 32-bit groups puts them right.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "quant_codec.h"

enum { WIDTH = 8, VECTORS = QUANT_LANES / WIDTH };

typedef float floats_t __attribute__((vector_size(32)));
typedef uint32_t words_t __attribute__((vector_size(32)));
typedef int32_t codes_t __attribute__((vector_size(32)));

static inline floats_t load_floats(const float *from)
{
    return (floats_t) _mm256_loadu_ps(from);
}

static inline void store_floats(float *to, floats_t value)
{
    _mm256_storeu_ps(to, (__m256) value);
}

static inline words_t load_words(const void *from)
{
    return (words_t) _mm256_loadu_si256(from);
}

static inline void store_words(void *to, words_t value)
{
    _mm256_storeu_si256(to, (__m256i) value);
}

static inline codes_t nearest(floats_t x)
{
    return (codes_t) _mm256_cvtps_epi32((__m256) x);
}

static inline floats_t multiply_add(floats_t a, floats_t b, floats_t c)
{
    return a * b + c;
}

static inline words_t largest(words_t a, words_t b)
{
    return (words_t) _mm256_max_epu32((__m256i) a, (__m256i) b);
}

static inline uint32_t largest_lane(words_t a)
{
    __m128i half = _mm_max_epu32(_mm256_castsi256_si128((__m256i) a),
                                 _mm256_extracti128_si256((__m256i) a, 1));
    half = _mm_max_epu32(half, _mm_shuffle_epi32(half, _MM_SHUFFLE(1, 0, 3, 2)));
    half = _mm_max_epu32(half, _mm_shuffle_epi32(half, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t) _mm_cvtsi128_si32(half);
}

/* In each 128-bit half: the largest of pairs of lanes of a, then of b. */
static inline __m256i larger_pairs(__m256i a, __m256i b)
{
    return _mm256_max_epu32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

/* In each half: the larger one of two neighbours of a, then of b. */
static inline __m256i larger_lanes(__m256i a, __m256i b)
{
    const __m256 x = _mm256_castsi256_ps(a);
    const __m256 y = _mm256_castsi256_ps(b);

    return _mm256_max_epu32(_mm256_castps_si256(_mm256_shuffle_ps(x, y, _MM_SHUFFLE(2, 0, 2, 0))),
                            _mm256_castps_si256(_mm256_shuffle_ps(x, y, _MM_SHUFFLE(3, 1, 3, 1))));
}

static inline words_t four_maxima(const words_t most[4])
{
    return (words_t) larger_lanes(larger_pairs((__m256i) most[0], (__m256i) most[1]),
                                  larger_pairs((__m256i) most[2], (__m256i) most[3]));
}

static inline words_t block_maxima(const words_t fours[WIDTH / 4])
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

static inline floats_t quotient(floats_t a, float divisor)
{
    return a / divisor;
}

static inline floats_t inverse_of(floats_t x)
{
    return 1.0f / x;
}

static inline bool is_any(words_t bits)
{
    return !_mm256_testz_si256((__m256i) bits, (__m256i) bits);
}

static inline words_t load_bytes(const uint8_t *from)
{
    return (words_t) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *) from));
}

static inline codes_t load_signed_bytes(const uint8_t *from)
{
    return (codes_t) _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *) from));
}

static inline codes_t load_shorts(const void *from)
{
    return (codes_t) _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *) from));
}

static inline __m256i in_order(__m256i bytes)
{
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline void store_signed_bytes(const codes_t code[VECTORS], uint8_t *to)
{
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; v += 4) {
        __m256i low = _mm256_packs_epi32((__m256i) code[v], (__m256i) code[v + 1]);
        __m256i high = _mm256_packs_epi32((__m256i) code[v + 2], (__m256i) code[v + 3]);
        _mm256_storeu_si256((__m256i *) (to + v * WIDTH), in_order(_mm256_packs_epi16(low, high)));
    }
}

static inline void store_bytes(const words_t *code, unsigned vectors, uint8_t *to)
{
    QUANT_UNROLL
    for (unsigned v = 0; v < vectors; v += 4) {
        const unsigned second = vectors > 2 ? 2 : 0; /* of a quarter row: packed twice, kept once */
        __m256i low = _mm256_packus_epi32((__m256i) code[v], (__m256i) code[v + 1]);
        __m256i high =
            _mm256_packus_epi32((__m256i) code[v + second], (__m256i) code[v + second + 1]);
        __m256i bytes = in_order(_mm256_packus_epi16(low, high));
        if (vectors > 2) {
            _mm256_storeu_si256((__m256i *) (to + v * WIDTH), bytes);
        } else {
            /* 0 0 | 1 1 of each half became 0 1 | 0 1. */
            _mm_storeu_si128((__m128i *) to, _mm256_castsi256_si128(bytes));
        }
    }
}

static inline void store_shorts(const codes_t code[VECTORS], void *to)
{
    enum { EVEN_BEFORE_ODD = 0xd8 };

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; v += 2) {
        __m256i shorts = _mm256_packs_epi32((__m256i) code[v], (__m256i) code[v + 1]);
        _mm256_storeu_si256((__m256i *) ((uint8_t *) to + v * WIDTH * sizeof(int16_t)),
                            _mm256_permute4x64_epi64(shorts, EVEN_BEFORE_ODD));
    }
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
