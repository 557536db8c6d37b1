/*
 * The vector loops of the codecs, written once on the primitives of one
 * instruction set: included by quant_codec_<isa>.c, behind these definitions.
 * All functions are static: nothing leaks out of a file with its own flags.
 *
 *   WIDTH, VECTORS       lanes of a register; registers of a row: 64 / WIDTH
 *   floats_t, words_t    vectors of WIDTH floats and of WIDTH uint32_t
 *   codes_t              vector of WIDTH int32_t
 *   load_floats, store_floats, load_words, store_words        unaligned
 *   nearest              to int32_t, ties to even
 *   multiply_add         a * b + c where a * b is exact
 *   largest, largest_lane    of two words; of the lanes of one vector of them
 *   four_maxima          of four vectors of words, in each part of four lanes: its largest lane of
 *                        the first vector, the second, ...
 *   block_maxima         of WIDTH / 4 such: the largest lanes of all their vectors, in order
 *   spread               of factors of blocks, that of each of WIDTH numbers, from a multiple of
 *                        WIDTH on
 *   is_any               is there a bit set
 *   quotient             of floats and one of the divisors of the formats, correctly rounded
 *   inverse_of           of floats that are bf16, correctly rounded
 *   load_bytes, load_signed_bytes, load_shorts    WIDTH of them, extended to 32 bits
 *   store_signed_bytes   a row of codes in -128 .. 127
 *   store_bytes          words in 0 .. 255 of one, a half or a quarter row
 *   store_shorts         a row of codes in -32768 .. 32767
 *   store_signs          of a vector of codes, or of two that share a byte, a bit each
 *   load_signs           a number in the lanes whose bit is set, counted from `first` of the byte,
 *                        and 0 in the others
 *
 * Bit for bit the scalar kernels: same quotients, same products, same order of
 * operations; see there for what is computed and why it is exact.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODEC_VECTOR_H
#define QUANT_CODEC_VECTOR_H

#include "quant_codec_vector_codes.h"
#include "quant_codec_vector_peaks.h"

enum { LINE_FLOATS = 16 /* of a cache line */ };

/* What differs from format to format: constants, of which nothing is left in the loops. */
typedef struct code {
    unsigned bits;
    bool scaled;
    codes_t (*to)(floats_t x);
    floats_t (*from)(codes_t code);
} code_t;

/* Those of the numbers of row `row`. */
ALWAYS_INLINE void load_factors(code_t of, const float *factor, size_t row, unsigned shift,
                                floats_t to[VECTORS])
{
    const size_t first = row * QUANT_LANES;

    if (!of.scaled) {
        return;
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        to[v] = spread(factor, shift < QUANT_SHIFT_ROW ? first + v * WIDTH : first, shift);
    }
}

ALWAYS_INLINE void encode_rows(code_t of, const float *x, size_t rows, unsigned shift,
                               const float *factor, uint8_t *codes, const float *ahead)
{
    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES, codes += quant_row_bytes(of.bits)) {
        codes_t code[VECTORS];
        floats_t by[VECTORS];
        load_factors(of, factor, row, shift, by);
        QUANT_UNROLL
        for (unsigned lane = 0; lane < QUANT_LANES; lane += LINE_FLOATS) {
            __builtin_prefetch(ahead + row * QUANT_LANES + lane);
        }
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            floats_t value = load_floats(x + v * WIDTH);
            code[v] = of.to(of.scaled ? value * by[v] : value);
        }
        pack_row(code, of.bits, codes);
    }
}

ALWAYS_INLINE void decode_rows(code_t of, const uint8_t *codes, size_t rows, unsigned shift,
                               const float *factor, float *out)
{
    for (size_t row = 0; row < rows; ++row, out += QUANT_LANES, codes += quant_row_bytes(of.bits)) {
        floats_t by[VECTORS];
        load_factors(of, factor, row, shift, by);
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            floats_t value = of.from(unpack_codes(codes, of.bits, v));
            store_floats(out + v * WIDTH, of.scaled ? value * by[v] : value);
        }
    }
}

