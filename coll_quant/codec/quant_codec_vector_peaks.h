/*
 * The largest magnitudes of blocks, and the scales that follow from them: the part of the vector
 * loops that is the same for all formats.  On the primitives that quant_codec_vector.h names, which
 * includes it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODEC_VECTOR_PEAKS_H
#define QUANT_CODEC_VECTOR_PEAKS_H

#include "quant_codec_vector_codes.h"

/* The numbers of lanes, of which a register has WIDTH, 16 at most. */
static const uint32_t lane_numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/*
 * The largest magnitudes of a group of GROUP blocks, on their way: a vector for each block, of
 * whose lanes the largest is the one.  Once the rows of a group are through, the vectors are
 * reduced together, by transposing, without a horizontal maximum for each.  As integers, which miss
 * no NaN.
 *
 * Where a block is a row, the default, four rows are transposed as soon as they are there, so that
 * they never leave the registers.
 */
/* As many blocks as a register has lanes, but no fewer than a row can have. */
enum { GROUP = WIDTH < 8 ? 8 : WIDTH, FOUR = 4, FOURS = GROUP / FOUR };

typedef struct peaks {
    words_t most[GROUP];
    uint32_t *absmax; /* raised for each group */
} peaks_t;

/* The numbers of a group, less one: a mask.  All bits if a group has all numbers. */
ALWAYS_INLINE size_t group_mask(unsigned shift)
{
    return ((size_t) GROUP << shift) - 1;
}

/* Those of a group of blocks, by all of its numbers. */
ALWAYS_INLINE void raise_group(uint32_t absmax[GROUP], const words_t fours[FOURS])
{
    QUANT_UNROLL
    for (unsigned b = 0; b < GROUP; b += WIDTH) {
        store_words(absmax + b, largest(load_words(absmax + b), block_maxima(fours + b / FOUR)));
    }
}

/* The largest magnitudes of a row, by lanes. */
ALWAYS_INLINE words_t row_peaks(const floats_t value[VECTORS])
{
    words_t here[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        here[v] = (words_t) value[v] & ABS_BITS;
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

/* The group that begins with block `first`. */
ALWAYS_INLINE void store_group(const peaks_t *peaks, size_t first)
{
    words_t fours[FOURS];

    QUANT_UNROLL
    for (unsigned four = 0; four < FOURS; ++four) {
        fours[four] = four_maxima(peaks->most + four * FOUR);
    }
    raise_group(peaks->absmax + first, fours);
}

/* By a row of a block of one or more. */
ALWAYS_INLINE void raise_wide(peaks_t *peaks, const floats_t value[VECTORS], size_t row,
                              unsigned shift)
{
    const size_t row_in_block = row & (((size_t) 1 << shift >> QUANT_SHIFT_ROW) - 1);
    words_t *most = &peaks->most[(row * QUANT_LANES >> shift) % GROUP];
    const words_t here = row_peaks(value);

    *most = 0 == row_in_block ? here : largest(*most, here);
}

/* By a row of two blocks or more. */
ALWAYS_INLINE void raise_narrow(peaks_t *peaks, const floats_t value[VECTORS], size_t row,
                                unsigned shift)
{
    words_t *most = &peaks->most[(row * QUANT_LANES >> shift) % GROUP];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        const words_t here = (words_t) value[v] & ABS_BITS;
        const unsigned block = v * WIDTH >> shift;
        if (WIDTH >> shift > 1) {
            const words_t low = (words_t) (load_words(lane_numbers) < WIDTH / 2);
            most[block] = here & low;
            most[block + 1] = here & ~low;
        } else {
            most[block] = v * WIDTH == block << shift ? here : largest(most[block], here);
        }
    }
}

ALWAYS_INLINE void raise_peaks(peaks_t *peaks, const floats_t value[VECTORS], size_t row,
                               unsigned shift)
{
    const size_t end = (row + 1) * QUANT_LANES;

    if (shift >= QUANT_SHIFT_ROW) {
        raise_wide(peaks, value, row, shift);
    } else {
        raise_narrow(peaks, value, row, shift);
    }
    if (0 == (end & group_mask(shift))) {
        store_group(peaks, (end >> shift) - GROUP);
    }
}

/* Behind the last of `rows` rows: the group that is not whole. */
ALWAYS_INLINE void store_peaks(peaks_t *peaks, size_t rows, unsigned shift)
{
    const size_t elems = rows * QUANT_LANES;
    const size_t left = elems & group_mask(shift);

    if (0 != left) {
        for (size_t b = ((left - 1) >> shift) + 1; b < GROUP; ++b) {
            peaks->most[b] = (words_t){0};
        }
        store_group(peaks, (elems - left) >> shift);
    }
}

ALWAYS_INLINE void load_row(const float *x, floats_t value[VECTORS])
{
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        value[v] = load_floats(x + v * WIDTH);
    }
}

/* The largest magnitudes of GROUP blocks that are rows. */
ALWAYS_INLINE void absmax_group(const float *x, uint32_t absmax[GROUP])
{
    words_t fours[FOURS];

    QUANT_UNROLL
    for (unsigned four = 0; four < FOURS; ++four) {
        words_t most[FOUR];
        QUANT_UNROLL
        for (unsigned i = 0; i < FOUR; ++i) {
            floats_t value[VECTORS];
            load_row(x + (four * FOUR + i) * QUANT_LANES, value);
            most[i] = row_peaks(value);
        }
        fours[four] = four_maxima(most);
    }
    raise_group(absmax, fours);
}

ALWAYS_INLINE void absmax_rows(const float *x, size_t rows, unsigned shift,
                               uint32_t absmax[QUANT_BLOCKS])
{
    size_t row = 0;
    peaks_t peaks;

    peaks.absmax = absmax;
    for (; QUANT_SHIFT_ROW == shift && row + GROUP <= rows; row += GROUP) {
        absmax_group(x + row * QUANT_LANES, absmax + row);
    }
    for (; row < rows; ++row) {
        floats_t value[VECTORS];
        load_row(x + row * QUANT_LANES, value);
        raise_peaks(&peaks, value, row, shift);
    }
    store_peaks(&peaks, rows, shift);
}

static void block_absmax(const float *x, size_t rows, unsigned shift, uint32_t absmax[QUANT_BLOCKS])
{
    if (QUANT_SHIFT_ROW == shift) {
        absmax_rows(x, rows, QUANT_SHIFT_ROW, absmax);
    } else {
        absmax_rows(x, rows, shift, absmax);
    }
}

static uint32_t peak(const uint32_t absmax[QUANT_BLOCKS])
{
    words_t most = load_words(absmax);

    QUANT_UNROLL
    for (unsigned v = 1; v < VECTORS; ++v) {
        most = largest(most, load_words(absmax + v * WIDTH));
    }
    return largest_lane(most);
}

static bool scales(uint32_t absmax[QUANT_BLOCKS], const quant_range_t *range,
                   uint8_t scale[QUANT_SCALES_BYTES], float inverse[QUANT_BLOCKS],
                   uint32_t most[QUANT_BLOCKS])
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

#endif
