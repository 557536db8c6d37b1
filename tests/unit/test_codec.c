/*
 * The codecs: every instruction set writes the bytes of the scalar kernels, no
 * byte outside its buffers, and an error below the proven bound.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_wire.h"
#include "sizes.h"
#include "trip.h"

enum { TILE = 64 * QUANT_LANES, SEED = 4711, MISALIGNED = 4 };

static const unsigned block_rows_cases[] = {8, 64, 16, 32, 128, 256, 4096};

/* Lengths 1 .. 130 are added to these. */
static const size_t around_tiles[] = {511,  512,  513,  1024,  2 * TILE - 65, TILE - 64,   TILE - 1,
                                      TILE, 4097, 4160, 10007, 3 * TILE,      3 * TILE + 1};

enum { NORMAL, ANY_EXPONENT, ZERO, ONE_HOT, DENORMAL, NEAR_THE_SMALLEST_SCALE, TIES, HALF_RANGE };

static const char *const data_names[] = {
    "normal", "any_exponent", "zero", "one_hot", "denormal", "near_the_smallest_scale",
    "ties",   "half_range",
};

static float number_like(unsigned data, test_random_t *random, size_t i)
{
    uint32_t bits = 0;
    float x = 0;

    switch (data) {
    case NORMAL:
        return (float) test_random_normal(random);
    case ANY_EXPONENT: /* that scaled formats carry, denormals too */
        bits = (uint32_t) test_random_bits(random);
        bits = (bits & 0x807fffff) | (uint32_t) (test_random_below(random, 0xfe) << 23);
        break;
    case ZERO:
        return 0 == test_random_below(random, 2) ? 0.0f : -0.0f;
    case DENORMAL:
        bits = (uint32_t) test_random_bits(random) & 0x807fffff;
        break;
    case NEAR_THE_SMALLEST_SCALE:
        return (float) ((2 * test_random_unit(random) - 1) * 0x1p-110);
    case TIES: /* halves: with 127 in a block the scale is 1 and every half a tie */
        return i % 8 == 0 ? 127.0f : (float) test_random_below(random, 253) / 2 - 63.0f;
    case HALF_RANGE: /* what fp16 carries */
        x = (float) ldexp(1, (int) test_random_below(random, 44) - 28);
        return (float) (2 * test_random_unit(random) - 1) * x;
    default:
        break;
    }
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void fill(unsigned data, test_random_t *random, float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        x[i] = number_like(data, random, i);
    }
    if (ONE_HOT == data) {
        x[test_random_below(random, count)] = -3.25e-5f;
    } else if (HALF_RANGE == data && 0 == test_random_below(random, 4)) {
        /* The first that fp16 does not carry, and the last that it does. */
        x[count - 1] = 0 == count % 2 ? 65520.0f : nextafterf(65520.0f, 0);
    }
}

/* Bits of the largest magnitude. */
static uint32_t peak_of(const float *x, size_t count)
{
    uint32_t peak = 0;

    for (size_t i = 0; i < count; ++i) {
        uint32_t bits = 0;
        memcpy(&bits, &x[i], sizeof(bits));
        bits &= INT32_MAX;
        peak = bits > peak ? bits : peak;
    }
    return peak;
}

enum {
    DATA_CASES = sizeof(data_names) / sizeof(data_names[0]),
    BLOCK_CASES = sizeof(block_rows_cases) / sizeof(block_rows_cases[0]),
    AROUND = sizeof(around_tiles) / sizeof(around_tiles[0]),
    LENGTHS = 130 + AROUND,
};

static size_t length_at(size_t index)
{
    return index < 130 ? index + 1 : around_tiles[index - 130];
}

static void assert_same_trip(const trip_t *expected, const trip_t *trip)
{
    assert_int_equal(expected->codable, trip->codable);
    if (expected->codable) {
        assert_memory_equal(expected->payload.data, trip->payload.data, trip->payload.bytes);
        assert_memory_equal(expected->decoded.data, trip->decoded.data, trip->decoded.bytes);
        assert_memory_equal(expected->sum.data, trip->sum.data, trip->sum.bytes);
    }
}

