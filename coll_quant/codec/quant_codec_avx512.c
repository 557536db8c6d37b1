/*
 * AVX-512 kernels (F, BW, DQ, VL): sixteen lanes per register, four registers
 * per row, one 64-byte store per row of bytes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <immintrin.h>
#include <string.h>

#include "quant_codec.h"

#define WIDTH 16
#define REGISTER(_kind) __m512##_kind
#define NAME(_name) _mm512_##_name
#define LOAD_BYTES(_from) _mm_loadu_si128((const __m128i *) (_from))
#define LOAD_SHORTS(_from) _mm256_loadu_si256((const __m256i *) (_from))
#define IN_ORDER(_bytes)      \
    _mm512_permutexvar_epi32( \
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), _bytes)
#define SHORTS_IN_ORDER(_x) _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), _x)
#define HAS_ARITHMETIC
#include "quant_codec_x86.h"

static inline uint32_t largest_lane(words_t a)
{
    return _mm512_reduce_max_epu32((__m512i) a);
}

/* The larger ones of two quarters of a, then of b. */
static inline words_t larger_quarters(words_t a, words_t b)
{
    return largest(
        (words_t) _mm512_shuffle_i64x2((__m512i) a, (__m512i) b, _MM_SHUFFLE(2, 0, 2, 0)),
        (words_t) _mm512_shuffle_i64x2((__m512i) a, (__m512i) b, _MM_SHUFFLE(3, 1, 3, 1)));
}

static inline words_t block_maxima(const words_t fours[4])
{
    return larger_quarters(larger_quarters(fours[0], fours[1]),
                           larger_quarters(fours[2], fours[3]));
}

/* Blocks are shorter than a register if they have 8 numbers. */
static inline floats_t spread(const float *factor, size_t first, unsigned shift)
{
    const float *from = factor + (first >> shift);

    return 3 == shift ? (floats_t) _mm512_mask_broadcastss_ps(_mm512_set1_ps(from[0]), 0xff00,
                                                              _mm_set_ss(from[1]))
                      : (floats_t) _mm512_set1_ps(from[0]);
}

/*
 * A product with the rounded inverse is off by at most two units in the last place; one step of
 * Newton's with the exact remainder rounds it correctly.  The tests compare all 2^23 mantissas.
 */
static inline floats_t quotient(floats_t a, float divisor)
{
    const __m512 by = _mm512_set1_ps(divisor);
    const __m512 inverse = _mm512_set1_ps(1.0f / divisor);
    __m512 product = _mm512_mul_ps((__m512) a, inverse);
    __m512 remainder = _mm512_fnmadd_ps(product, by, (__m512) a);

    return (floats_t) _mm512_fmadd_ps(remainder, inverse, product);
}

/* From 14 bits to 28 to more than the 32 in which an inverse of 8 bits can be near to a tie. */
static inline floats_t inverse_of(floats_t x)
{
    const __m512 one = _mm512_set1_ps(1.0f);
    __m512 inverse = _mm512_rcp14_ps((__m512) x);

    QUANT_UNROLL
    for (unsigned step = 0; step < 2; ++step) {
        __m512 error = _mm512_fnmadd_ps((__m512) x, inverse, one);
        inverse = _mm512_fmadd_ps(inverse, error, inverse);
    }
    return (floats_t) inverse;
}

static inline floats_t multiply_add(floats_t a, floats_t b, floats_t c)
{
    return (floats_t) _mm512_fmadd_ps((__m512) a, (__m512) b, (__m512) c);
}

static inline void store_few_bytes(const words_t *code, unsigned vectors, uint8_t *to)
{
    QUANT_UNROLL
    for (unsigned v = 0; v < vectors; ++v) {
        _mm_storeu_si128((__m128i *) (to + v * WIDTH), _mm512_cvtepi32_epi8((__m512i) code[v]));
    }
}

static inline void store_signs(const codes_t *code, uint8_t *to)
{
    const uint16_t signs = (uint16_t) _mm512_movepi32_mask((__m512i) *code);

    memcpy(to, &signs, sizeof(signs));
}

static inline codes_t load_signs(const uint8_t *from, unsigned first, int32_t number)
{
    (void) first; /* 0: a vector has whole bytes */
    uint16_t signs = 0;

    memcpy(&signs, from, sizeof(signs));
    return (codes_t) _mm512_maskz_set1_epi32(signs, number);
}

#include "quant_codec_vector.h"

const quant_kernels_t quant_kernels_avx512 = VECTOR_KERNELS;
