/*
 * Numbers to codes and codes to the bytes of a row, and back: the part of the
 * loops that differs from format to format.  On the primitives that
 * quant_codec_vector.h names, which includes it.
 *
 * docs/format.md, "Rounding", has the formulas, and why no code is larger than the largest, and why
 * every instruction set, rounding of products and flush-to-zero mode decodes the same value.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODEC_VECTOR_CODES_H
#define QUANT_CODEC_VECTOR_CODES_H

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define ABS_BITS UINT32_C(0x7fffffff)
#define EXPONENT_BITS UINT32_C(0x7f800000)

enum { VECTORS = QUANT_LANES / WIDTH, EXPONENT_BIAS = 127, MANTISSA_BITS = 23 };

/* ---- what all instruction sets do alike ---- */

ALWAYS_INLINE floats_t load_floats(const float *from)
{
    floats_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

ALWAYS_INLINE void store_floats(float *to, floats_t value)
{
    memcpy(to, &value, sizeof(value));
}

ALWAYS_INLINE words_t load_words(const void *from)
{
    words_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

ALWAYS_INLINE void store_words(void *to, words_t value)
{
    memcpy(to, &value, sizeof(value));
}

ALWAYS_INLINE words_t bits_of(floats_t value)
{
    words_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

ALWAYS_INLINE floats_t floats_of(words_t bits)
{
    floats_t value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

ALWAYS_INLINE words_t all_words(uint32_t value)
{
    return value - (words_t){0};
}

#if !defined(HAS_ARITHMETIC)
/* a * b + c where a * b is exact. */
ALWAYS_INLINE floats_t multiply_add(floats_t a, floats_t b, floats_t c)
{
    return a * b + c;
}

/* Of floats and one of the divisors of the formats, correctly rounded. */
ALWAYS_INLINE floats_t quotient(floats_t a, float divisor)
{
    return a / divisor;
}

/* Of floats that are bf16, correctly rounded. */
ALWAYS_INLINE floats_t inverse_of(floats_t x)
{
    return 1.0f / x;
}
#endif

/* ---- numbers and codes ---- */

ALWAYS_INLINE codes_t to_integer(floats_t x)
{
    return nearest(x);
}

ALWAYS_INLINE floats_t from_integer(codes_t code)
{
#if WIDTH > 1
    return __builtin_convertvector(code, floats_t);
#else
    return (floats_t) code;
#endif
}

ALWAYS_INLINE codes_t to_bf16(floats_t x)
{
    words_t bits = bits_of(x);
    return (codes_t) (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

ALWAYS_INLINE floats_t from_bf16(codes_t code)
{
    return floats_of((words_t) code << 16);
}

/*
 * A small float: `mantissa` bits, normal from 2^least on, `bits` in all.  Adding the power of
 * two whose last place is a step at x leaves x in steps in the low bits; steps below the
 * exponent of x are counted by the exponent field itself.
 */
ALWAYS_INLINE codes_t to_minifloat(floats_t x, unsigned bits, unsigned mantissa, int least)
{
    const unsigned dropped = MANTISSA_BITS - mantissa;
    const uint32_t first_normal = (uint32_t) (EXPONENT_BIAS + least) << MANTISSA_BITS;
    words_t magnitude = bits_of(x) & ABS_BITS;
    words_t exponent = largest(magnitude, all_words(first_normal)) & EXPONENT_BITS;
    words_t power = exponent + (dropped << MANTISSA_BITS);
    words_t sum = bits_of(floats_of(magnitude) + floats_of(power));
    codes_t sign = ((codes_t) bits_of(x) >> 31) & (int32_t) (UINT32_MAX << (bits - 1));

    /* sum - power, and the exponent above the first normal one: the constants in one. */
    const uint32_t offset = (dropped << MANTISSA_BITS) + (first_normal >> dropped);
    return sign | (codes_t) (sum - exponent + (exponent >> dropped) - offset);
}

/* The inverse: the difference of two floats of the same power of two, exact. */
ALWAYS_INLINE floats_t from_minifloat(codes_t code, unsigned bits, unsigned mantissa, int least)
{
    const unsigned dropped = MANTISSA_BITS - mantissa;
    const uint32_t one = UINT32_C(1) << mantissa;
    const uint32_t first = (uint32_t) (EXPONENT_BIAS + least - 1 + (int) dropped) << MANTISSA_BITS;
    words_t sign = (words_t) code & ~ABS_BITS;
    words_t magnitude = (words_t) code & ((UINT32_C(1) << (bits - 1)) - 1);
    words_t field = largest(magnitude, all_words(one)) & ~(one - 1);
    words_t power = first + (field << dropped);
    floats_t value = floats_of(power + magnitude - field + one) - floats_of(power);

    return floats_of(sign | bits_of(value));
}

/* to_e4m3(), from_e4m3(), ... */
#define X(_kind, ...)                                 \
    ALWAYS_INLINE codes_t to_##_kind(floats_t x)      \
    {                                                 \
        return to_minifloat(x, __VA_ARGS__);          \
    }                                                 \
    ALWAYS_INLINE floats_t from_##_kind(codes_t code) \
    {                                                 \
        return from_minifloat(code, __VA_ARGS__);     \
    }
QUANT_MINIFLOAT_TABLE(X)
#undef X

ALWAYS_INLINE codes_t to_fp32(floats_t x)
{
    return (codes_t) bits_of(x);
}

ALWAYS_INLINE floats_t from_fp32(codes_t code)
{
    return floats_of((words_t) code);
}

/* ---- codes and rows ---- */

/* Bits done .. done + plane - 1 of a code, at the k-th place of a byte. */
ALWAYS_INLINE words_t field_of(codes_t code, unsigned plane, unsigned done, unsigned k)
{
    const uint32_t mask = ((1U << plane) - 1) << k * plane;
    words_t bits = (words_t) code;

    return mask & (done < k * plane ? bits << (k * plane - done) : bits >> (done - k * plane));
}

/* One plane: `plane` bits of the codes from bit `done` on, 8 / plane lanes to a byte. */
ALWAYS_INLINE uint8_t *put_plane(const codes_t code[VECTORS], unsigned plane, unsigned done,
                                 uint8_t *row)
{
    const unsigned vectors = VECTORS * plane / 8;
    words_t byte[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < vectors; ++v) {
        byte[v] = field_of(code[v], plane, done, 0);
        if (plane <= 4) {
            byte[v] |= field_of(code[v + vectors], plane, done, 1);
        }
        if (plane <= 2) {
            byte[v] |= field_of(code[v + 2 * vectors], plane, done, 2);
            byte[v] |= field_of(code[v + 3 * vectors], plane, done, 3);
        }
    }
    store_bytes(byte, vectors, row);
    return row + quant_row_bytes(plane);
}

/* The plane of one bit, the signs. */
ALWAYS_INLINE void put_signs(const codes_t code[VECTORS], uint8_t *row)
{
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; v += WIDTH < 8 ? 8 / WIDTH : 1) {
        store_signs(code + v, row + v * WIDTH / 8);
    }
}

ALWAYS_INLINE void pack_row(const codes_t code[VECTORS], unsigned bits, uint8_t *row)
{
    if (32 == bits) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            store_words(row + v * sizeof(words_t), (words_t) code[v]);
        }
        return;
    }
    if (16 == bits) {
        store_shorts(code, row);
        return;
    }
    if (8 == bits) {
        store_signed_bytes(code, row);
        return;
    }
    row = 0 != (bits & 8) ? put_plane(code, 8, 0, row) : row;
    row = 0 != (bits & 4) ? put_plane(code, 4, bits & 8, row) : row;
    row = 0 != (bits & 2) ? put_plane(code, 2, bits & 12, row) : row;
    if (0 != (bits & 1)) {
        put_signs(code, row);
    }
}

/* The inverse of put_plane() for the lanes from v * WIDTH on: the bits at their place, signed. */
ALWAYS_INLINE codes_t take_plane(const uint8_t *row, unsigned plane, unsigned bits, unsigned v)
{
    const unsigned done = bits & ~(2 * plane - 1); /* in the wider planes, which come before */
    const unsigned bytes = (unsigned) quant_row_bytes(plane);
    const unsigned at = v * WIDTH / bytes * plane;
    const uint8_t *from = row + done * QUANT_LANES / 8 + v * WIDTH % bytes;
    words_t field = load_bytes(from);

    if (plane == bits) {
        /* Nothing below: the sign is extended by the load, or by an xor and a subtraction. */
        const int32_t sign = 1 << (plane - 1);
        return at + plane == 8
                   ? load_signed_bytes(from) >> at
                   : ((codes_t) ((field >> at) & (2U * (uint32_t) sign - 1)) ^ sign) - sign;
    }
    if (done + plane == bits) {
        /* The sign is the highest bit; what is below the field belongs to other lanes. */
        return ((codes_t) (field << (32 - plane - at)) >> (32 - bits)) & -(1 << done);
    }
    return (codes_t) (((field >> at) & ((1U << plane) - 1)) << done);
}

/* The codes of the lanes from v * WIDTH on. */
ALWAYS_INLINE codes_t unpack_codes(const uint8_t *row, unsigned bits, unsigned v)
{
    codes_t code = {0};

    if (32 == bits) {
        return (codes_t) load_words(row + v * sizeof(words_t));
    }
    if (16 == bits) {
        return load_shorts(row + v * WIDTH * sizeof(int16_t));
    }
    if (8 == bits) {
        return load_signed_bytes(row + v * WIDTH);
    }
    code |= 0 != (bits & 8) ? take_plane(row, 8, bits, v) : code;
    code |= 0 != (bits & 4) ? take_plane(row, 4, bits, v) : code;
    code |= 0 != (bits & 2) ? take_plane(row, 2, bits, v) : code;
    if (0 != (bits & 1)) {
        const unsigned done = bits - 1;
        code |= load_signs(row + (done * QUANT_LANES + v * WIDTH) / 8, v * WIDTH % 8, -(1 << done));
    }
    return code;
}

#endif
