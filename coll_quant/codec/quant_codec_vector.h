/*
 * The loops of the codecs, written once on the primitives of one
 * instruction set: included by quant_codec_<isa>.c, behind these definitions.
 * All functions are static: nothing leaks out of a file with its own flags.
 *
 *   WIDTH                lanes of a register: 1, of plain C, or 4, 8, 16
 *   floats_t, words_t    WIDTH floats, and uint32_t: plain ones, or vectors of GCC and clang
 *   codes_t              WIDTH int32_t
 *   nearest              to int32_t, ties to even
 *   largest, largest_lane    of two words; of the lanes of one vector of them
 *   four_maxima          of four vectors of words, in each part of four lanes: its largest lane of
 *                        the first vector, the second, ...
 *   block_maxima         of WIDTH / 4 such: the largest lanes of all their vectors, in order
 *   spread               of factors of blocks, that of each of WIDTH numbers, from a multiple of
 *                        WIDTH on
 *   load_bytes, load_signed_bytes, load_shorts    WIDTH of them, extended to 32 bits
 *   store_signed_bytes   a row of codes in -128 .. 127
 *   store_bytes          words in 0 .. 255 of one, a half or a quarter row
 *   store_shorts         a row of codes in -32768 .. 32767
 *   store_signs          of a vector of codes, or of all that share a byte, a bit each
 *   load_signs           a number in the lanes whose bit is set, counted from `first` of the byte,
 *                        and 0 in the others
 *   HAS_ARITHMETIC       defined: multiply_add, quotient and inverse_of are there, too
 *
 * The plain instance, quant_codec_scalar.c, is the specification: the others have its bits, by the
 * same quotients, the same products and the same order of operations.
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

/* Numbers whose magnitudes are looked at: those in memory, or sums that are made first. */
typedef struct source {
    code_t of;
    const uint8_t *codes;
    const float *factor;
    const float *x;
    float *sum;
} source_t;

typedef void (*row_fn_t)(unsigned shift, const source_t *source, size_t row,
                         floats_t value[VECTORS]);

/* With the shift of the default as a constant, or with another one. */
#define BY_SHIFT(_shift, _function, ...)                                   \
    (QUANT_SHIFT_ROW == (_shift) ? _function(QUANT_SHIFT_ROW, __VA_ARGS__) \
                                 : _function(_shift, __VA_ARGS__))

/* ---- codes ---- */

/* Those of the numbers of row `row`. */
ALWAYS_INLINE void load_factors(unsigned shift, code_t of, const float *factor, size_t row,
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

ALWAYS_INLINE void encode_rows(unsigned shift, code_t of, const float *x, size_t rows,
                               const float *factor, uint8_t *codes, const float *ahead)
{
    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES, codes += quant_row_bytes(of.bits)) {
        codes_t code[VECTORS];
        floats_t by[VECTORS];
        load_factors(shift, of, factor, row, by);
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

ALWAYS_INLINE void decode_rows(unsigned shift, code_t of, const uint8_t *codes, size_t rows,
                               const float *factor, float *out)
{
    for (size_t row = 0; row < rows; ++row, out += QUANT_LANES, codes += quant_row_bytes(of.bits)) {
        floats_t by[VECTORS];
        load_factors(shift, of, factor, row, by);
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            floats_t value = of.from(unpack_codes(codes, of.bits, v));
            store_floats(out + v * WIDTH, of.scaled ? value * by[v] : value);
        }
    }
}

/* A row of sums. */
ALWAYS_INLINE void add_row(unsigned shift, const source_t *source, size_t row,
                           floats_t value[VECTORS])
{
    const code_t of = source->of;
    const uint8_t *codes = source->codes + row * quant_row_bytes(of.bits);
    const size_t at = row * QUANT_LANES;
    floats_t by[VECTORS];

    load_factors(shift, of, source->factor, row, by);
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        floats_t decoded = of.from(unpack_codes(codes, of.bits, v));
        floats_t own = load_floats(source->x + at + v * WIDTH);
        value[v] = of.scaled ? multiply_add(decoded, by[v], own) : decoded + own;
        store_floats(source->sum + at + v * WIDTH, value[v]);
    }
}

/* A row in memory. */
ALWAYS_INLINE void load_row(unsigned shift, const source_t *source, size_t row,
                            floats_t value[VECTORS])
{
    (void) shift;
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        value[v] = load_floats(source->x + row * QUANT_LANES + v * WIDTH);
    }
}

/* ---- the largest magnitudes of blocks; as integers, which miss no NaN ---- */

/* Those of a row, by lanes. */
ALWAYS_INLINE words_t row_peaks(const floats_t value[VECTORS])
{
    words_t here[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        here[v] = bits_of(value[v]) & ABS_BITS;
    }
    QUANT_UNROLL
    for (unsigned half = VECTORS / 2; half > 0; half /= 2) {
        QUANT_UNROLL
        for (unsigned v = 0; v < half; ++v) {
            here[v] = largest(here[v], here[v + half]);
        }
    }
    return here[0];
}

ALWAYS_INLINE void raise_block(uint32_t *absmax, words_t most)
{
    const uint32_t here = largest_lane(most);
    *absmax = here > *absmax ? here : *absmax;
}

