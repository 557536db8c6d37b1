/*
 * What AVX2 and AVX-512 have in common of the primitives of quant_codec_vector.h.  A file defines
 *
 *   WIDTH                  lanes of a register
 *   REGISTER(_kind)        its type: __m256i or __m512i for kind i
 *   NAME(_name)            the name of an instruction for it
 *   LOAD_BYTES(_from), LOAD_SHORTS(_from)    as many as it has lanes
 *   IN_ORDER(_bytes)       groups of four bytes that two packings have left transposed, as the pack
 *                          instructions work in parts of 128 bits
 *   SHORTS_IN_ORDER(_x)    groups of four shorts after one packing
 *
 * includes this one, and defines what is left: block_maxima, largest_lane, store_few_bytes, signs.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODEC_X86_H
#define QUANT_CODEC_X86_H

typedef float floats_t __attribute__((vector_size(4 * WIDTH)));
typedef uint32_t words_t __attribute__((vector_size(4 * WIDTH)));
typedef int32_t codes_t __attribute__((vector_size(4 * WIDTH)));

static inline codes_t nearest(floats_t x)
{
    return (codes_t) NAME(cvtps_epi32)((REGISTER()) x);
}

static inline words_t largest(words_t a, words_t b)
{
    return (words_t) NAME(max_epu32)((REGISTER(i)) a, (REGISTER(i)) b);
}

/* In each part of 128 bits: the largest of pairs of lanes of a, then of b. */
static inline words_t larger_pairs(words_t a, words_t b)
{
    return largest((words_t) NAME(unpacklo_epi64)((REGISTER(i)) a, (REGISTER(i)) b),
                   (words_t) NAME(unpackhi_epi64)((REGISTER(i)) a, (REGISTER(i)) b));
}

/* In each part of 128 bits: the larger one of two neighbours of a, then of b. */
static inline words_t larger_lanes(words_t a, words_t b)
{
    return largest(
        (words_t) NAME(shuffle_ps)((REGISTER()) a, (REGISTER()) b, _MM_SHUFFLE(2, 0, 2, 0)),
        (words_t) NAME(shuffle_ps)((REGISTER()) a, (REGISTER()) b, _MM_SHUFFLE(3, 1, 3, 1)));
}

static inline words_t four_maxima(const words_t most[4])
{
    return larger_lanes(larger_pairs(most[0], most[1]), larger_pairs(most[2], most[3]));
}

static inline words_t load_bytes(const uint8_t *from)
{
    return (words_t) NAME(cvtepu8_epi32)(LOAD_BYTES(from));
}

static inline codes_t load_signed_bytes(const uint8_t *from)
{
    return (codes_t) NAME(cvtepi8_epi32)(LOAD_BYTES(from));
}

static inline codes_t load_shorts(const uint8_t *from)
{
    return (codes_t) NAME(cvtepi16_epi32)(LOAD_SHORTS(from));
}

static inline void store_register(uint8_t *to, REGISTER(i) value)
{
    memcpy(to, &value, sizeof(value));
}

static inline void store_signed_bytes(const codes_t code[QUANT_LANES / WIDTH], uint8_t *to)
{
    QUANT_UNROLL
    for (unsigned v = 0; v < QUANT_LANES / WIDTH; v += 4) {
        REGISTER(i) low = NAME(packs_epi32)((REGISTER(i)) code[v], (REGISTER(i)) code[v + 1]);
        REGISTER(i) high = NAME(packs_epi32)((REGISTER(i)) code[v + 2], (REGISTER(i)) code[v + 3]);
        store_register(to + v * WIDTH, IN_ORDER(NAME(packs_epi16)(low, high)));
    }
}

/* Of fewer than four vectors. */
static inline void store_few_bytes(const words_t *code, unsigned vectors, uint8_t *to);

static inline void store_bytes(const words_t *code, unsigned vectors, uint8_t *to)
{
    if (vectors < 4) {
        store_few_bytes(code, vectors, to);
        return;
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < vectors; v += 4) {
        REGISTER(i) low = NAME(packus_epi32)((REGISTER(i)) code[v], (REGISTER(i)) code[v + 1]);
        REGISTER(i) high = NAME(packus_epi32)((REGISTER(i)) code[v + 2], (REGISTER(i)) code[v + 3]);
        store_register(to + v * WIDTH, IN_ORDER(NAME(packus_epi16)(low, high)));
    }
}

static inline void store_shorts(const codes_t code[QUANT_LANES / WIDTH], uint8_t *to)
{
    QUANT_UNROLL
    for (unsigned v = 0; v < QUANT_LANES / WIDTH; v += 2) {
        REGISTER(i) shorts = NAME(packs_epi32)((REGISTER(i)) code[v], (REGISTER(i)) code[v + 1]);
        store_register(to + v * WIDTH * sizeof(int16_t), SHORTS_IN_ORDER(shorts));
    }
}

#endif
