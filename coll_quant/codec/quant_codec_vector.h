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
 *   swap_lanes           with those 1, 2, ... WIDTH / 2 lanes apart
 *   is_any               is there a bit set
 *   quotient             of floats and one of the divisors of the formats, correctly rounded
 *   inverse_of           of floats that are bf16, correctly rounded
 *   load_bytes, load_signed_bytes, load_shorts    WIDTH of them, extended to 32 bits
 *   store_signed_bytes   a row of codes in -128 .. 127
 *   store_bytes          words in 0 .. 255 of one, a half or a quarter row
 *   store_shorts         a row of codes in -32768 .. 32767
 *   store_signs          of a vector of codes, a bit each
 *   load_signs           a number in the lanes whose bit is set, 0 in the others
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
    while (QUANT_SHIFT_ROW == shift && row + WIDTH <= rows) {
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
        raise_group(absmax + row - WIDTH, fours);
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

ALWAYS_INLINE words_t mix_place(words_t place, uint64_t key)
{
    words_t word = place + (uint32_t) key;
    word = (word ^ word >> 16) * UINT32_C(0x7feb352d);
    word = ((word ^ word >> 15) + (uint32_t) (key >> 32)) * UINT32_C(0x846ca68b);
    return word ^ word >> 16;
}

ALWAYS_INLINE void shake_vector(float *x, codes_t number, floats_t amplitude)
{
    floats_t noise = from_integer(number) + 0.5f;
    store_floats(x, multiply_add(noise, amplitude, load_floats(x)));
}

static void shake(float *x, size_t rows, unsigned shift, const float amplitude[QUANT_BLOCKS],
                  uint64_t key)
{
    enum { HALF = QUANT_LANES / 2 };

    for (size_t row = 0; row < rows; ++row) {
        QUANT_UNROLL
        for (unsigned lane = 0; lane < HALF; lane += WIDTH) {
            const size_t at = row * QUANT_LANES + lane;
            words_t place = load_words(lane_numbers + lane) + (uint32_t) (row * HALF);
            words_t word = mix_place(place, key);
            shake_vector(x + at, (codes_t) (word << 16) >> 16, spread(amplitude, at, shift));
            shake_vector(x + at + HALF, (codes_t) word >> 16, spread(amplitude, at + HALF, shift));
        }
    }
}

/* The sums and the differences of numbers `apart` lanes apart: a + b where a was, a - b for b. */
ALWAYS_INLINE floats_t rotate_lanes(floats_t value, unsigned apart)
{
    const unsigned to_sign = 31 - (unsigned) __builtin_ctz(apart);
    const words_t sign = (load_words(lane_numbers) & apart) << to_sign;

    return swap_lanes(value, apart) + (floats_t) ((words_t) value ^ sign);
}

/* The steps within registers, as many as a block has. */
ALWAYS_INLINE void rotate_registers(float *x, size_t elems, unsigned shift, float by)
{
    const size_t block = (size_t) 1 << shift;

    for (size_t at = 0; at < elems; at += WIDTH) {
        floats_t value = load_floats(x + at);
        QUANT_UNROLL
        for (unsigned apart = 1; apart < WIDTH; apart *= 2) {
            value = apart < block ? rotate_lanes(value, apart) : value;
        }
        store_floats(x + at, value * by);
    }
}

/*
 * Three steps at a time, or what is left of them: `radix` numbers, `apart` elements apart, in
 * registers.
 */
ALWAYS_INLINE void rotate_steps(float *x, size_t elems, size_t apart, unsigned radix, float by)
{
    for (size_t first = 0; first < elems; first += radix * apart) {
        for (size_t at = first; at < first + apart; at += WIDTH) {
            floats_t value[8];
            QUANT_UNROLL
            for (unsigned i = 0; i < radix; ++i) {
                value[i] = load_floats(x + at + i * apart);
            }
            QUANT_UNROLL
            for (unsigned half = 1; half < radix; half *= 2) {
                QUANT_UNROLL
                for (unsigned pair = 0; pair < radix / 2; ++pair) {
                    unsigned i = pair / half * 2 * half + pair % half;
                    floats_t a = value[i];
                    floats_t b = value[i + half];
                    value[i] = a + b;
                    value[i + half] = a - b;
                }
            }
            QUANT_UNROLL
            for (unsigned i = 0; i < radix; ++i) {
                store_floats(x + at + i * apart, value[i] * by);
            }
        }
    }
}

static void rotate(float *x, size_t blocks, unsigned shift, float by)
{
    const size_t block = (size_t) 1 << shift;
    const size_t elems = blocks << shift;
    size_t apart = WIDTH;

    rotate_registers(x, elems, shift, block <= WIDTH ? by : 1);
    for (; 8 * apart <= block; apart *= 8) {
        rotate_steps(x, elems, apart, 8, 8 * apart == block ? by : 1);
    }
    if (4 * apart == block) {
        rotate_steps(x, elems, apart, 4, by);
    } else if (2 * apart == block) {
        rotate_steps(x, elems, apart, 2, by);
    }
}

/* clang-format off */
#define CODE_ROW(_name, ...) {encode_##_name, decode_##_name, decode_add_##_name},
#define VECTOR_KERNELS \
    { .absmax = block_absmax, .peak = peak, .scales = scales, .shake = shake, .rotate = rotate, \
      .code = {QUANT_FORMAT_TABLE(CODE_ROW)} }
/* clang-format on */

#endif