/* Scale of element i, read from the payload as docs/format.md says. */
static double scale_in(const quant_format_t *format, const trip_t *trip, size_t i,
                       unsigned block_rows)
{
    if (!format->scaled) {
        return 1;
    }
    const unsigned char *bytes = trip->payload.data + i / block_rows * 2;
    uint32_t bits = (uint32_t) bytes[0] << 16 | (uint32_t) bytes[1] << 24;
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    return (double) scale;
}

/* Half a step at x / scale, and the two roundings before it. */
static double bound_of(const quant_format_t *format, double scale, double x)
{
    double quotient = fabs(x) / scale;
    double step = (double) format->step;
    int exponent = 0;

    (void) frexp(quotient, &exponent);
    step = fmax(step, ldexp(1, exponent - 1 - (int) format->mantissa));
    return scale * (step / 2 + (format->scaled ? quotient * 0x1.0001p-23 : 0));
}

static void assert_within_half_a_step(const quant_format_t *format, const trip_t *trip,
                                      const float *x, size_t count, unsigned block_rows)
{
    const float *decoded = trip_decoded(trip);
    const float *sum = (const float *) trip->sum.data;

    for (size_t i = 0; i < count; ++i) {
        double scale = scale_in(format, trip, i, block_rows);
        double error = fabs((double) decoded[i] - (double) x[i]);
        assert_true(format->exact ? 0 == error : error <= bound_of(format, scale, (double) x[i]));
        assert_true(scale >= (double) format->range.scale_min);
        volatile float rounded = decoded[i] + x[i];
        assert_true(rounded == sum[i]);
    }
}

/* Padding of the last row is coded as zero, so equal values have equal messages. */
static void assert_padding_is_zero(const quant_format_t *format, const trip_t *trip, size_t count,
                                   unsigned block_rows)
{
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    const size_t whole = arc_divide_up(count, QUANT_LANES) * QUANT_LANES;
    const float zero = 0;

    if (format->exact) {
        assert_int_equal(count * sizeof(float), trip->payload.bytes);
        return;
    }
    /* As if the last row were whole: scales of its other blocks, which do not matter to zeros. */
    const size_t scales = format->scaled ? arc_divide_up(count, block_rows) * 2 : 0;
    const size_t more = format->scaled ? arc_divide_up(whole, block_rows) * 2 - scales : 0;
    SCOPED float *decoded = test_alloc(whole * sizeof(float));
    SCOPED unsigned char *payload = test_alloc(trip->payload.bytes + more);
    const quant_codec_t codec = {
        .kernels = &kernels, .format = format, .block_rows = block_rows, .elems = whole};
    memcpy(payload, trip->payload.data, scales);
    memset(payload + scales, 0x3f, more);
    memcpy(payload + scales + more, trip->payload.data + scales, trip->payload.bytes - scales);
    quant_payload_decode(&codec, payload, decoded);
    for (size_t i = count; i < whole; ++i) {
        assert_memory_equal(&zero, &decoded[i], sizeof(zero));
    }
}

/* Where the largest magnitude is always the largest code, or its scale the least. */
static bool is_repeatable(const quant_format_t *format)
{
    return !format->scaled || format->bits <= 8;
}

/* Encoding what was decoded gives the same bytes. */
static void assert_repeatable(const quant_format_t *format, const trip_t *trip, size_t count,
                              unsigned block_rows)
{
    trip_t again = trip_new(format, ARC_ISA_SCALAR, trip_decoded(trip), count, block_rows);

    assert_true(again.codable);
    assert_memory_equal(trip->payload.data, again.payload.data, again.payload.bytes);
    trip_free(&again);
}