/* A row of sums. */
ALWAYS_INLINE void decode_add_row(code_t of, const uint8_t *codes, size_t row, unsigned shift,
                                  const float *factor, const float *x, float *sum,
                                  floats_t total[VECTORS])
{
    const size_t at = row * QUANT_LANES;
    floats_t by[VECTORS];

    codes += row * quant_row_bytes(of.bits);
    load_factors(of, factor, row, shift, by);
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        floats_t value = of.from(unpack_codes(codes, of.bits, v));
        floats_t own = load_floats(x + at + v * WIDTH);
        total[v] = of.scaled ? multiply_add(value, by[v], own) : value + own;
        store_floats(sum + at + v * WIDTH, total[v]);
    }
}

ALWAYS_INLINE void decode_add_rows(code_t of, const uint8_t *codes, size_t rows, unsigned shift,
                                   const float *factor, const float *x, float *sum,
                                   uint32_t absmax[QUANT_BLOCKS])
{
    size_t row = 0;
    floats_t total[VECTORS];
    peaks_t peaks;

    peaks.absmax = absmax;
    while (QUANT_SHIFT_ROW == shift && row + GROUP <= rows) {
        words_t fours[FOURS];
        QUANT_UNROLL
        for (unsigned four = 0; four < FOURS; ++four) {
            words_t most[FOUR];
            QUANT_UNROLL
            for (unsigned i = 0; i < FOUR; ++i, ++row) {
                decode_add_row(of, codes, row, shift, factor, x, sum, total);
                most[i] = row_peaks(total);
            }
            fours[four] = four_maxima(most);
        }
        raise_group(absmax + row - GROUP, fours);
    }
    for (; row < rows; ++row) {
        decode_add_row(of, codes, row, shift, factor, x, sum, total);
        raise_peaks(&peaks, total, row, shift);
    }
    store_peaks(&peaks, rows, shift);
}

/* The loops of one format. */
#define DEFINE_CODE(_name, _id, _bits, _kind, _scaled, ...)                                      \
    static const code_t code_##_name = {_bits, _scaled, to_##_kind, from_##_kind};               \
    static void encode_##_name(const float *x, size_t rows, unsigned shift, const float *factor, \
                               uint8_t *codes, const float *ahead)                               \
    {                                                                                            \
        if (QUANT_SHIFT_ROW == shift) {                                                          \
            encode_rows(code_##_name, x, rows, QUANT_SHIFT_ROW, factor, codes, ahead);           \
        } else {                                                                                 \
            encode_rows(code_##_name, x, rows, shift, factor, codes, ahead);                     \
        }                                                                                        \
    }                                                                                            \
    static void decode_##_name(const uint8_t *codes, size_t rows, unsigned shift,                \
                               const float *factor, float *out)                                  \
    {                                                                                            \
        if (QUANT_SHIFT_ROW == shift) {                                                          \
            decode_rows(code_##_name, codes, rows, QUANT_SHIFT_ROW, factor, out);                \
        } else {                                                                                 \
            decode_rows(code_##_name, codes, rows, shift, factor, out);                          \
        }                                                                                        \
    }                                                                                            \
    static void decode_add_##_name(const uint8_t *codes, size_t rows, unsigned shift,            \
                                   const float *factor, const float *x, float *sum,              \
                                   uint32_t absmax[QUANT_BLOCKS])                                \
    {                                                                                            \
        if (QUANT_SHIFT_ROW == shift) {                                                          \
            decode_add_rows(code_##_name, codes, rows, QUANT_SHIFT_ROW, factor, x, sum, absmax); \
        } else {                                                                                 \
            decode_add_rows(code_##_name, codes, rows, shift, factor, x, sum, absmax);           \
        }                                                                                        \
    }
QUANT_FORMAT_TABLE(DEFINE_CODE)

/* clang-format off */
#define CODE_ROW(_name, ...) {encode_##_name, decode_##_name, decode_add_##_name},
#define VECTOR_KERNELS \
    { .absmax = block_absmax, .peak = peak, .scales = scales, \
      .code = {QUANT_FORMAT_TABLE(CODE_ROW)} }
/* clang-format on */

#endif
