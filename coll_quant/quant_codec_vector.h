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
 *   largest              of two words
 *   is_any               is there a bit set
 *   load_bytes, load_signed_bytes, load_shorts    WIDTH of them, extended to 32 bits
 *   store_signed_bytes   a row of codes in -128 .. 127
 *   store_bytes          words in 0 .. 255 of one, a half or a quarter row
 *   store_shorts         a row of codes in -32768 .. 32767
 *
 * Bit for bit the scalar kernels: same divisions, same products, same order of
 * operations; see there for what is computed and why it is exact.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODEC_VECTOR_H
#define QUANT_CODEC_VECTOR_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define ABS_BITS UINT32_C(0x7fffffff)
#define EXPONENT_BITS UINT32_C(0x7f800000)

enum { EXPONENT_BIAS = 127, MANTISSA_BITS = 23, LINE_FLOATS = 16 /* of a cache line */ };

typedef codes_t (*to_code_fn_t)(floats_t x);
typedef floats_t (*from_code_fn_t)(codes_t code);

ALWAYS_INLINE words_t all_words(uint32_t value)
{
    return value - (words_t){0};
}

ALWAYS_INLINE codes_t to_integer(floats_t x)
{
    return nearest(x);
}

ALWAYS_INLINE floats_t from_integer(codes_t code)
{
    return __builtin_convertvector(code, floats_t);
}

ALWAYS_INLINE codes_t to_bf16(floats_t x)
{
    words_t bits = (words_t) x;
    return (codes_t) (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

ALWAYS_INLINE floats_t from_bf16(codes_t code)
{
    return (floats_t) ((words_t) code << 16);
}

ALWAYS_INLINE codes_t to_minifloat(floats_t x, unsigned bits, unsigned mantissa, int least)
{
    const unsigned dropped = MANTISSA_BITS - mantissa;
    const uint32_t first_normal = (uint32_t) (EXPONENT_BIAS + least) << MANTISSA_BITS;
    words_t magnitude = (words_t) x & ABS_BITS;
    words_t exponent = largest(magnitude, all_words(first_normal)) & EXPONENT_BITS;
    words_t power = exponent + (dropped << MANTISSA_BITS);
    words_t sum = (words_t) ((floats_t) magnitude + (floats_t) power);
    codes_t sign = ((codes_t) x >> 31) & (int32_t) (UINT32_MAX << (bits - 1));

    /* sum - power, and the exponent above the first normal one: the constants in one. */
    const uint32_t offset = (dropped << MANTISSA_BITS) + (first_normal >> dropped);
    return sign | (codes_t) (sum - exponent + (exponent >> dropped) - offset);
}

ALWAYS_INLINE floats_t from_minifloat(codes_t code, unsigned bits, unsigned mantissa, int least)
{
    const unsigned dropped = MANTISSA_BITS - mantissa;
    const uint32_t one = UINT32_C(1) << mantissa;
    const uint32_t first = (uint32_t) (EXPONENT_BIAS + least - 1 + (int) dropped) << MANTISSA_BITS;
    words_t sign = (words_t) code & ~ABS_BITS;
    words_t magnitude = (words_t) code & ((UINT32_C(1) << (bits - 1)) - 1);
    words_t field = largest(magnitude, all_words(one)) & ~(one - 1);
    words_t power = first + (field << dropped);
    floats_t value = (floats_t) (power + magnitude - field + one) - (floats_t) power;

    return (floats_t) (sign | (words_t) value);
}

ALWAYS_INLINE codes_t to_e4m3(floats_t x)
{
    return to_minifloat(x, 8, 3, -6);
}

ALWAYS_INLINE floats_t from_e4m3(codes_t code)
{
    return from_minifloat(code, 8, 3, -6);
}

ALWAYS_INLINE codes_t to_e5m2(floats_t x)
{
    return to_minifloat(x, 8, 2, -14);
}

ALWAYS_INLINE floats_t from_e5m2(codes_t code)
{
    return from_minifloat(code, 8, 2, -14);
}

ALWAYS_INLINE codes_t to_fp16(floats_t x)
{
    return to_minifloat(x, 16, 10, -14);
}

ALWAYS_INLINE floats_t from_fp16(codes_t code)
{
    return from_minifloat(code, 16, 10, -14);
}

ALWAYS_INLINE codes_t to_fp32(floats_t x)
{
    return (codes_t) x;
}

ALWAYS_INLINE floats_t from_fp32(codes_t code)
{
    return (floats_t) code;
}

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
    return code;
}

ALWAYS_INLINE words_t magnitude_of(floats_t x)
{
    return (words_t) x & ABS_BITS;
}

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
            most[v] = largest(most[v], magnitude_of(load_floats(x + v * WIDTH)));
        }
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        store_words(absmax + v * WIDTH, most[v]);
    }
}