/* The first magnitudes that docs/format.md says are refused. */
static bool is_codable(const quant_format_t *format, const float *x, size_t count)
{
    double limit = format->scaled ? 0x1p95 : INFINITY;
    limit = &quant_format_bf16 == format ? 0x1p95 : limit;
    limit = &quant_format_fp16 == format ? 65520 : limit;

    for (size_t i = 0; i < count; ++i) {
        if (!format->exact && !(fabs((double) x[i]) < limit)) {
            return false;
        }
    }
    return true;
}

static void check_vector(const quant_format_t *format, const float *x, size_t count,
                         unsigned block_rows)
{
    trip_t scalar = trip_new(format, ARC_ISA_SCALAR, x, count, block_rows);

    assert_int_equal(is_codable(format, x, count), scalar.codable);
    if (scalar.codable) {
        assert_within_half_a_step(format, &scalar, x, count, block_rows);
        assert_padding_is_zero(format, &scalar, count, block_rows);
        if (is_repeatable(format)) {
            assert_repeatable(format, &scalar, count, block_rows);
        }
    }
    for (size_t i = 1; i < TRIP_ISAS; ++i) {
        trip_t trip = trip_new(format, trip_isas[i], x, count, block_rows);
        assert_same_trip(&scalar, &trip);
        trip_free(&trip);
    }
    trip_free(&scalar);
}

/* One row of the table of formats on one kind of data: a test of its own. */
typedef struct codec_case {
    const quant_format_t *format;
    unsigned data;
} codec_case_t;

static void all_sets_agree_and_keep_the_bound(void **state)
{
    const codec_case_t *test = *state;
    test_random_t random = test_random_of(SEED, 0);

    for (size_t n = 0; n < LENGTHS; ++n) {
        size_t count = length_at(n);
        test_buffer_t input = test_buffer_new(count * sizeof(float), MISALIGNED);
        float *x = (float *) input.data;
        fill(test->data, &random, x, count);
        /* Each length with one number of rows: over the lengths, every pair of kinds occurs. */
        check_vector(test->format, x, count, block_rows_cases[n % BLOCK_CASES]);
        assert_true(test_buffer_intact(&input));
        test_buffer_free(&input);
    }
}

/* Any format may follow any other: partial sums in one, totals in another, or fp32. */
static void a_hop_is_a_sum_and_an_encoding(void **state)
{
    static const size_t counts[] = {1, 63, 64, 65, 513, 1500, TILE + 100};
    const quant_format_t *format = *state;
    test_random_t random = test_random_of(SEED, 1);
    SCOPED float *x = test_alloc((TILE + 100) * sizeof(float));
    SCOPED float *own = test_alloc((TILE + 100) * sizeof(float));
    SCOPED float *sum = test_alloc((TILE + 100) * sizeof(float));

    for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); ++n) {
        const size_t count = counts[n];
        const unsigned rows = block_rows_cases[n % BLOCK_CASES];
        fill(NORMAL, &random, x, count);
        fill(NORMAL, &random, own, count);
        for (size_t f = 0; NULL != quant_format_at(f); ++f) {
            const quant_format_t *from = quant_format_at(f);
            trip_t in = trip_new(from, ARC_ISA_SCALAR, x, count, rows);
            for (size_t i = 0; i < TRIP_ISAS; ++i) {
                const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(trip_isas[i]));
                SCOPED float *tile = test_alloc(quant_tile_elems(rows) * sizeof(float));
                uint32_t peak = 0;
                test_buffer_t out =
                    test_buffer_new(quant_payload_bytes(format, count, rows), MISALIGNED);
                quant_coding_t coding = {.payload = out.data, .room = out.bytes};
                const quant_codec_t codec = {.kernels = &kernels,
                                             .format = format,
                                             .block_rows = rows,
                                             .elems = count,
                                             .tile = tile};
                quant_codec_t received = codec;
                received.format = from;
                assert_true(quant_payload_hop(&received, &codec, in.payload.data, own, &coding));
                assert_int_equal(out.bytes, coding.bytes);
                quant_payload_decode_add(&received, in.payload.data, own, sum, &peak);
                assert_int_equal(peak_of(sum, count), peak);
                assert_int_equal(peak, coding.peak);
                assert_int_equal(peak, coding.sum_peak);
                trip_t expected = trip_new(format, ARC_ISA_SCALAR, sum, count, rows);
                assert_memory_equal(expected.payload.data, out.data, out.bytes);
                assert_true(test_buffer_intact(&out));
                trip_free(&expected);
                test_buffer_free(&out);
            }
            trip_free(&in);
        }
    }
}

