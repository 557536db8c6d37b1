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
 *   larger_magnitude     of a word that is the magnitude of a float, and of a float; may miss a NaN
 *                        in either
 *   numbers_t            notes whether there was one: ONLY_NUMBERS, numbers() after two further
 *                        vectors
 *   is_any               is there a bit set
 *   quotient             of floats and one of the divisors of the formats, correctly rounded
 *   inverse_of           of floats that are bf16, correctly rounded
 *   load_bytes, load_signed_bytes, load_shorts    WIDTH of them, extended to 32 bits
 *   store_signed_bytes   a row of codes in -128 .. 127
 *   store_bytes          words in 0 .. 255 of one, a half or a quarter row
 *   store_shorts         a row of codes in -32768 .. 32767
 *
 * Bit for bit the scalar kernels: same quotients, same products, same order of
 * operations; see there for what is computed and why it is exact.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODEC_VECTOR_H
#define QUANT_CODEC_VECTOR_H

#include "quant_codec_vector_codes.h"

enum { LINE_FLOATS = 16 /* of a cache line */ };

/* What differs from format to format: constants, of which nothing is left in the loops. */
typedef struct code {
    unsigned bits;
    bool scaled;
    codes_t (*to)(floats_t x);
    floats_t (*from)(codes_t code);
} code_t;

/* Integers, which miss no NaN: next to the loads, one instruction more costs nothing. */
static void lane_absmax(const float *x, size_t rows, uint32_t absmax[QUANT_LANES])
{
    words_t most[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        most[v] = load_words(absmax + v * WIDTH);
    }
    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            most[v] = largest(most[v], (words_t) load_floats(x + v * WIDTH) & ABS_BITS);
        }
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        store_words(absmax + v * WIDTH, most[v]);
    }
}

static uint32_t peak(const uint32_t absmax[QUANT_LANES])
{
    words_t most = load_words(absmax);

    QUANT_UNROLL
    for (unsigned v = 1; v < VECTORS; ++v) {
        most = largest(most, load_words(absmax + v * WIDTH));
    }
    return largest_lane(most);
}

/* The largest magnitudes of the lanes, good if there were only numbers. */
typedef struct peaks {
    words_t most[VECTORS];
    numbers_t seen[VECTORS / 2];
} peaks_t;

ALWAYS_INLINE peaks_t load_peaks(const uint32_t absmax[QUANT_LANES])
{
    peaks_t peaks;

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        peaks.most[v] = load_words(absmax + v * WIDTH);
    }
    /* There may have been a NaN before. */
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; v += 2) {
        peaks.seen[v / 2] =
            numbers(ONLY_NUMBERS, (floats_t) peaks.most[v], (floats_t) peaks.most[v + 1]);
    }
    return peaks;
}

ALWAYS_INLINE void raise_peaks(peaks_t *peaks, const floats_t row[VECTORS])
{
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; v += 2) {
        peaks->most[v] = larger_magnitude(peaks->most[v], row[v]);
        peaks->most[v + 1] = larger_magnitude(peaks->most[v + 1], row[v + 1]);
        peaks->seen[v / 2] = numbers(peaks->seen[v / 2], row[v], row[v + 1]);
    }
}

/* Of the rows of `x`, which are those that the peaks were raised by. */
ALWAYS_INLINE void store_peaks(const peaks_t *peaks, const float *x, size_t rows,
                               uint32_t absmax[QUANT_LANES])
{
    numbers_t seen = peaks->seen[0];
    for (unsigned v = 1; v < VECTORS / 2; ++v) {
        seen &= peaks->seen[v];
    }
    if (ONLY_NUMBERS != seen) {
        lane_absmax(x, rows, absmax);
        return;
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        store_words(absmax + v * WIDTH, peaks->most[v]);
    }
}

static bool scales(uint32_t absmax[QUANT_LANES], const quant_range_t *range,
                   uint8_t scale[QUANT_SCALES_BYTES], float inverse[QUANT_LANES],
                   uint32_t most[QUANT_LANES])
{
    const words_t scale_min = (words_t) (range->scale_min - (floats_t){0});
    codes_t rounded[VECTORS];
    words_t refused = {0};

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        refused |= (words_t) (load_words(absmax + v * WIDTH) >= range->limit);
    }
    if (is_any(refused)) {
        return false;
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        words_t here = load_words(absmax + v * WIDTH);
        store_words(absmax + v * WIDTH, (words_t){0});
        store_words(most + v * WIDTH, largest(load_words(most + v * WIDTH), here));
        /* Of positive floats the larger one has the larger bits. */
        words_t step = (words_t) quotient((floats_t) here, range->divisor);
        rounded[v] = to_bf16((floats_t) largest(step, scale_min));
        store_floats(inverse + v * WIDTH, inverse_of(from_bf16(rounded[v])));
    }
    store_shorts(rounded, scale);
    return true;
}

/* Of a format with scales. */
ALWAYS_INLINE void load_factors(code_t of, const uint8_t scale[QUANT_SCALES_BYTES],
                                floats_t factor[VECTORS])
{
    if (!of.scaled) {
        return;
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        factor[v] = from_bf16(load_shorts(scale + v * WIDTH * sizeof(uint16_t)));
    }
}

ALWAYS_INLINE void encode_rows(code_t of, const float *x, size_t rows,
                               const float inverse[QUANT_LANES], uint8_t *codes, const float *ahead)
{
    floats_t factor[VECTORS];

    if (of.scaled) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            factor[v] = load_floats(inverse + v * WIDTH);
        }
    }
    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES, codes += quant_row_bytes(of.bits)) {
        codes_t code[VECTORS];
        QUANT_UNROLL
        for (unsigned lane = 0; lane < QUANT_LANES; lane += LINE_FLOATS) {
            __builtin_prefetch(ahead + row * QUANT_LANES + lane);
        }
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            floats_t value = load_floats(x + v * WIDTH);
            code[v] = of.to(of.scaled ? value * factor[v] : value);
        }
        pack_row(code, of.bits, codes);
    }
}