static bool scales(const uint32_t absmax[QUANT_LANES], const quant_range_t *range,
                   uint16_t scale[QUANT_LANES], float inverse[QUANT_LANES],
                   uint32_t most[QUANT_LANES])
{
    const words_t scale_min = (words_t) (range->scale_min - (floats_t){0});
    codes_t rounded[VECTORS];
    words_t refused = {0};

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        words_t here = load_words(absmax + v * WIDTH);
        refused |= (words_t) (here >= range->limit);
        store_words(most + v * WIDTH, largest(load_words(most + v * WIDTH), here));
        /* Of positive floats the larger one has the larger bits. */
        words_t step = (words_t) ((floats_t) here / range->divisor);
        rounded[v] = to_bf16((floats_t) largest(step, scale_min));
        store_floats(inverse + v * WIDTH, 1.0f / from_bf16(rounded[v]));
    }
    store_shorts(rounded, scale);
    return !is_any(refused);
}

ALWAYS_INLINE void load_factors(bool scaled, const uint16_t scale[QUANT_LANES],
                                floats_t factor[VECTORS])
{
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS && scaled; ++v) {
        factor[v] = from_bf16(load_shorts(scale + v * WIDTH));
    }
}

ALWAYS_INLINE void encode_rows(const float *x, size_t rows, const float inverse[QUANT_LANES],
                               uint8_t *codes, const float *ahead, unsigned bits, bool scaled,
                               to_code_fn_t to_code)
{
    floats_t factor[VECTORS];

    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS && scaled; ++v) {
        factor[v] = load_floats(inverse + v * WIDTH);
    }
    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES, codes += quant_row_bytes(bits)) {
        codes_t code[VECTORS];
        QUANT_UNROLL
        for (unsigned lane = 0; lane < QUANT_LANES; lane += LINE_FLOATS) {
            __builtin_prefetch(ahead + row * QUANT_LANES + lane);
        }
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            floats_t value = load_floats(x + v * WIDTH);
            code[v] = to_code(scaled ? value * factor[v] : value);
        }
        pack_row(code, bits, codes);
    }
}

ALWAYS_INLINE void decode_rows(const uint8_t *codes, size_t rows, const uint16_t scale[QUANT_LANES],
                               float *out, unsigned bits, bool scaled, from_code_fn_t from_code)
{
    floats_t factor[VECTORS];

    load_factors(scaled, scale, factor);
    for (size_t row = 0; row < rows; ++row, out += QUANT_LANES, codes += quant_row_bytes(bits)) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            floats_t value = from_code(unpack_codes(codes, bits, v));
            store_floats(out + v * WIDTH, scaled ? value * factor[v] : value);
        }
    }
}

ALWAYS_INLINE void decode_add_rows(const uint8_t *codes, size_t rows,
                                   const uint16_t scale[QUANT_LANES], const float *x, float *sum,
                                   uint32_t absmax[QUANT_LANES], unsigned bits, bool scaled,
                                   from_code_fn_t from_code)
{
    floats_t factor[VECTORS];
    words_t most[VECTORS];

    load_factors(scaled, scale, factor);
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        most[v] = load_words(absmax + v * WIDTH);
    }
    for (size_t row = 0; row < rows; ++row, x += QUANT_LANES, sum += QUANT_LANES) {
        QUANT_UNROLL
        for (unsigned v = 0; v < VECTORS; ++v) {
            floats_t value = from_code(unpack_codes(codes, bits, v));
            floats_t own = load_floats(x + v * WIDTH);
            floats_t both = scaled ? multiply_add(value, factor[v], own) : value + own;
            store_floats(sum + v * WIDTH, both);
            most[v] = largest(most[v], magnitude_of(both));
        }
        codes += quant_row_bytes(bits);
    }
    QUANT_UNROLL
    for (unsigned v = 0; v < VECTORS; ++v) {
        store_words(absmax + v * WIDTH, most[v]);
    }
}

/* The loops of one format: the arguments behind `codes` are constants. */
#define DEFINE_CODE(_name, _id, _bits, _kind, _scaled, ...)                                       \
    static void encode_##_name(const float *x, size_t rows, const float inverse[QUANT_LANES],     \
                               uint8_t *codes, const float *ahead)                                \
    {                                                                                             \
        encode_rows(x, rows, inverse, codes, ahead, _bits, _scaled, to_##_kind);                  \
    }                                                                                             \
    static void decode_##_name(const uint8_t *codes, size_t rows,                                 \
                               const uint16_t scale[QUANT_LANES], float *out)                     \
    {                                                                                             \
        decode_rows(codes, rows, scale, out, _bits, _scaled, from_##_kind);                       \
    }                                                                                             \
    static void decode_add_##_name(const uint8_t *codes, size_t rows,                             \
                                   const uint16_t scale[QUANT_LANES], const float *x, float *sum, \
                                   uint32_t absmax[QUANT_LANES])                                  \
    {                                                                                             \
        decode_add_rows(codes, rows, scale, x, sum, absmax, _bits, _scaled, from_##_kind);        \
    }
QUANT_FORMAT_TABLE(DEFINE_CODE)

/* Where the lanes of a register begin: 0, 1, 2, ... */
static const uint32_t lane_numbers[QUANT_LANES / 2] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                       22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

ALWAYS_INLINE words_t mixed(words_t place, uint64_t key)
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
            words_t word = mixed(place, key);
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
    { .absmax = lane_absmax, .scales = scales, .shake = shake, .rotate = rotate, \
      .code = {QUANT_FORMAT_TABLE(CODE_ROW)} }
/* clang-format on */

#endif