/* The worked example of docs/format.md. */
TEST(the_documented_example_has_the_documented_bytes)
{
    enum { ELEMS = 66, ROWS_AT = 16 + 4 };
    static const unsigned char header[] = {0x51, 0x54, 0x03, 0x01, 0x07, 0x00, 0x00, 0x00,
                                           0x42, 0x00, 0x00, 0x00, 0x02, 0x81, 0x00, 0x3f};
    static const unsigned char scales[] = {0x80, 0x3f, 0x81, 0x3b};
    static const unsigned char row_0[] = {0x01, 0xfe, 0x00, 0x7f, 0x00};
    static const unsigned char row_1[] = {0x40, 0x7f, 0x00, 0x00, 0x00};
    float x[ELEMS] = {1.0f, -2.0f, 0.3f, 127.0f};
    x[64] = 0.25f;
    x[65] = 0.5f;

    for (size_t i = 0; i < TRIP_ISAS; ++i) {
        const quant_kernels_t kernels = quant_kernels_select(arc_cpu_isa(trip_isas[i]));
        const quant_wire_segment_t segment = {.codec = {.kernels = &kernels,
                                                        .format = &quant_format_int8,
                                                        .block_rows = 64,
                                                        .elems = ELEMS},
                                              .sequence = 7};
        unsigned char message[16 + ELEMS * sizeof(float)];
        assert_int_equal(ROWS_AT + 2 * 64, quant_wire_pack(&segment, x, 0, message));
        assert_memory_equal(header, message, sizeof(header));
        assert_memory_equal(scales, message + 16, sizeof(scales));
        assert_memory_equal(row_0, message + ROWS_AT, sizeof(row_0));
        assert_memory_equal(row_1, message + ROWS_AT + 64, sizeof(row_1));
    }
}

/* The same segment in the other formats: scales and the beginnings of the planes of row 0. */
static const struct documented_row {
    const quant_format_t *format;
    unsigned char scales[4]; /* of both blocks */
    struct {
        size_t at; /* in the row; 0 behind the first one: there are no more */
        unsigned char bytes[4];
    } part[3];
} documented_rows[] = {
    {&quant_format_int4, {0x91, 0x41, 0x92, 0x3d}, {{0, {0, 0, 0, 7}}}},
    {&quant_format_int5, {0x07, 0x41, 0x09, 0x3d}, {{0, {0, 0, 0, 0x0f}}, {32, {0}}}},
    {&quant_format_int6, {0x83, 0x40, 0x84, 0x3c}, {{0, {0, 0, 0, 0x0f}}, {32, {0, 0, 0, 1}}}},
    {&quant_format_int7,
     {0x01, 0x40, 0x02, 0x3c},
     {{0, {0, 0x0f, 0, 0x0f}}, {32, {0, 3, 0, 3}}, {48, {2}}}},
    {&quant_format_int9, {0x00, 0x3f, 0x01, 0x3b}, {{0, {0x02, 0xfc, 0x01, 0xfe}}, {64, {2}}}},
    {&quant_format_int10,
     {0x7f, 0x3e, 0x81, 0x3a},
     {{0, {0x04, 0xf8, 0x01, 0xfe}}, {64, {0, 3, 0, 1}}}},
    {&quant_format_int11,
     {0xff, 0x3d, 0x01, 0x3a},
     {{0, {0x08, 0xf0, 0x02, 0xfc}}, {64, {0, 3, 0, 3}}, {80, {2}}}},
    {&quant_format_int12,
     {0x7f, 0x3d, 0x81, 0x39},
     {{0, {0x10, 0xe0, 0x05, 0xf8}}, {64, {0, 0x0f, 0, 7}}}},
    {&quant_format_int13,
     {0xff, 0x3c, 0x01, 0x39},
     {{0, {0x20, 0xc0, 0x0a, 0xf0}}, {64, {0, 0x0f, 0, 0x0f}}, {96, {2}}}},
    {&quant_format_int14,
     {0x7f, 0x3c, 0x81, 0x38},
     {{0, {0x40, 0x7f, 0x13, 0xe0}}, {64, {0, 0x0f, 0, 0x0f}}, {96, {0, 3, 0, 1}}}},
    {&quant_format_int16,
     {0x7f, 0x3b, 0x81, 0x37},
     {{0, {0x01, 0x01, 0xfe, 0xfd}}, {4, {0x4d, 0x00, 0x80, 0x7f}}}},
    {&quant_format_fp8_e4m3, {0x91, 0x3e, 0x92, 0x3a}, {{0, {0x46, 0xce, 0x38, 0x7e}}}},
    {&quant_format_fp8_e5m2, {0x11, 0x3b, 0x12, 0x37}, {{0, {0x5f, 0xe3, 0x58, 0x7b}}}},
    {&quant_format_bf16, {0}, {{0, {0x80, 0x3f, 0x00, 0xc0}}, {4, {0x9a, 0x3e, 0xfe, 0x42}}}},
    {&quant_format_fp16, {0}, {{0, {0x00, 0x3c, 0x00, 0xc0}}, {4, {0xcd, 0x34, 0xf0, 0x57}}}},
};

