/*
 * Scalar kernels: the specification of the codecs.
 *
 *   scale    RNE_bf16(absmax / divisor), at least scale_min
 *   code     of x * (1 / scale), rounded to nearest even
 *   decoded  value of the code * scale
 *
 * and without a scale the code of x itself.
 *
 * Why every instruction set, rounding of products and flush-to-zero mode gives
 * the same decoded value: a code has at most 15 bits besides its sign and a bf16
 * scale 8, so the product is exact in the 24 bits of a float, and because of
 * scale_min it is never denormal.
 *
 * Why no code is larger than the largest: rounding absmax / divisor to 8 bits
 * makes it smaller by a factor of at least 1 / (1 + 2^-8), so |x / scale| is at
 * most divisor (1 + 2^-8): 127.4961 for int8, 32766.5 for int16, 449.75 for e4m3
 * (464 would be the first to round up).  The roundings of the quotients and of
 * the product are two relative errors of 2^-24, far less than what is left.
 *
 * Why |x - decoded| <= scale (step/2 + |x/scale| 2^-23), with the step at x/scale:
 * the quotient that is rounded is off by these two errors.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "quant_codec.h"

#define ABS_BITS UINT32_C(0x7fffffff)
#define EXPONENT_BITS UINT32_C(0x7f800000)

enum { EXPONENT_BIAS = 127, MANTISSA_BITS = 23 };

/* Adding 1.5 * 2^23 leaves the integer nearest to a small float in the low bits. */
#define ROUNDING 12582912.0f

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline int32_t to_integer(float x)
{
    return (int32_t) (bits_of(x + ROUNDING) - bits_of(ROUNDING));
}

static inline float from_integer(int32_t code)
{
    return (float) code;
}

