/*
 * AVX-512 kernels (F, BW, DQ, VL): sixteen lanes per register, four registers
 * per row, one 64-byte store per row of bytes.
 *
 * Packing 64 lanes to bytes: the pack instructions work in the four 128-bit
 * quarters, so groups of four bytes come out transposed; one permutation of
 * 32-bit groups transposes them back.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "quant_codec.h"

enum { WIDTH = 16, VECTORS = QUANT_LANES / WIDTH };

typedef float floats_t __attribute__((vector_size(64)));
typedef uint32_t words_t __attribute__((vector_size(64)));
typedef int32_t codes_t __attribute__((vector_size(64)));

static inline floats_t load_floats(const float *from)
{
    return (floats_t) _mm512_loadu_ps(from);
}

static inline void store_floats(float *to, floats_t value)
{
    _mm512_storeu_ps(to, (__m512) value);
}

static inline words_t load_words(const void *from)
{
    return (words_t) _mm512_loadu_si512(from);
}

static inline void store_words(void *to, words_t value)
{
    _mm512_storeu_si512(to, (__m512i) value);
}

static inline codes_t nearest(floats_t x)
{
    return (codes_t) _mm512_cvtps_epi32((__m512) x);
}

static inline floats_t multiply_add(floats_t a, floats_t b, floats_t c)
{
    return (floats_t) _mm512_fmadd_ps((__m512) a, (__m512) b, (__m512) c);
}

static inline words_t largest(words_t a, words_t b)
{
    return (words_t) _mm512_max_epu32((__m512i) a, (__m512i) b);
}

static inline uint32_t largest_lane(words_t a)
{
    return _mm512_reduce_max_epu32((__m512i) a);
}

/* In each 128-bit quarter: the largest of pairs of lanes of a, then of b. */
static inline __m512i larger_pairs(__m512i a, __m512i b)
{
    enum { ODD = 0xaa, PAIR_BYTES = 8 };

    return _mm512_max_epu32(_mm512_mask_blend_epi64(ODD, a, b),
                            _mm512_alignr_epi8(b, a, PAIR_BYTES));
}

/* In each quarter: the larger one of two neighbours of a, then of b. */
static inline __m512i larger_lanes(__m512i a, __m512i b)
{
    const __m512 x = _mm512_castsi512_ps(a);
    const __m512 y = _mm512_castsi512_ps(b);

    return _mm512_max_epu32(_mm512_castps_si512(_mm512_shuffle_ps(x, y, _MM_SHUFFLE(2, 0, 2, 0))),
                            _mm512_castps_si512(_mm512_shuffle_ps(x, y, _MM_SHUFFLE(3, 1, 3, 1))));
}

/* The larger ones of two quarters of a, then of b. */
static inline __m512i larger_quarters(__m512i a, __m512i b)
{
    return _mm512_max_epu32(_mm512_shuffle_i64x2(a, b, _MM_SHUFFLE(2, 0, 2, 0)),
                            _mm512_shuffle_i64x2(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
}

static inline words_t four_maxima(const words_t most[4])
{
    return (words_t) larger_lanes(larger_pairs((__m512i) most[0], (__m512i) most[1]),
                                  larger_pairs((__m512i) most[2], (__m512i) most[3]));
}

static inline words_t block_maxima(const words_t fours[WIDTH / 4])
{
    return (words_t) larger_quarters(larger_quarters((__m512i) fours[0], (__m512i) fours[1]),
                                     larger_quarters((__m512i) fours[2], (__m512i) fours[3]));
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

static inline bool is_any(words_t bits)
{
    return 0 != _mm512_test_epi32_mask((__m512i) bits, (__m512i) bits);
}

static inline words_t load_bytes(const uint8_t *from)
{
    return (words_t) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *) from));
}

static inline codes_t load_signed_bytes(const uint8_t *from)
{
    return (codes_t) _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *) from));
}

static inline codes_t load_shorts(const void *from)
{
    return (codes_t) _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *) from));
}

static inline void store_in_order(__m512i bytes, uint8_t *to)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);

    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, bytes));
}

static inline void store_signed_bytes(const codes_t code[VECTORS], uint8_t *to)
{
    __m512i low = _mm512_packs_epi32((__m512i) code[0], (__m512i) code[1]);
    __m512i high = _mm512_packs_epi32((__m512i) code[2], (__m512i) code[3]);

    store_in_order(_mm512_packs_epi16(low, high), to);
}

static inline void store_bytes(const words_t *code, unsigned vectors, uint8_t *to)
{
    if (VECTORS == vectors) {
        __m512i low = _mm512_packus_epi32((__m512i) code[0], (__m512i) code[1]);
        __m512i high = _mm512_packus_epi32((__m512i) code[2], (__m512i) code[3]);
        store_in_order(_mm512_packus_epi16(low, high), to);
        return;
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < vectors; ++v) {
        _mm_storeu_si128((__m128i *) (to + v * WIDTH), _mm512_cvtepi32_epi8((__m512i) code[v]));
    }
}

static inline void store_shorts(const codes_t code[VECTORS], void *to)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; v += 2) {
        __m512i shorts = _mm512_packs_epi32((__m512i) code[v], (__m512i) code[v + 1]);
        _mm512_storeu_si512((uint8_t *) to + v * WIDTH * sizeof(int16_t),
                            _mm512_permutexvar_epi64(order, shorts));
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