TEST(the_documented_rows_have_the_documented_bytes)
{
    enum { ELEMS = 66 };
    float x[ELEMS] = {1.0f, -2.0f, 0.3f, 127.0f};
    x[64] = 0.25f;
    x[65] = 0.5f;

    for (size_t r = 0; r < sizeof(documented_rows) / sizeof(documented_rows[0]); ++r) {
        const struct documented_row *row = &documented_rows[r];
        const size_t at = row->format->scaled ? 4 : 0;
        for (size_t i = 0; i < TRIP_ISAS; ++i) {
            trip_t trip = trip_new(row->format, trip_isas[i], x, ELEMS, 64);
            assert_int_equal(at + 2 * 8 * row->format->bits, trip.payload.bytes);
            if (row->format->scaled) {
                assert_memory_equal(row->scales, trip.payload.data, 4);
            }
            for (size_t p = 0; p < 3 && (0 == p || 0 != row->part[p].at); ++p) {
                assert_memory_equal(row->part[p].bytes, trip.payload.data + at + row->part[p].at,
                                    4);
            }
            trip_free(&trip);
        }
    }
}

TEST(formats_are_found_by_id)
{
    for (size_t i = 0; NULL != quant_format_at(i); ++i) {
        const quant_format_t *format = quant_format_at(i);
        assert_ptr_equal(format, quant_format_by_id(format->wire_id));
    }
    assert_null(quant_format_by_id(0xff));
    assert_null(quant_format_at(SIZE_MAX));
}

int main(void)
{
    for (unsigned f = 0; f < QUANT_CODES; ++f) {
        const quant_format_t *format = quant_format_at(f);
        for (unsigned d = 0; d < DATA_CASES; ++d) {
            const codec_case_t one = {format, d};
            unit_add_row(all_sets_agree_and_keep_the_bound, &one, sizeof one,
                         "%s_all_sets_agree_on_%s", format->name, data_names[d]);
        }
        unit_add_row(a_hop_is_a_sum_and_an_encoding, format, 0,
                     "a_hop_to_%s_is_a_sum_and_an_encoding", format->name);
    }
    printf("# seed %d, best instruction set %s\n", SEED, arc_isa_name(arc_cpu_isa(ARC_ISA_AVX512)));
    return unit_run("codecs");
}