static inline int32_t to_bf16(float x)
{
    uint32_t bits = bits_of(x);
    return (int32_t) (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

static inline float from_bf16(int32_t code)
{
    return float_of((uint32_t) code << 16);
}

/*
 * A small float: `mantissa` bits, normal from 2^least on, `bits` in all.  Adding the power of
 * two whose last place is a step at x leaves x in steps in the low bits; steps below the
 * exponent of x are counted by the exponent field itself.
 */
static inline int32_t to_minifloat(float x, unsigned bits, unsigned mantissa, int least)
{
    const unsigned dropped = MANTISSA_BITS - mantissa;
    const uint32_t first_normal = (uint32_t) (EXPONENT_BIAS + least) << MANTISSA_BITS;
    uint32_t magnitude = bits_of(x) & ABS_BITS;
    uint32_t exponent = (magnitude > first_normal ? magnitude : first_normal) & EXPONENT_BITS;
    uint32_t power = exponent + (dropped << MANTISSA_BITS);
    uint32_t steps = bits_of(float_of(magnitude) + float_of(power)) - power;
    uint32_t sign = (0 - (bits_of(x) >> 31)) << (bits - 1);

    return (int32_t) (sign | (((exponent - first_normal) >> dropped) + steps));
}

/* The inverse: the difference of two floats of the same power of two, exact. */
static inline float from_minifloat(int32_t code, unsigned bits, unsigned mantissa, int least)
{
    const unsigned dropped = MANTISSA_BITS - mantissa;
    const uint32_t one = UINT32_C(1) << mantissa;
    uint32_t sign = (uint32_t) code & ~ABS_BITS;
    uint32_t magnitude = (uint32_t) code & ((UINT32_C(1) << (bits - 1)) - 1);
    uint32_t field = (magnitude > one ? magnitude : one) & ~(one - 1);
    uint32_t first = (uint32_t) (EXPONENT_BIAS + least - 1 + (int) dropped) << MANTISSA_BITS;
    uint32_t power = first + (field << dropped);
    float value = float_of(power + magnitude - field + one) - float_of(power);

    return float_of(sign | bits_of(value));
}

/* to_e4m3(), from_e4m3(), ... */
#define X(_kind, ...)                              \
    static inline int32_t to_##_kind(float x)      \
    {                                              \
        return to_minifloat(x, __VA_ARGS__);       \
    }                                              \
    static inline float from_##_kind(int32_t code) \
    {                                              \
        return from_minifloat(code, __VA_ARGS__);  \
    }
QUANT_MINIFLOAT_TABLE(X)
#undef X

static inline int32_t to_fp32(float x)
{
    return (int32_t) bits_of(x);
}

static inline float from_fp32(int32_t code)
{
    return float_of((uint32_t) code);
}

/* One plane of codes: `plane` bits of each from bit `done` on; returns where the next one goes. */
static inline uint8_t *put_plane(const int32_t code[QUANT_LANES], unsigned plane, unsigned done,
                                 uint8_t *row)
{
    const size_t bytes = quant_row_bytes(plane);

    for (size_t j = 0; j < bytes; ++j) {
        uint32_t byte = 0;
        for (unsigned k = 0; k < 8 / plane; ++k) {
            uint32_t field = (uint32_t) code[j + k * bytes] >> done;
            byte |= (field & ((1U << plane) - 1)) << k * plane;
        }
        row[j] = (uint8_t) byte;
    }
    return row + bytes;
}

/* The plane of one bit, which is the last one and has the signs: 64 bits, lane 0 the lowest. */
static inline void put_signs(const int32_t code[QUANT_LANES], uint8_t *row)
{
    for (size_t j = 0; j < QUANT_LANES / 8; ++j) {
        uint32_t byte = 0;
        QUANT_UNROLL
        for (unsigned k = 0; k < 8; ++k) {
            byte |= (uint32_t) (code[8 * j + k] < 0) << k;
        }
        row[j] = (uint8_t) byte;
    }
}

static inline void pack_row(const int32_t code[QUANT_LANES], unsigned bits, uint8_t *row)
{
    uint16_t half[QUANT_LANES];

    if (32 == bits) {
        memcpy(row, code, quant_row_bytes(32));
        return;
    }
    if (16 == bits) {
        for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
            half[lane] = (uint16_t) code[lane];
        }
        memcpy(row, half, sizeof(half));
        return;
    }
    row = 0 != (bits & 8) ? put_plane(code, 8, 0, row) : row;
    row = 0 != (bits & 4) ? put_plane(code, 4, bits & 8, row) : row;
    row = 0 != (bits & 2) ? put_plane(code, 2, bits & 12, row) : row;
    if (0 != (bits & 1)) {
        put_signs(code, row);
    }
}

static inline const uint8_t *take_plane(const uint8_t *row, unsigned plane, unsigned done,
                                        uint32_t value[QUANT_LANES])
{
    const size_t bytes = quant_row_bytes(plane);

    for (unsigned k = 0; k < 8 / plane; ++k) {
        for (size_t j = 0; j < bytes; ++j) {
            uint32_t field = ((uint32_t) row[j] >> k * plane & ((1U << plane) - 1)) << done;
            value[j + k * bytes] = 0 == done ? field : value[j + k * bytes] | field;
        }
    }
    return row + bytes;
}

/* Of codes of `bits` bits. */
static inline void take_signs(const uint8_t *row, unsigned bits, uint32_t value[QUANT_LANES])
{
    static const uint32_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128}; /* compilers compare vectors */

    for (size_t j = 0; j < QUANT_LANES / 8; ++j) {
        for (unsigned k = 0; k < 8; ++k) {
            value[8 * j + k] |= (row[j] & bit[k]) == bit[k] ? UINT32_C(1) << (bits - 1) : 0;
        }
    }
}

