/*
 * AVX-512 kernels (F, BW, DQ, VL): sixteen lanes per register, four registers
 * per row, one 64-byte store per coded row.
 *
 * Bit for bit the scalar kernels: same divisions, same products, same order of
 * operations; see there for what is computed and why it is exact.
 *
 * Packing 64 lanes to bytes: the pack instructions work in the four 128-bit
 * quarters, so groups of four bytes come out transposed; one permutation of
 * 32-bit groups transposes them back.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <immintrin.h>

#include "quant_codec.h"

enum { WIDTH = 16, VECTORS = QUANT_LANES / WIDTH };

static void lane_absmax(const float *x, size_t rows, uint32_t absmax[QUANT_LANES])
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i largest[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        largest[v] = _mm512_loadu_si512(absmax + v * WIDTH);
    }
    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            __m512i bits = _mm512_loadu_si512(x + v * WIDTH);
            largest[v] = _mm512_max_epu32(largest[v], _mm512_and_si512(bits, magnitude));
        }
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        _mm512_storeu_si512(absmax + v * WIDTH, largest[v]);
    }
}

static bool int8_scales(const uint32_t absmax[QUANT_LANES], uint16_t scale[QUANT_LANES],
                        float inverse[QUANT_LANES])
{
    const __m512i limit = _mm512_set1_epi32(0x7f000000);
    const __m512 code_max = _mm512_set1_ps(127.0f);
    const __m512 scale_min = _mm512_set1_ps(0x1p-118f);
    const __m512i half = _mm512_set1_epi32(0x7fff);
    const __m512i one = _mm512_set1_epi32(1);
    __mmask16 refused = 0;

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        __m512i largest = _mm512_loadu_si512(absmax + v * WIDTH);
        refused |= _mm512_cmpge_epu32_mask(largest, limit);

        __m512 step = _mm512_div_ps(_mm512_castsi512_ps(largest), code_max);
        __m512i bits = _mm512_castps_si512(_mm512_max_ps(step, scale_min));
        __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
        __m512i upper = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, half), odd), 16);
        _mm256_storeu_si256((__m256i *) (scale + v * WIDTH), _mm512_cvtepi32_epi16(upper));

        __m512 rounded = _mm512_castsi512_ps(_mm512_slli_epi32(upper, 16));
        _mm512_storeu_ps(inverse + v * WIDTH, _mm512_div_ps(_mm512_set1_ps(1.0f), rounded));
    }
    return 0 == refused;
}

static void int8_encode(const float *x, size_t rows, const float inverse[QUANT_LANES],
                        int8_t *codes)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512 factor[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        factor[v] = _mm512_loadu_ps(inverse + v * WIDTH);
    }
    for (size_t row = 0; row < rows; ++row) {
        const float *in = x + row * QUANT_LANES;
        __m512i code[VECTORS];
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            __m512 quotient = _mm512_mul_ps(_mm512_loadu_ps(in + v * WIDTH), factor[v]);
            code[v] = _mm512_cvtps_epi32(quotient);
        }
        __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(code[0], code[1]),
                                           _mm512_packs_epi32(code[2], code[3]));
        _mm512_storeu_si512(codes + row * QUANT_LANES, _mm512_permutexvar_epi32(order, bytes));
    }
}

static void load_scales(const uint16_t scale[QUANT_LANES], __m512 factor[VECTORS])
{
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        __m256i upper = _mm256_loadu_si256((const __m256i *) (scale + v * WIDTH));
        factor[v] = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(upper), 16));
    }
}

static void int8_decode(const int8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                        float *out)
{
    __m512 factor[VECTORS];
    load_scales(scale, factor);

    for (size_t row = 0; row < rows; ++row) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            size_t i = row * QUANT_LANES + v * WIDTH;
            __m128i bytes = _mm_loadu_si128((const __m128i *) (codes + i));
            __m512 code = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
            _mm512_storeu_ps(out + i, _mm512_mul_ps(code, factor[v]));
        }
    }
}

static void int8_decode_add(const int8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                            const float *x, float *sum)
{
    __m512 factor[VECTORS];
    load_scales(scale, factor);

    for (size_t row = 0; row < rows; ++row) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            size_t i = row * QUANT_LANES + v * WIDTH;
            __m128i bytes = _mm_loadu_si128((const __m128i *) (codes + i));
            __m512 code = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
            __m512 decoded = _mm512_mul_ps(code, factor[v]);
            _mm512_storeu_ps(sum + i, _mm512_add_ps(decoded, _mm512_loadu_ps(x + i)));
        }
    }
}

static void add(const float *a, const float *b, size_t count, float *sum)
{
    size_t i = 0;

    for (; i + WIDTH <= count; i += WIDTH) {
        _mm512_storeu_ps(sum + i, _mm512_add_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i)));
    }
    for (; i < count; ++i) {
        sum[i] = a[i] + b[i];
    }
}

const quant_kernels_t quant_kernels_avx512 = {
    .absmax = lane_absmax,
    .int8_scales = int8_scales,
    .int8_encode = int8_encode,
    .int8_decode = int8_decode,
    .int8_decode_add = int8_decode_add,
    .add = add,
};
