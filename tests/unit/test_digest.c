/*
 * The bytes that every kernel makes of random numbers, whatever the processor: digests of them are
 * written down in digests.txt, which `test_digest print` makes by the scalar kernels.  So each
 * architecture compares itself with x86-64, where that was done, without one.
 *
 * Of a NaN that sums and products of floats give, no more is promised than that it is one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "unit.h"
#include "half.h"
#include "hash.h"
#include "reduce.h"
#include "trip.h"

enum { SEED = 20261125, VECTORS = 2000, MOST = 70, PARTS = 5, FLOAT_FRACTION = 23 };

/* Bytes of a number, or of the value of a pair, and the bits of its fraction. */
static const struct {
    unsigned bytes;
    unsigned fraction;
} types[ARC_TYPES] = {
#define INTEGER(_id, _type, ...) {sizeof(_type), 4},
#define FLOAT(_id, _type, ...) {sizeof(_type), 8 == sizeof(_type) ? 52 : FLOAT_FRACTION},
#define COMPLEX(_id, _type, ...) {sizeof(_type) / 2, 16 == sizeof(_type) ? 52 : 23},
#define HALF(_id, ...) {2, ARC_TYPE_BF16 == ARC_TYPE_##_id ? 7 : 10},
#define PAIR(_id, _type, _value, ...) {sizeof(_value), 8 == sizeof(_value) ? 52 : 8},
    ARC_INTEGER_TABLE(INTEGER) ARC_FLOAT_TABLE(FLOAT) ARC_COMPLEX_TABLE(COMPLEX)
        ARC_HALF_TABLE(HALF) ARC_PAIR_TABLE(PAIR)};

static const char *const ops[] = {
#define X(_id, ...) #_id,
    ARC_OP_TABLE(X, )
#undef X
};

/* Infinities and NaNs, zeros and subnormals, numbers near 1, powers of two, equal ones, others. */
static uint64_t draw(test_random_t *random, unsigned bytes, unsigned fraction)
{
    const uint64_t all = test_random_bits(random);
    const uint64_t bits = all >> (64 - 8 * bytes);
    const uint64_t low = bits & ((UINT64_C(1) << fraction) - 1);
    const uint64_t exponents = (UINT64_C(1) << (8 * bytes - 1 - fraction)) - 1;
    const uint64_t sign = (bits >> fraction & ~exponents) << fraction;

    switch (all % 8) {
    case 0:
        return sign | exponents << fraction | (0 == low % 2 ? 0 : low);
    case 1:
        return sign | low;
    case 2:
    case 3:
        return sign | ((exponents / 2 - 1 + low % 4) << fraction) | low;
    case 4:
        return bits & ~((UINT64_C(1) << fraction) - 1);
    case 5:
        return bits & 7;
    default:
        return bits;
    }
}

static void fill(test_random_t *random, void *data, size_t bytes, unsigned each, unsigned fraction)
{
    for (size_t at = 0; at + each <= bytes; at += each) {
        const uint64_t number = draw(random, each, fraction);
        memcpy((unsigned char *) data + at, &number, each); /* little-endian */
    }
}

/* `nans`: as they are, or all alike. */
static uint64_t add_numbers(uint64_t digest, const void *data, size_t bytes, unsigned each,
                            unsigned fraction, bool nans)
{
    const uint64_t magnitudes = UINT64_MAX >> (64 - 8 * each) >> 1;
    const uint64_t infinity = magnitudes >> fraction << fraction;

    for (size_t at = 0; at + each <= bytes; at += each) {
        uint64_t number = 0;
        memcpy(&number, (const unsigned char *) data + at, each);
        digest = arc_hash_add(digest, !nans && (number & magnitudes) > infinity ? 1 : number);
    }
    return digest;
}

static uint64_t reductions(arc_isa_t isa, arc_op_t op, arc_type_t type)
{
    static uint64_t memory[PARTS + 1][MOST * 2]; /* the largest element has two words */
    const unsigned each = types[type].bytes;
    const bool nans = ARC_OP_SUM != op && ARC_OP_PROD != op;
    test_random_t random = test_random_of(SEED, (uint64_t) op * ARC_TYPES + type);
    uint64_t digest = ARC_HASH_EMPTY;
    const void *parts[PARTS];
    arc_reducer_t reducer;

    assert_true(arc_reduce_make(arc_reduce_table(isa), op, type, &reducer));
    for (size_t i = 0; i < VECTORS; ++i) {
        const size_t count = 1 + i % MOST;
        const unsigned n = 2 + (unsigned) (i % (PARTS - 1));
        for (unsigned k = 0; k < n; ++k) {
            parts[k] = memory[k];
            fill(&random, memory[k], count * reducer.stride_bytes, each, types[type].fraction);
        }
        memset(memory[PARTS], 0, sizeof memory[PARTS]); /* padding */
        reducer.reduce(parts, n, memory[PARTS], count, NULL);
        digest = add_numbers(digest, memory[PARTS], count * reducer.stride_bytes, each,
                             types[type].fraction, nans);
    }
    return digest;
}