/* The inverse of pack_row(); codes are signed. */
static inline void unpack_row(const uint8_t *row, unsigned bits, int32_t code[QUANT_LANES])
{
    uint32_t value[QUANT_LANES];
    int16_t half[QUANT_LANES];

    if (32 == bits) {
        memcpy(code, row, quant_row_bytes(32));
        return;
    }
    if (16 == bits) {
        memcpy(half, row, sizeof(half));
        for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
            code[lane] = half[lane];
        }
        return;
    }
    if (8 == bits) {
        for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
            code[lane] = (int8_t) row[lane];
        }
        return;
    }
    row = 0 != (bits & 8) ? take_plane(row, 8, 0, value) : row;
    row = 0 != (bits & 4) ? take_plane(row, 4, bits & 8, value) : row;
    row = 0 != (bits & 2) ? take_plane(row, 2, bits & 12, value) : row;
    if (0 != (bits & 1)) {
        take_signs(row, bits, value);
    }
    for (size_t lane = 0; lane < QUANT_LANES; ++lane) {
        code[lane] = (int32_t) (value[lane] << (32 - bits)) >> (32 - bits);
    }
}

/* Of a row, the numbers that are in one block: a constant where `shift` is one. */
static inline size_t part_elems(unsigned shift)
{
    return shift < QUANT_SHIFT_ROW ? (size_t) 1 << shift : QUANT_LANES;
}

/* Of a block: comparisons that do not wait for each other. */
enum { ACCUMULATORS = 8 };

static inline void absmax_of_parts(const float *x, size_t rows, unsigned shift,
                                   uint32_t absmax[QUANT_BLOCKS])
{
    const size_t part = part_elems(shift);

    for (size_t first = 0; first < rows * QUANT_LANES; first += part) {
        uint32_t *most = &absmax[first >> shift];
        int32_t lane[ACCUMULATORS] = {
            0}; /* signed, for the compiler: magnitudes have no sign bit */
        int32_t here = 0;
        for (size_t i = first; i < first + part; i += ACCUMULATORS) {
            for (unsigned a = 0; a < ACCUMULATORS; ++a) {
                const int32_t magnitude = (int32_t) (bits_of(x[i + a]) & ABS_BITS);
                lane[a] = magnitude > lane[a] ? magnitude : lane[a];
            }
        }
        for (unsigned a = 0; a < ACCUMULATORS; ++a) {
            here = lane[a] > here ? lane[a] : here;
        }
        *most = (uint32_t) here > *most ? (uint32_t) here : *most;
    }
}

static void block_absmax(const float *x, size_t rows, unsigned shift, uint32_t absmax[QUANT_BLOCKS])
{
    if (QUANT_SHIFT_ROW == shift) {
        absmax_of_parts(x, rows, QUANT_SHIFT_ROW, absmax);
    } else {
        absmax_of_parts(x, rows, shift, absmax);
    }
}

static uint32_t peak(const uint32_t absmax[QUANT_BLOCKS])
{
    uint32_t most = 0;

    for (size_t block = 0; block < QUANT_BLOCKS; ++block) {
        most = absmax[block] > most ? absmax[block] : most;
    }
    return most;
}

static bool scales(uint32_t absmax[QUANT_BLOCKS], const quant_range_t *range,
                   uint8_t scale[QUANT_SCALES_BYTES], float inverse[QUANT_BLOCKS],
                   uint32_t most[QUANT_BLOCKS])
{
    for (size_t block = 0; block < QUANT_BLOCKS; ++block) {
        if (absmax[block] >= range->limit) {
            return false;
        }
    }
    for (size_t block = 0; block < QUANT_BLOCKS; ++block) {
        float step = float_of(absmax[block]) / range->divisor;
        int32_t rounded = to_bf16(step > range->scale_min ? step : range->scale_min);
        const uint16_t upper = (uint16_t) rounded;
        memcpy(scale + block * sizeof(upper), &upper, sizeof(upper));
        inverse[block] = 1.0f / from_bf16(rounded);
        most[block] = absmax[block] > most[block] ? absmax[block] : most[block];
        absmax[block] = 0;
    }
    return true;
}

/*
 * The loops of one format; `_scaled` and `_bits` are constants, so nothing is left of the tests.
 * Each exists twice, for blocks of one row, which are the default, and for others.
 */