ALWAYS_INLINE void decode_rows(code_t of, const uint8_t *codes, size_t rows,
                               const uint8_t scale[QUANT_SCALES_BYTES], float *out)
{
    floats_t factor[VECTORS];

    load_factors(of, scale, factor);
    for (size_t row = 0; row < rows; ++row, out += QUANT_LANES, codes += quant_row_bytes(of.bits)) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            floats_t value = of.from(unpack_codes(codes, of.bits, v));
            store_floats(out + v * WIDTH, of.scaled ? value * factor[v] : value);
        }
    }
}

/* Of one row; the peaks are raised by the sums. */
ALWAYS_INLINE void decode_add_row(code_t of, const uint8_t *codes, const floats_t factor[VECTORS],
                                  const float *x, float *sum, peaks_t *peaks)
{
    floats_t row[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        floats_t value = of.from(unpack_codes(codes, of.bits, v));
        floats_t own = load_floats(x + v * WIDTH);
        row[v] = of.scaled ? multiply_add(value, factor[v], own) : value + own;
        store_floats(sum + v * WIDTH, row[v]);
    }
    raise_peaks(peaks, row);
}

/* The loops of one format. */
#define DEFINE_CODE(_name, _id, _bits, _kind, _scaled, ...)                                   \
    static const code_t code_##_name = {_bits, _scaled, to_##_kind, from_##_kind};            \
    static void encode_##_name(const float *x, size_t rows, const float inverse[QUANT_LANES], \
                               uint8_t *codes, const float *ahead)                            \
    {                                                                                         \
        encode_rows(code_##_name, x, rows, inverse, codes, ahead);                            \
    }                                                                                         \
    static void decode_##_name(const uint8_t *codes, size_t rows,                             \
                               const uint8_t scale[QUANT_SCALES_BYTES], float *out)           \
    {                                                                                         \
        decode_rows(code_##_name, codes, rows, scale, out);                                   \
    }                                                                                         \
    static void decode_add_##_name(const uint8_t *codes, size_t rows,                         \
                                   const uint8_t scale[QUANT_SCALES_BYTES], const float *x,   \
                                   float *sum, uint32_t absmax[QUANT_LANES])                  \
    {                                                                                         \
        floats_t factor[VECTORS];                                                             \
        peaks_t peaks = load_peaks(absmax);                                                   \
        const size_t elems = rows * QUANT_LANES;                                              \
        load_factors(code_##_name, scale, factor);                                            \
        for (size_t at = 0; at < elems; at += QUANT_LANES) {                                  \
            decode_add_row(code_##_name, codes, factor, x + at, sum + at, &peaks);            \
            codes += quant_row_bytes(_bits);                                                  \
        }                                                                                     \
        store_peaks(&peaks, sum, rows, absmax);                                               \
    }
QUANT_FORMAT_TABLE(DEFINE_CODE)

/* Where the lanes of a register begin: 0, 1, 2, ... */
static const uint32_t lane_numbers[QUANT_LANES / 2] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                       22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

ALWAYS_INLINE words_t mix_place(words_t place, uint64_t key)
{
    words_t word = place + (uint32_t) key;
    word = (word ^ word >> 16) * UINT32_C(0x7feb352d);
    word = ((word ^ word >> 15) + (uint32_t) (key >> 32)) * UINT32_C(0x846ca68b);
    return word ^ word >> 16;
}

ALWAYS_INLINE void shake_vector(float *x, codes_t number, const float *amplitude)
{
    floats_t factor = load_floats(amplitude);
    floats_t noise = from_integer(number) + 0.5f;
    store_floats(x, multiply_add(noise, factor, load_floats(x)));
}

static void shake(float *x, size_t rows, const float amplitude[QUANT_LANES], uint64_t key)
{
    enum { HALF = QUANT_LANES / 2 };

    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES) {
        QUANT_UNROLL
        for (unsigned at = 0; at < HALF; at += WIDTH) {
            words_t place = load_words(lane_numbers + at) + (uint32_t) (row * HALF);
            words_t word = mix_place(place, key);
            shake_vector(x + at, (codes_t) (word << 16) >> 16, amplitude + at);
            shake_vector(x + at + HALF, (codes_t) word >> 16, amplitude + at + HALF);
        }
    }
}

/*
 * Three steps at a time, or what is left of them: `radix` numbers, `apart` elements apart, in
 * registers.
 */
ALWAYS_INLINE void rotate_steps(float *x, size_t elems, size_t apart, unsigned radix, float factor)
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
                store_floats(x + at + i * apart, value[i] * factor);
            }
        }
    }
}

static void rotate(float *x, size_t rows, float factor)
{
    const size_t elems = rows * QUANT_LANES;
    size_t apart = QUANT_LANES;

    for (; 8 * apart <= elems; apart *= 8) {
        rotate_steps(x, elems, apart, 8, 8 * apart == elems ? factor : 1);
    }
    if (4 * apart == elems) {
        rotate_steps(x, elems, apart, 4, factor);
    } else if (2 * apart == elems) {
        rotate_steps(x, elems, apart, 2, factor);
    }
}

/* clang-format off */
#define CODE_ROW(_name, ...) {encode_##_name, decode_##_name, decode_add_##_name},
#define VECTOR_KERNELS \
    { .absmax = lane_absmax, .peak = peak, .scales = scales, .shake = shake, .rotate = rotate, \
      .code = {QUANT_FORMAT_TABLE(CODE_ROW)} }
/* clang-format on */

#endif
