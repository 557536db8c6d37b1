/*
 * AVX2 kernels: eight lanes per register, eight registers per row.
 *
 * Bit for bit the scalar kernels: same divisions, same products, same order of
 * operations; see there for what is computed and why it is exact.
 *
 * Packing 32 lanes to bytes: the pack instructions work in the two 128-bit
 * halves, so groups of four bytes come out in the order 0 2 4 6 1 3 5 7; one
 * permutation of 32-bit groups puts them right.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <immintrin.h>

#include "quant_codec.h"

enum { WIDTH = 8, VECTORS = QUANT_LANES / WIDTH, PACKED = 4 * WIDTH };

static void lane_absmax(const float *x, size_t rows, uint32_t absmax[QUANT_LANES])
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i largest[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        largest[v] = _mm256_loadu_si256((const __m256i *) (absmax + v * WIDTH));
    }
    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            __m256i bits = _mm256_loadu_si256((const __m256i *) (x + v * WIDTH));
            largest[v] = _mm256_max_epu32(largest[v], _mm256_and_si256(bits, magnitude));
        }
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        _mm256_storeu_si256((__m256i *) (absmax + v * WIDTH), largest[v]);
    }
}

static bool int8_scales(const uint32_t absmax[QUANT_LANES], uint16_t scale[QUANT_LANES],
                        float inverse[QUANT_LANES])
{
    /* Magnitudes have no sign bit, so the signed comparison is right for them. */
    const __m256i codable = _mm256_set1_epi32(0x7effffff);
    const __m256 code_max = _mm256_set1_ps(127.0f);
    const __m256 scale_min = _mm256_set1_ps(0x1p-118f);
    const __m256i half = _mm256_set1_epi32(0x7fff);
    const __m256i one = _mm256_set1_epi32(1);
    __m256i refused = _mm256_setzero_si256();

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        __m256i largest = _mm256_loadu_si256((const __m256i *) (absmax + v * WIDTH));
        refused = _mm256_or_si256(refused, _mm256_cmpgt_epi32(largest, codable));

        __m256 step = _mm256_div_ps(_mm256_castsi256_ps(largest), code_max);
        __m256i bits = _mm256_castps_si256(_mm256_max_ps(step, scale_min));
        __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
        __m256i upper = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, half), odd), 16);
        __m128i packed =
            _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
        _mm_storeu_si128((__m128i *) (scale + v * WIDTH), packed);

        __m256 rounded = _mm256_castsi256_ps(_mm256_slli_epi32(upper, 16));
        _mm256_storeu_ps(inverse + v * WIDTH, _mm256_div_ps(_mm256_set1_ps(1.0f), rounded));
    }
    return _mm256_testz_si256(refused, refused);
}

static void int8_encode(const float *x, size_t rows, const float inverse[QUANT_LANES],
                        int8_t *codes)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);

    for (unsigned half = 0; half < QUANT_LANES; half += PACKED) {
        __m256 factor[4];
        QUANT_UNROLL
        for (unsigned v = 0; v < 4; ++v) {
            factor[v] = _mm256_loadu_ps(inverse + half + v * WIDTH);
        }
        for (size_t row = 0; row < rows; ++row) {
            const float *in = x + row * QUANT_LANES + half;
            __m256i code[4];
            QUANT_UNROLL
            for (unsigned v = 0; v < 4; ++v) {
                __m256 quotient = _mm256_mul_ps(_mm256_loadu_ps(in + v * WIDTH), factor[v]);
                code[v] = _mm256_cvtps_epi32(quotient);
            }
            __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(code[0], code[1]),
                                               _mm256_packs_epi32(code[2], code[3]));
            _mm256_storeu_si256((__m256i *) (codes + row * QUANT_LANES + half),
                                _mm256_permutevar8x32_epi32(bytes, order));
        }
    }
}

static void load_scales(const uint16_t scale[QUANT_LANES], __m256 factor[VECTORS])
{
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        __m128i upper = _mm_loadu_si128((const __m128i *) (scale + v * WIDTH));
        factor[v] = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(upper), 16));
    }
}

static void int8_decode(const int8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                        float *out)
{
    __m256 factor[VECTORS];
    load_scales(scale, factor);

    for (size_t row = 0; row < rows; ++row) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            size_t i = row * QUANT_LANES + v * WIDTH;
            __m128i bytes = _mm_loadl_epi64((const __m128i *) (codes + i));
            __m256 code = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
            _mm256_storeu_ps(out + i, _mm256_mul_ps(code, factor[v]));
        }
    }
}

static void int8_decode_add(const int8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                            const float *x, float *sum)
{
    __m256 factor[VECTORS];
    load_scales(scale, factor);

    for (size_t row = 0; row < rows; ++row) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            size_t i = row * QUANT_LANES + v * WIDTH;
            __m128i bytes = _mm_loadl_epi64((const __m128i *) (codes + i));
            __m256 code = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
            __m256 decoded = _mm256_mul_ps(code, factor[v]);
            _mm256_storeu_ps(sum + i, _mm256_add_ps(decoded, _mm256_loadu_ps(x + i)));
        }
    }
}

static void add(const float *a, const float *b, size_t count, float *sum)
{
    size_t i = 0;

    for (; i + WIDTH <= count; i += WIDTH) {
        _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i)));
    }
    for (; i < count; ++i) {
        sum[i] = a[i] + b[i];
    }
}

const quant_kernels_t quant_kernels_avx2 = {
    .absmax = lane_absmax,
    .int8_scales = int8_scales,
    .int8_encode = int8_encode,
    .int8_decode = int8_decode,
    .int8_decode_add = int8_decode_add,
    .add = add,
};
