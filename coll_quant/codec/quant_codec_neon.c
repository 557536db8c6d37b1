/*
 * NEON kernels, for 64-bit Arm: four lanes per register, sixteen registers per row.
 *
 * Packing takes the even bytes of two registers, the lower halves of wider codes, in order.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <arm_neon.h>
#include <string.h>

#include "quant_codec.h"

#define WIDTH 4

typedef float32x4_t floats_t;
typedef uint32x4_t words_t;
typedef int32x4_t codes_t;

static inline codes_t nearest(floats_t x)
{
    return vcvtnq_s32_f32(x);
}

static inline words_t largest(words_t a, words_t b)
{
    return vmaxq_u32(a, b);
}

static inline uint32_t largest_lane(words_t a)
{
    return vmaxvq_u32(a);
}

static inline words_t four_maxima(const words_t most[4])
{
    return vpmaxq_u32(vpmaxq_u32(most[0], most[1]), vpmaxq_u32(most[2], most[3]));
}

static inline words_t block_maxima(const words_t fours[WIDTH / 4])
{
    return fours[0];
}

static inline floats_t spread(const float *factor, size_t first, unsigned shift)
{
    return vld1q_dup_f32(factor + (first >> shift));
}

static inline words_t load_bytes(const uint8_t *from)
{
    uint32_t bytes = 0;

    memcpy(&bytes, from, sizeof(bytes));
    return vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bytes))));
}

static inline codes_t load_signed_bytes(const uint8_t *from)
{
    return ((codes_t) load_bytes(from) << 24) >> 24;
}

static inline codes_t load_shorts(const uint8_t *from)
{
    return vmovl_s16((int16x4_t) vld1_u8(from));
}

static inline uint8x16_t even_shorts(words_t first, words_t second)
{
    return (uint8x16_t) vuzp1q_u16((uint16x8_t) first, (uint16x8_t) second);
}

static inline void store_bytes(const words_t *code, unsigned vectors, uint8_t *to)
{
    QUANT_UNROLL
    for (unsigned v = 0; v < vectors; v += 4) {
        vst1q_u8(to + v * WIDTH, vuzp1q_u8(even_shorts(code[v], code[v + 1]),
                                           even_shorts(code[v + 2], code[v + 3])));
    }
}

static inline void store_signed_bytes(const codes_t code[QUANT_LANES / WIDTH], uint8_t *to)
{
    store_bytes((const words_t *) code, QUANT_LANES / WIDTH, to);
}

static inline void store_shorts(const codes_t code[QUANT_LANES / WIDTH], uint8_t *to)
{
    QUANT_UNROLL
    for (unsigned v = 0; v < QUANT_LANES / WIDTH; v += 2) {
        vst1q_u8(to + v * WIDTH * sizeof(int16_t),
                 even_shorts((words_t) code[v], (words_t) code[v + 1]));
    }
}

/* Of two vectors, whose signs share a byte. */
static inline void store_signs(const codes_t code[2], uint8_t *to)
{
    const words_t first = {0, 1, 2, 3};

    *to = (uint8_t) vaddvq_u32(((words_t) code[0] >> 31 << first) |
                               ((words_t) code[1] >> 31 << first << 4));
}

static inline codes_t load_signs(const uint8_t *from, unsigned first, int32_t number)
{
    const words_t lane = (words_t){1, 2, 4, 8} << first;

    return (codes_t) ((*from & lane) == lane) & number;
}

#include "quant_codec_vector.h"

const quant_kernels_t quant_kernels_neon = VECTOR_KERNELS;