/* By a row that has two blocks or more. */
ALWAYS_INLINE void raise_narrow(unsigned shift, const floats_t value[VECTORS],
                                uint32_t absmax[QUANT_BLOCKS])
{
    const unsigned mask = (1U << shift) - 1;
    words_t most = {0};

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        const words_t here = bits_of(value[v]) & ABS_BITS;
        uint32_t *block = absmax + (v * WIDTH >> shift);
#if WIDTH > 8
        if (WIDTH >> shift > 1) {
            static const uint32_t lane[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
            const words_t low = (words_t) (load_words(lane) < WIDTH / 2);
            raise_block(block, here & low);
            raise_block(block + 1, here & ~low);
            continue;
        }
#endif
        most = largest(most, here);
        if (0 == ((v + 1) * WIDTH & mask)) {
            raise_block(block, most);
            most = (words_t){0};
        }
    }
}

/*
 * By all rows.  Where a block is a row, the default, WIDTH rows are reduced together, by
 * transposing, without a horizontal maximum for each; four as soon as they are there, so that they
 * never leave the registers.
 */
ALWAYS_INLINE void raise_by_rows(unsigned shift, row_fn_t make, const source_t *source, size_t rows,
                                 uint32_t absmax[QUANT_BLOCKS])
{
    size_t row = 0;
    floats_t value[VECTORS];

#if WIDTH > 1
    enum { FOUR = 4, FOURS = WIDTH / FOUR };
    while (QUANT_SHIFT_ROW == shift && row + WIDTH <= rows) {
        words_t fours[FOURS];
        uint32_t *most = absmax + row;
        QUANT_UNROLL
        for (unsigned four = 0; four < FOURS; ++four) {
            words_t peaks[FOUR];
            QUANT_UNROLL
            for (unsigned i = 0; i < FOUR; ++i, ++row) {
                make(shift, source, row, value);
                peaks[i] = row_peaks(value);
            }
            fours[four] = four_maxima(peaks);
        }
        store_words(most, largest(load_words(most), block_maxima(fours)));
    }
#endif
    for (; row < rows; ++row) {
        uint32_t *most = absmax + (row * QUANT_LANES >> shift);
        make(shift, source, row, value);
        if (shift < QUANT_SHIFT_ROW) {
            raise_narrow(shift, value, most);
        } else {
            raise_block(most, row_peaks(value));
        }
    }
}

static void block_absmax(const float *x, size_t rows, unsigned shift, uint32_t absmax[QUANT_BLOCKS])
{
    const source_t source = {.x = x};

    BY_SHIFT(shift, raise_by_rows, load_row, &source, rows, absmax);
}

static bool scales(uint32_t absmax[QUANT_BLOCKS], const quant_range_t *range,
                   uint8_t scale[QUANT_SCALES_BYTES], float inverse[QUANT_BLOCKS],
                   uint32_t most[QUANT_BLOCKS])
{
    const words_t scale_min = bits_of(range->scale_min - (floats_t){0});
    codes_t rounded[VECTORS];
    words_t refused = {0};

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        refused |= (words_t) (load_words(absmax + v * WIDTH) >= range->limit);
    }
    if (0 != largest_lane(refused)) {
        return false;
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        words_t here = load_words(absmax + v * WIDTH);
        store_words(absmax + v * WIDTH, (words_t){0});
        store_words(most + v * WIDTH, largest(load_words(most + v * WIDTH), here));
        /* Of positive floats the larger one has the larger bits. */
        words_t step = bits_of(quotient(floats_of(here), range->divisor));
        rounded[v] = to_bf16(floats_of(largest(step, scale_min)));
        store_floats(inverse + v * WIDTH, inverse_of(from_bf16(rounded[v])));
    }
    store_shorts(rounded, scale);
    return true;
}

/* ---- the kernels ---- */

/* Those of one format. */
#define DEFINE_CODE(_name, _id, _bits, _kind, _scaled, ...)                                      \
    static const code_t code_##_name = {_bits, _scaled, to_##_kind, from_##_kind};               \
    static void encode_##_name(const float *x, size_t rows, unsigned shift, const float *factor, \
                               uint8_t *codes, const float *ahead)                               \
    {                                                                                            \
        BY_SHIFT(shift, encode_rows, code_##_name, x, rows, factor, codes, ahead);               \
    }                                                                                            \
    static void decode_##_name(const uint8_t *codes, size_t rows, unsigned shift,                \
                               const float *factor, float *out)                                  \
    {                                                                                            \
        BY_SHIFT(shift, decode_rows, code_##_name, codes, rows, factor, out);                    \
    }                                                                                            \
    static void decode_add_##_name(const uint8_t *codes, size_t rows, unsigned shift,            \
                                   const float *factor, const float *x, float *sum,              \
                                   uint32_t absmax[QUANT_BLOCKS])                                \
    {                                                                                            \
        const source_t source = {code_##_name, codes, factor, x, sum};                           \
        BY_SHIFT(shift, raise_by_rows, add_row, &source, rows, absmax);                          \
    }
QUANT_FORMAT_TABLE(DEFINE_CODE)

/* clang-format off */
#define CODE_ROW(_name, ...) {encode_##_name, decode_##_name, decode_add_##_name},
#define VECTOR_KERNELS \
    { .absmax = block_absmax, .scales = scales, .code = {QUANT_FORMAT_TABLE(CODE_ROW)} }
/* clang-format on */

#endif