static uint64_t conversions(arc_isa_t isa, arc_type_t type, bool widens)
{
    const arc_half_t half = arc_half_select(type, isa);
    test_random_t random = test_random_of(SEED, (uint64_t) type);
    uint64_t digest = ARC_HASH_EMPTY;

    for (size_t i = 0; i < VECTORS; ++i) {
        const size_t count = 1 + i % MOST;
        uint16_t halves[MOST];
        float floats[MOST];
        if (widens) {
            fill(&random, halves, count * sizeof *halves, sizeof *halves, types[type].fraction);
            half.widen(halves, floats, count);
        } else {
            fill(&random, floats, count * sizeof *floats, sizeof *floats, FLOAT_FRACTION);
            half.narrow(floats, halves, count);
        }
        digest = widens ? add_numbers(digest, floats, count * sizeof *floats, 4, 23, true)
                        : add_numbers(digest, halves, count * sizeof *halves, 2, 10, true);
    }
    return digest;
}

/* Of three vectors, two have no number that most formats refuse. */
static uint64_t codings(arc_isa_t isa, const quant_format_t *format)
{
    test_random_t random = test_random_of(SEED, format->wire_id);
    uint64_t digest = ARC_HASH_EMPTY;
    float x[2 * MOST];

    for (size_t i = 0; i < VECTORS; ++i) {
        const size_t bytes = (1 + i % (2 * MOST)) * sizeof *x;
        fill(&random, x, bytes, sizeof *x, FLOAT_FRACTION);
        for (size_t j = 0; 0 != i % 3 && j < bytes / sizeof *x; ++j) {
            x[j] = fabsf(x[j]) < 0x1p15f ? x[j] : (float) j;
        }
        trip_t trip = trip_new(format, isa, x, bytes / sizeof *x, 8U << i % 4);
        digest = arc_hash_add(digest, trip.codable);
        if (trip.codable) {
            digest = arc_hash_add(digest, trip.peak);
            digest = add_numbers(digest, &trip.sum_peak, sizeof trip.sum_peak, 4, 23, false);
            digest = add_numbers(digest, trip.payload.data, trip.payload.bytes, 1, 3, true);
            digest = add_numbers(digest, trip.decoded.data, bytes, 4, FLOAT_FRACTION, true);
            digest = add_numbers(digest, trip.sum.data, bytes, 4, FLOAT_FRACTION, false);
        }
        trip_free(&trip);
    }
    return digest;
}

/* A line for each operation, conversion and format. */
static void write_digests(FILE *to, arc_isa_t isa)
{
    for (unsigned op = 0; op < ARC_OPS; ++op) {
        uint64_t digest = ARC_HASH_EMPTY;
        for (unsigned type = 0; type < ARC_TYPES; ++type) {
            if (NULL != arc_reduce_table_scalar.reduce[op][type]) {
                digest = arc_hash_add(digest, reductions(isa, (arc_op_t) op, (arc_type_t) type));
            }
        }
        fprintf(to, "%s %016" PRIx64 "\n", ops[op], digest);
    }
    for (unsigned widens = 0; widens < 2; ++widens) {
        const uint64_t bf16 = conversions(isa, ARC_TYPE_BF16, 1 == widens);
        const uint64_t fp16 = conversions(isa, ARC_TYPE_FP16, 1 == widens);
        fprintf(to, "%s %016" PRIx64 "\n", 1 == widens ? "widen" : "narrow",
                arc_hash_add(bf16, fp16));
    }
    for (size_t f = 0; NULL != quant_format_at(f); ++f) {
        fprintf(to, "code %s %016" PRIx64 "\n", quant_format_at(f)->name,
                codings(isa, quant_format_at(f)));
    }
}

static void kernels_give_what_is_written_down(void **state)
{
    FILE *expected = fopen(DIGESTS, "r");
    FILE *seen = tmpfile();
    char line[64], other[64];

    assert_non_null(expected);
    assert_non_null(seen);
    write_digests(seen, *(const arc_isa_t *) *state);
    rewind(seen);
    while (NULL != fgets(line, sizeof line, expected)) {
        assert_non_null(fgets(other, sizeof other, seen));
        assert_string_equal(line, other);
    }
    assert_null(fgets(other, sizeof other, seen));
    fclose(seen);
    fclose(expected);
}

int main(int argc, char **argv)
{
    static const arc_isa_t isas[] = {ARC_ISA_SCALAR, ARC_ISA_AVX2, ARC_ISA_AVX512,
                                     ARC_ISA_AVX512_BF16};
    enum { ISAS = sizeof isas / sizeof isas[0] };

    if (argc > 1) {
        write_digests(stdout, ARC_ISA_SCALAR);
        return 0;
    }
    for (size_t i = 0; i < ISAS && arc_cpu_isa(isas[i]) == isas[i]; ++i) {
        unit_add_row(kernels_give_what_is_written_down, &isas[i], 0, "%s", arc_isa_name(isas[i]));
    }
    return unit_run("digests");
}