#define DEFINE_CODE(_name, _id, _bits, _kind, _scaled, ...)                                      \
    static inline void encode_parts_##_name(const float *x, size_t rows, unsigned shift,         \
                                            const float *factor, uint8_t *codes)                 \
    {                                                                                            \
        const size_t part = part_elems(shift);                                                   \
        for (size_t row = 0; row < rows; ++row, x += QUANT_LANES) {                              \
            int32_t code[QUANT_LANES];                                                           \
            for (size_t first = 0; first < QUANT_LANES; first += part) {                         \
                const float by = _scaled ? factor[(row * QUANT_LANES + first) >> shift] : 0;     \
                for (size_t lane = first; lane < first + part; ++lane) {                         \
                    code[lane] = to_##_kind(_scaled ? x[lane] * by : x[lane]);                   \
                }                                                                                \
            }                                                                                    \
            pack_row(code, _bits, codes + row * quant_row_bytes(_bits));                         \
        }                                                                                        \
    }                                                                                            \
    static void encode_##_name(const float *x, size_t rows, unsigned shift, const float *factor, \
                               uint8_t *codes, const float *ahead)                               \
    {                                                                                            \
        (void) ahead;                                                                            \
        if (QUANT_SHIFT_ROW == shift) {                                                          \
            encode_parts_##_name(x, rows, QUANT_SHIFT_ROW, factor, codes);                       \
        } else {                                                                                 \
            encode_parts_##_name(x, rows, shift, factor, codes);                                 \
        }                                                                                        \
    }                                                                                            \
    static inline void decode_parts_##_name(const uint8_t *codes, size_t rows, unsigned shift,   \
                                            const float *factor, float *out)                     \
    {                                                                                            \
        const size_t part = part_elems(shift);                                                   \
        for (size_t row = 0; row < rows; ++row, out += QUANT_LANES) {                            \
            int32_t code[QUANT_LANES];                                                           \
            unpack_row(codes + row * quant_row_bytes(_bits), _bits, code);                       \
            for (size_t first = 0; first < QUANT_LANES; first += part) {                         \
                const float by = _scaled ? factor[(row * QUANT_LANES + first) >> shift] : 0;     \
                for (size_t lane = first; lane < first + part; ++lane) {                         \
                    float value = from_##_kind(code[lane]);                                      \
                    out[lane] = _scaled ? value * by : value;                                    \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }                                                                                            \
    static void decode_##_name(const uint8_t *codes, size_t rows, unsigned shift,                \
                               const float *factor, float *out)                                  \
    {                                                                                            \
        if (QUANT_SHIFT_ROW == shift) {                                                          \
            decode_parts_##_name(codes, rows, QUANT_SHIFT_ROW, factor, out);                     \
        } else {                                                                                 \
            decode_parts_##_name(codes, rows, shift, factor, out);                               \
        }                                                                                        \
    }                                                                                            \
    static void decode_add_##_name(const uint8_t *codes, size_t rows, unsigned shift,            \
                                   const float *factor, const float *x, float *sum,              \
                                   uint32_t absmax[QUANT_BLOCKS])                                \
    {                                                                                            \
        for (size_t row = 0; row < rows; ++row) {                                                \
            float decoded[QUANT_LANES];                                                          \
            const size_t at = row * QUANT_LANES;                                                 \
            decode_##_name(codes + row * quant_row_bytes(_bits), 1, shift,                       \
                           _scaled ? factor + (at >> shift) : factor, decoded);                  \
            for (size_t lane = 0; lane < QUANT_LANES; ++lane) {                                  \
                sum[at + lane] = decoded[lane] + x[at + lane];                                   \
            }                                                                                    \
        }                                                                                        \
        block_absmax(sum, rows, shift, absmax);                                                  \
    }
QUANT_FORMAT_TABLE(DEFINE_CODE)

const quant_kernels_t quant_kernels_scalar = {
    .absmax = block_absmax,
    .peak = peak,
    .scales = scales,
    .code =
        {
#define X(_name, ...) {encode_##_name, decode_##_name, decode_add_##_name},
            QUANT_FORMAT_TABLE(X)
#undef X
        },
};
